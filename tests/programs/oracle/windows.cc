// Fences, creation and freeing: the n-th call of a kind on a window at one member belongs to the
// n-th at all members.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tests/programs/oracle/truth.h"

namespace kojak::oracle {
namespace {

using Instance = std::vector<const Call*>;

const std::map<std::string, std::string> kMetrics = {
    {"MPI_Win_create", "mpi_rma_wait_window_create"},
    {"MPI_Win_free", "mpi_rma_wait_window_free"},
    {"MPI_Win_fence", "mpi_rma_fence_wait"},
};

}  // namespace

void Truth::add_windows(const Notes& run) {
  std::map<std::pair<std::string, std::string>, std::vector<Instance>> all;
  for (const auto& calls : run.calls) {
    std::map<std::pair<std::string, std::string>, std::size_t> done;
    for (const Call& call : calls) {
      if (!kMetrics.contains(call.function)) continue;
      const std::pair key(call.text("win"), call.function);
      const std::size_t n = done[key]++;
      if (all[key].size() == n) all[key].emplace_back();
      all[key][n].push_back(&call);
    }
  }
  for (const auto& [key, instances] : all) {
    const std::size_t members = all[{key.first, "MPI_Win_create"}].front().size();
    for (const Instance& instance : instances) {
      if (instance.size() != members)
        throw std::runtime_error(key.second + " on window " + key.first + " lacks a member");
      std::vector<double> enters;
      double first_exit = std::numeric_limits<double>::infinity();
      bool asserted = false;
      for (const Call* c : instance) {
        enters.push_back(c->enter);
        first_exit = std::min(first_exit, c->exit);
        asserted |= c->has("noprecede");
      }
      const double latest = *std::ranges::max_element(enters);
      for (const Call* c : instance) {
        double wait = 0;
        if (c->has("noprecede"))
          wait = blocked(*c, enters);
        else if (asserted || first_exit >= latest)  // otherwise it did not synchronise
          wait = overlap(*c, c->enter, latest);
        add(kMetrics.at(c->function), *c, wait);
        if (c->function == "MPI_Win_fence" && !asserted && first_exit >= latest)
          add("mpi_rma_fence_completion", *c, overlap(*c, first_exit, c->exit));
      }
    }
  }
}

}  // namespace kojak::oracle
