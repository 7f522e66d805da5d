#include "expert/metrics/upc_events.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "epilog/format/run_property_keys.h"

namespace kojak::expert {
namespace {

// One of these events is enough.
struct Needed {
  std::string_view metric, events, words;
};
constexpr std::array<Needed, 18> kNeeded{{
    {"upc_latebroadcast", "UPC_ALL_BROADCAST UPC_ALL_SCATTER", "broadcasts and scatters"},
    {"upc_reduce_wait", "UPC_ALL_REDUCE UPC_ALL_GATHER", "reductions and gathers"},
    {"upc_earlyreduce", "UPC_ALL_REDUCE", "reductions"},
    {"upc_earlyscan", "UPC_ALL_PREFIX_REDUCE", "prefix reductions"},
    {"upc_wait_nxn", "UPC_ALL_GATHER_ALL UPC_ALL_EXCHANGE UPC_ALL_PERMUTE",
     "operations of all with all"},
    {"upc_collective_wait",
     "UPC_ALL_BROADCAST UPC_ALL_SCATTER UPC_ALL_GATHER UPC_ALL_REDUCE UPC_ALL_PREFIX_REDUCE",
     "collective operations"},
    {"upc_barrier_wait", "UPC_BARRIER UPC_NOTIFY", "barriers"},
    {"upc_splitphase_wait", "UPC_NOTIFY", "upc_notify"},
    {"upc_lock_contention", "UPC_LOCK", "locks"},
    {"upc_lock_wait_for_progress", "UPC_LOCK", "locks"},
    {"upc_late_notification", "UPC_GET", "single accesses"},
    {"upc_fine_grained", "UPC_GET UPC_PUT", "single accesses"},
    {"upc_rma_wait_for_progress", "UPC_GET UPC_MEMGET UPC_NB_GET_INIT", "gets"},
    {"upc_quiet_wait_for_progress", "UPC_FENCE UPC_NOTIFY", "fences"},
    {"upc_memory_wait", "UPC_ALL_ALLOC UPC_ALL_LOCK_ALLOC", "allocation by all threads"},
    {"upc_exit_wait", "UPC_COLLECTIVE_EXIT", "the end of the program"},
    {"upc_hot_thread", "UPC_GET UPC_PUT UPC_MEMGET UPC_MEMPUT", "puts and gets"},
    {"upc_hot_pair", "UPC_GET UPC_PUT UPC_MEMGET UPC_MEMPUT", "puts and gets"},
}};

}  // namespace

bool UpcEvents::tells(std::string_view event) const {
  const std::string key = run_property::kUpcEvent + std::string(event);
  bool any = false;
  definitions_.properties.for_each([&](const std::string& name, ProcessId, const std::string&) {
    any = any || (event.empty() ? name.starts_with(key) : name == key);
  });
  return any;
}

std::string UpcEvents::missing(const Metric& metric) const {
  const auto needed = std::find_if(kNeeded.begin(), kNeeded.end(),
                                   [&](const Needed& n) { return n.metric == metric.name; });
  if (metric.needs != Needs::kUpc || needed == kNeeded.end() || !tells("")) return {};
  for (std::string_view rest = needed->events; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (tells(rest.substr(0, end))) return {};
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::string compiler = "The UPC compiler";
  definitions_.properties.for_each([&](const std::string& name, ProcessId, const std::string& is) {
    if (name == run_property::kUpcCompiler && is.find(' ') != std::string::npos &&
        !is.starts_with("a ")) {
      compiler = is;
    }
  });
  return compiler + " does not tell " + std::string(needed->words) + '.';
}

}  // namespace kojak::expert
