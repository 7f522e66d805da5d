#include "expert/html/transfer_pass.h"

#include <algorithm>

namespace kojak::html {

void TransferPass::run(const std::function<void(std::uint64_t)>& progress) {
  earl::Event event;
  bool first = true;
  while (trace_.next(event)) {
    if (first) clock_.begin = event.time.value;
    first = false;
    end_ = std::max(end_, event.time.value);
    if (earl::is_rma_comm(event.type)) transfer(event);
    if ((event.pos & 0xFFFFF) == 0 && progress) progress(event.pos / 2);
  }
  // What has no start (a get that was only asked for) cannot be drawn.
  for (auto& [key, open] : open_) add(std::move(open), key);
}

std::vector<TransferArrow> TransferPass::finish(
    std::unordered_map<TransferKey, std::size_t>& places) {
  std::vector<Kept>& kept = sample_.kept();
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Kept& a, const Kept& b) { return a.arrow.request < b.arrow.request; });
  std::vector<TransferArrow> arrows;
  for (const Kept& one : kept) {
    places.emplace(one.key, arrows.size());
    arrows.push_back(one.arrow);
  }
  return arrows;
}

void TransferPass::transfer(const earl::Event& event) {
  const std::uint32_t index = trace_.index(event.loc);
  if (index == kAbsent) return;
  const ProcessId here = trace_.process(index);
  const bool at_origin = earl::is_put_start(event.type) || earl::is_get_origin(event.type) ||
                         earl::is_get_end(event.type);
  const ProcessId origin = at_origin ? here : static_cast<ProcessId>(raw(event.peer));
  const TransferKey key = transfer_key(origin, event.rmaid);
  TransferArrow& arrow = open_.try_emplace(key, kUnknown).first->second;
  const Nanoseconds now = clock_(event.time);
  if (raw(event.win) != kAbsent) arrow.window = raw(event.win);
  switch (event.type) {
    case RecordType::kMpiPut1ts:
    case RecordType::kPut1ts:
      arrow.request = arrow.start = now;
      arrow.bytes = raw(event.sent);
      arrow.origin = index;
      arrow.target = trace_.main_index(static_cast<ProcessId>(raw(event.peer)));
      break;
    case RecordType::kMpiPut1te:
    case RecordType::kPut1te:
      arrow.target = index;
      arrow.end = now;
      add(std::move(arrow), key);
      open_.erase(key);
      break;
    case RecordType::kMpiGet1to:
      arrow.get = true;
      arrow.origin = index;
      arrow.request = now;
      break;
    case RecordType::kMpiGet1ts:
    case RecordType::kGet1ts:
      arrow.get = true;
      if (arrow.request == 0) arrow.request = now;
      arrow.start = now;
      arrow.bytes = raw(event.sent);
      arrow.target = index;
      break;
    case RecordType::kMpiGet1te:
    case RecordType::kGet1te:
      arrow.get = true;
      arrow.origin = index;
      arrow.end = now;
      add(std::move(arrow), key);
      open_.erase(key);
      break;
    default:
      break;
  }
}

void TransferPass::add(TransferArrow arrow, TransferKey key) {
  if (arrow.origin == kAbsent || arrow.target == kAbsent) return;
  if (arrow.end == 0) arrow.end = std::max(arrow.start, arrow.request);
  sample_.add({arrow, key});
}

}  // namespace kojak::html
