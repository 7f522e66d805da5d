#include "earl/index/transfer_queues.h"

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

void OpenTransfers::end_record(std::uint64_t end) {
  for (const Table& table : open_) {
    table.for_each([&](ProcessId, const Item& item) { log_->add(item.pos, end); });
  }
}

}  // namespace kojak::earl::sequence
