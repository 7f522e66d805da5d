// The text of a call path: "main / exchange / MPI_Put", outermost first.
//
// A path of many thousand calls (recursion) is named by its two ends: "main / f / ... 99800 more
// ... / f / MPI_Put". Thus all paths of a deep tree together stay as long as the tree is large, and
// not as its square. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kojak::cube {

// Calls of a path that are named at each end where it is longer than both together.
inline constexpr std::size_t kNamedCalls = 100;

// `part(depth)` is the text of one call, 0 the outermost.
template <class Part>
std::string joined_path(std::size_t calls, Part part) {
  std::string text;
  for (std::size_t depth = 0; depth < calls; ++depth) {
    if (depth > 0) text += " / ";
    if (depth == kNamedCalls && calls > 2 * kNamedCalls) {
      const std::size_t left_out = calls - 2 * kNamedCalls;
      text += "... " + std::to_string(left_out) + " more ... / ";
      depth += left_out;
    }
    text += part(depth);
  }
  return text;
}

struct Report;

// The paths of all call nodes of a report, each in a time that does not grow with its depth. The
// report must outlive it.
class CallPaths {
 public:
  explicit CallPaths(const Report& report);
  std::string name(std::size_t call_node) const;
  std::size_t depth(std::size_t call_node) const { return depths_[call_node]; }  // 0: a root

 private:
  const Report& report_;
  std::vector<std::size_t> depths_;
  std::vector<std::size_t> heads_;  // the last one of the named calls at the outer end
};

}  // namespace kojak::cube
