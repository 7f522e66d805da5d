#include "earl/sequence/transfer_queues.h"

#include <algorithm>

namespace kojak::earl::sequence {

std::vector<std::uint64_t> OpenTransfers::of(LocationId location) const {
  std::vector<std::uint64_t> result;
  for (const Table& table : open_) {
    table.for_each([&](ProcessId, const Item& item) {
      if (item.loc == location) result.push_back(item.pos);
    });
  }
  std::sort(result.begin(), result.end());
  return result;
}

void OpenTransfers::save(BlobWriter& out) const {
  for (const Table& table : open_) {
    out.number(table.size());
    std::uint64_t id = 0, pos = 0;
    table.for_each([&](ProcessId origin, const Item& item) {
      out.numbers(raw(origin), raw(item.loc));
      out.step(id, item.id);
      out.step(pos, item.pos);
    });
  }
}

void OpenTransfers::load(BlobReader& in) {
  for (Table& table : open_) {
    table.clear();
    std::uint64_t id = 0, pos = 0;
    for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
      ProcessId origin{};
      LocationId loc{};
      in.numbers(origin, loc);
      const auto rmaid = static_cast<RmaId>(in.step(id));
      if (in.step(pos) == kNoEvent) return;
      Item& item = table.get(origin, rmaid);
      item.loc = loc;
      item.pos = pos;
    }
  }
}

}  // namespace kojak::earl::sequence
