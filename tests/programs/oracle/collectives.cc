// Collectives on a communicator: the n-th call at one member belongs to the n-th at all.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tests/programs/oracle/truth.h"

namespace kojak::oracle {
namespace {

using Instance = std::vector<const Call*>;

bool is_one_of(const std::string& function, std::initializer_list<const char*> names) {
  return std::ranges::find(names, function) != names.end();
}

// Communicator to its instances, in order.
std::map<std::string, std::vector<Instance>> instances_of(const Notes& run) {
  std::map<std::string, std::vector<Instance>> result;
  for (const auto& calls : run.calls) {
    std::map<std::string, std::size_t> done;
    for (const Call& call : calls) {
      if (!call.has("comm")) continue;
      std::vector<Instance>& instances = result[call.text("comm")];
      const std::size_t n = done[call.text("comm")]++;
      if (instances.size() == n) instances.emplace_back();
      if (!instances[n].empty() && instances[n].front()->function != call.function)
        throw std::runtime_error("collectives of " + call.text("comm") +
                                 " differ: " + call.function);
      instances[n].push_back(&call);
    }
  }
  for (const auto& [comm, instances] : result)
    for (const Instance& instance : instances)
      if (instance.size() != instances.front().size())
        throw std::runtime_error("a collective of " + comm + " lacks a member");
  return result;
}

double latest_enter(const Instance& instance) {
  double latest = -std::numeric_limits<double>::infinity();
  for (const Call* call : instance) latest = std::max(latest, call->enter);
  return latest;
}

double first_exit(const Instance& instance) {
  double first = std::numeric_limits<double>::infinity();
  for (const Call* call : instance) first = std::min(first, call->exit);
  return first;
}

// Enter of the root, or the earliest of the others.
double enter_of(const Instance& instance, bool root) {
  double earliest = std::numeric_limits<double>::infinity();
  for (const Call* call : instance)
    if ((call->rank == call->number("root")) == root) earliest = std::min(earliest, call->enter);
  return earliest;
}

double latest_of_the_others(const Instance& instance) {
  double latest = -std::numeric_limits<double>::infinity();
  for (const Call* call : instance)
    if (call->rank != call->number("root")) latest = std::max(latest, call->enter);
  return latest;
}

double latest_of_near(const Instance& instance, const Call& c) {
  const std::vector<int> near = c.ranks("near");
  double latest = -std::numeric_limits<double>::infinity();
  for (const Call* call : instance)
    if (std::ranges::find(near, call->rank) != near.end()) latest = std::max(latest, call->enter);
  return latest;
}

double latest_enter_below(const Instance& instance, double place) {
  double latest = -std::numeric_limits<double>::infinity();
  for (const Call* call : instance)
    if (call->number("place") < place) latest = std::max(latest, call->enter);
  return latest;
}

}  // namespace

void Truth::add_collectives(const Notes& run) {
  for (const auto& [comm, instances] : instances_of(run)) {
    for (const Instance& instance : instances) {
      const std::string& function = instance.front()->function;
      for (const Call* c : instance) {
        const bool root = c->has("root") && c->rank == c->number("root");
        if (is_one_of(function, {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"})) {
          if (!root) add("mpi_latebroadcast", *c, overlap(*c, c->enter, enter_of(instance, true)));
        } else if (is_one_of(function, {"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"})) {
          if (root && instance.size() > 1) {
            add("mpi_reduce_wait", *c, overlap(*c, c->enter, latest_of_the_others(instance)));
            add("mpi_earlyreduce", *c, overlap(*c, c->enter, enter_of(instance, false)));
          }
        } else if (function.starts_with("MPI_Neighbor_")) {
          add("mpi_wait_neighbours", *c, overlap(*c, c->enter, latest_of_near(instance, *c)));
        } else if (is_one_of(function, {"MPI_Scan", "MPI_Exscan"})) {
          const double latest = latest_enter_below(instance, c->number("place"));
          add("mpi_earlyscan", *c, overlap(*c, c->enter, latest));
        } else {
          const bool barrier = function == "MPI_Barrier";
          const double latest = latest_enter(instance);
          add(barrier ? "mpi_barrier_wait" : "mpi_wait_nxn", *c, overlap(*c, c->enter, latest));
          add(barrier ? "mpi_barrier_completion" : "mpi_nxn_completion", *c,
              overlap(*c, std::max(first_exit(instance), latest), c->exit));
        }
      }
    }
  }
}

}  // namespace kojak::oracle
