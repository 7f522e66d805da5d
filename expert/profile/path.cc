#include "expert/profile/path.h"

#include <array>

#include "expert/profile/aggregate.h"

namespace kojak::cube {

CallPaths::CallPaths(const Report& report)
    : report_(report), depths_(call_node_depths(report)), heads_(depths_.size(), kNone) {
  for (std::size_t c = 0; c < heads_.size(); ++c) {
    if (depths_[c] + 1 == kNamedCalls) heads_[c] = c;
    if (depths_[c] + 1 > kNamedCalls) heads_[c] = heads_[report.call_nodes[c].parent];
  }
}

std::string CallPaths::name(std::size_t call_node) const {
  const std::size_t calls = depths_[call_node] + 1;
  // Nodes of the named depths: the outer end at its depth, the inner end behind it.
  std::array<std::size_t, 2 * kNamedCalls> nodes{};
  const std::size_t inner = calls > 2 * kNamedCalls ? kNamedCalls : calls;
  const auto climb = [&](std::size_t from, std::size_t count, std::size_t last) {
    for (std::size_t i = 0; i < count; ++i) {
      nodes[last - i] = from;
      from = report_.call_nodes[from].parent;
    }
  };
  if (calls > 2 * kNamedCalls) climb(heads_[call_node], kNamedCalls, kNamedCalls - 1);
  const std::size_t behind = calls > 2 * kNamedCalls ? 2 * kNamedCalls : calls;
  climb(call_node, inner, behind - 1);
  return joined_path(calls, [&](std::size_t depth) {
    return report_.region_name(nodes[depth < kNamedCalls ? depth : behind - (calls - depth)]);
  });
}

}  // namespace kojak::cube
