#include "expert/page/names.h"

#include <algorithm>

namespace kojak::html {
namespace {

constexpr std::size_t kAllNames = 2'000'000;

bool inside_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::size_t longest_name(const cube::Report& report) {
  for (const std::size_t length : {kAnyLength, std::size_t{2000}, std::size_t{500}}) {
    std::size_t all = 0;
    for (const cube::Region& region : report.regions) all += std::min(region.name.size(), length);
    if (all <= kAllNames) return length;
  }
  return 120;
}

std::string fitting_name(std::string_view name, std::size_t length) {
  constexpr std::string_view kEllipsis = "\u2026";
  if (name.size() <= length) return std::string(name);
  const std::size_t room = length - std::min(length, kEllipsis.size());
  std::size_t head = room / 3 * 2;
  std::size_t tail = name.size() - (room - head);
  while (head > 0 && inside_character(name[head])) --head;
  while (tail < name.size() && inside_character(name[tail])) ++tail;
  return std::string(name.substr(0, head)).append(kEllipsis).append(name.substr(tail));
}

}  // namespace kojak::html
