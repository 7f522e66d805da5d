#include <algorithm>

#include "epilog/format/mixed.h"
#include "expert/parallel/rows.h"

namespace kojak::parallel {
namespace {

constexpr std::uint64_t hash_of(const MeetingKey& key) {
  return mixed(key.hi, key.lo, key.ordinal, key.window);
}

}  // namespace

bool RowTable::keeps(const MeetingKey& key) const {
  const std::uint64_t below = (std::uint64_t{1} << bits_) - 1;
  return (hash_of(key) & below) == 0;
}
void RowTable::add(const Row& row) {
  if (!keeps(row.key)) return;
  rows_.push_back(row);
  while (rows_.size() > most_) thin(bits_ + 1);
}
void RowTable::thin(unsigned bits) {
  bits_ = std::max(bits, bits_);
  const std::uint64_t below = (std::uint64_t{1} << bits_) - 1;
  std::erase_if(rows_, [&](const Row& row) { return (hash_of(row.key) & below) != 0; });
}

}  // namespace kojak::parallel
