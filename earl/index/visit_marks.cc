#include "earl/index/visit_marks.h"

namespace kojak::earl {

VisitMarks::Visits VisitMarks::before(std::uint64_t pos, std::uint32_t path) const {
  const auto it = std::upper_bound(marks_.begin(), marks_.end(), pos,
                                   [](std::uint64_t p, const Mark& m) { return p < m.pos; });
  if (it == marks_.begin()) return {};
  const std::size_t end = it == marks_.end() ? bytes_.size() : it->offset;
  const Mark& mark = it[-1];
  NumberReader in(std::span<const std::byte>(bytes_).subspan(mark.offset, end - mark.offset));
  std::uint64_t at = 0;
  while (!in.at_end()) {
    at += in.number();
    const std::uint64_t n = in.number();
    if (at == path) return {mark.pos + 1, n};
    if (at > path) break;
  }
  return {mark.pos + 1, 0};
}

}  // namespace kojak::earl
