// Non-blocking collectives, and calls that all processes make together.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tests/programs/oracle/truth.h"

namespace kojak::oracle {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Begun {
  const Call* call = nullptr;
  std::vector<const Call*> members;  // of its operation
};

// By rank and request. The n-th that one member begins on a communicator is the n-th at all.
std::map<std::pair<int, std::string>, Begun> begun_of(const Notes& run) {
  std::map<std::pair<std::string, std::size_t>, std::vector<const Call*>> operations;
  std::map<const Call*, std::pair<std::string, std::size_t>> number;
  for (const auto& calls : run.calls) {
    std::map<std::string, std::size_t> done;
    for (const Call& call : calls) {
      if (!call.has("begun")) continue;
      number[&call] = {call.text("begun"), done[call.text("begun")]++};
      operations[number[&call]].push_back(&call);
    }
  }
  std::map<std::pair<int, std::string>, Begun> result;
  for (const auto& [call, operation] : number)
    result[{call->rank, call->text("request")}] = {call, operations[operation]};
  return result;
}

double latest(const Begun& b, const auto& counts) {
  double time = kNever;
  for (const Call* c : b.members)
    if (counts(*c)) time = std::max(time, c->enter);
  return time;
}

// Until when the member waits, and under which metric.
std::pair<std::string, double> awaited(const Begun& b) {
  const Call& c = *b.call;
  const std::string form = c.text("form");
  const auto is_root = [&](const Call& other) { return other.rank == c.number("root"); };
  if (form == "MPI_Bcast" || form == "MPI_Scatter")
    return {"mpi_latebroadcast", is_root(c) ? kNever : latest(b, is_root)};
  if (form == "MPI_Reduce" || form == "MPI_Gather")
    return {"mpi_reduce_wait",
            is_root(c) ? latest(b, [&](const Call& o) { return !is_root(o); }) : kNever};
  if (form == "MPI_Scan" || form == "MPI_Exscan")
    return {"mpi_earlyscan",
            latest(b, [&](const Call& o) { return o.number("place") < c.number("place"); })};
  if (form.starts_with("MPI_Neighbor_")) {
    const std::vector<int> near = c.ranks("near");
    return {"mpi_wait_neighbours", latest(b, [&](const Call& o) {
              return std::ranges::find(near, o.rank) != near.end();
            })};
  }
  const double all = latest(b, [](const Call&) { return true; });
  return {form == "MPI_Barrier" ? "mpi_barrier_wait" : "mpi_wait_nxn", all};
}

double earliest_of_the_others(const Begun& b) {
  double time = std::numeric_limits<double>::infinity();
  for (const Call* c : b.members)
    if (c != b.call) time = std::min(time, c->enter);
  return time;
}

}  // namespace

void Truth::add_begun(const Notes& run) {
  const auto begun = begun_of(run);
  for (const auto& calls : run.calls) {
    for (const Call& c : calls) {
      if (!c.has("ends") || c.function.starts_with("MPI_Test")) continue;
      const Begun* deciding = nullptr;
      std::pair<std::string, double> until;
      for (const std::string& request : c.list("ends")) {
        const Begun& b = begun.at({c.rank, request});
        const auto candidate = awaited(b);
        // Waitall waits for the last, Waitany and Waitsome for the first.
        const bool earlier = candidate.second < until.second;
        if (deciding != nullptr && earlier == (c.function == "MPI_Waitall")) continue;
        deciding = &b;
        until = candidate;
      }
      add(until.first, c, overlap(c, c.enter, until.second));
      if (until.first == "mpi_reduce_wait" && until.second > kNever)
        add("mpi_earlyreduce", c, overlap(c, c.enter, earliest_of_the_others(*deciding)));
    }
  }
}

void Truth::add_group_calls(const Notes& run) {
  std::map<std::string, std::vector<const Call*>> groups;
  for (const auto& calls : run.calls)
    for (const Call& call : calls)
      if (call.has("group_call")) groups[call.text("group_call")].push_back(&call);
  for (const auto& [name, members] : groups) {
    if (members.size() != run.calls.size())
      throw std::runtime_error("group call " + name + " lacks a member");
    double last = kNever, first_out = std::numeric_limits<double>::infinity();
    for (const Call* c : members) {
      last = std::max(last, c->enter);
      first_out = std::min(first_out, c->exit);
    }
    if (members.front()->text("wait") == "mpi_io_wait" && first_out < last) continue;
    for (const Call* c : members) add(c->text("wait"), *c, overlap(*c, c->enter, last));
  }
}

}  // namespace kojak::oracle
