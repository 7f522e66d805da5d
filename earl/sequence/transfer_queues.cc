#include "earl/sequence/transfer_queues.h"

#include <algorithm>

namespace kojak::earl::sequence {

void OpenTransfers::put(ProcessId origin, const Event& e) {
  const detail::Key128 k = key(origin, e);
  std::uint32_t i = items_.take();
  if (const std::uint32_t old = index_.add(k, i); old != detail::kNone) [[unlikely]] {
    items_.give_back(i);  // of a damaged trace: the later one counts
    i = old;
  }
  items_[i] = {k, e.pos, e.loc};
}

std::uint64_t OpenTransfers::take(ProcessId origin, const Event& e) {
  const std::uint32_t i = index_.take(key(origin, e));
  if (i == detail::kNone) return kNoEvent;
  items_.give_back(i);
  return items_[i].pos;
}

std::vector<std::uint64_t> OpenTransfers::of(LocationId location) const {
  std::vector<std::uint64_t> result;
  index_.for_each([&](const detail::Key128&, std::uint32_t i) {
    if (items_[i].loc == location) result.push_back(items_[i].pos);
  });
  std::sort(result.begin(), result.end());
  return result;
}

void OpenTransfers::save(BlobWriter& out) const {
  out.number(index_.size());
  index_.for_each([&](const detail::Key128& k, std::uint32_t i) {
    out.numbers(k.a >> 32, k.a & 0xFFFFFFFFu, k.b, items_[i].pos, raw(items_[i].loc));
  });
}

void OpenTransfers::load(BlobReader& in) {
  index_.for_each([&](const detail::Key128&, std::uint32_t i) { items_.give_back(i); });
  index_.clear();
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    std::uint64_t origin = 0, rmaid = 0;
    Item item;
    in.numbers(origin, rmaid, item.key.b, item.pos, item.loc);
    item.key.a = origin << 32 | rmaid;
    if (index_.find(item.key) != detail::kNone) continue;
    const std::uint32_t i = items_.take();
    items_[i] = item;
    index_.insert(item.key, i);
  }
}

}  // namespace kojak::earl::sequence
