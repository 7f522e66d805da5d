#include "expert/patterns/upc/transfers.h"

namespace kojak::expert {

UpcTransfers::UpcTransfers(const earl::Trace& trace)
    : definitions_(trace.definitions()),
      origins_(trace.location_count(), kAbsent),
      series_(trace.location_count()) {
  definitions_.regions.for_each([&](RegionId id, const RegionDef& region) {
    if (region.name == "upc_get") get_ = id;
    if (region.name == "upc_put") put_ = id;
  });
  std::vector<bool> seen;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    const std::uint32_t process = raw(trace.process(i));
    if (process >= seen.size()) seen.resize(process + 1);
    if (!seen[process]) ++processes_;
    seen[process] = true;
  }
}

std::uint64_t UpcTransfers::join(const earl::Transfer& transfer, std::uint64_t bytes) {
  auto& of_location = series_[transfer.call->index];
  if (transfer.place == nullptr || !transfer.place->known()) {
    of_location.erase(raw(transfer.call->cnode));
    return 0;
  }
  Series& s = of_location[raw(transfer.call->cnode)];
  const std::uint64_t offset = transfer.place->offset, distance = offset - s.offset;
  const bool follows = s.target == raw(transfer.target) && distance != 0;
  const bool next = follows && distance == s.bytes;
  std::uint64_t needless = 0;
  using Step = Series::Step;
  if (next && (s.step != Step::kStride || !s.told)) {
    s.step = Step::kNext;
    needless = 1;
  } else if (follows && s.step == Step::kStride && distance == s.distance) {
    needless = s.told ? 1 : 2;
    s.told = true;
  } else if (follows && (s.step == Step::kFirst || (s.step == Step::kStride && !s.told))) {
    s.step = Step::kStride;
    s.distance = distance;
  } else {
    s = {};
  }
  s.target = raw(transfer.target);
  s.offset = offset;
  s.bytes = bytes;
  return needless;
}

UpcTransfers::Means UpcTransfers::count() const {
  Means means;
  double all = 0;
  for (const auto& [where, bytes] : moved_) {
    const auto& [path, location, target] = where;
    means.threads[target] += bytes;
    means.pairs[{origins_[location], target}] += bytes;
    all += static_cast<double>(bytes);
  }
  if (processes_ < 2) return means;
  means.of_threads = all / processes_;
  means.of_pairs = means.of_threads / (processes_ - 1);
  return means;
}

}  // namespace kojak::expert
