// General active target synchronisation: the n-th access epoch of an origin that names a target on
// a window is the n-th exposure epoch of that target on that window that names the origin.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tests/programs/oracle/truth.h"

namespace kojak::oracle {
namespace {

struct Epoch {
  std::string window;
  const Call* opening = nullptr;  // start or post
  const Call* closing = nullptr;  // complete, wait or the successful test
  std::vector<const Call*> transfers;
  std::vector<const Epoch*> partners;

  int rank() const { return opening->rank; }
};

struct Epochs {
  std::vector<Epoch> access;
  std::vector<Epoch> exposure;
};

void read_epochs(const std::vector<Call>& calls, Epochs& epochs) {
  // Window to the open epoch, an index.
  std::map<std::string, std::size_t> access;
  std::map<std::string, std::size_t> exposure;
  for (const Call& call : calls) {
    const std::string window = call.text("win");
    if (call.function == "MPI_Win_start") {
      access[window] = epochs.access.size();
      epochs.access.push_back({window, &call, nullptr, {}, {}});
    } else if (call.function == "MPI_Win_post") {
      exposure[window] = epochs.exposure.size();
      epochs.exposure.push_back({window, &call, nullptr, {}, {}});
    } else if (call.function == "MPI_Win_complete") {
      epochs.access.at(access.at(window)).closing = &call;
      access.erase(window);
    } else if (call.function == "MPI_Win_wait" ||
               (call.function == "MPI_Win_test" && call.text("flag") == "1")) {
      epochs.exposure.at(exposure.at(window)).closing = &call;
      exposure.erase(window);
    } else if (call.has("to") && access.contains(window)) {
      Epoch& epoch = epochs.access.at(access.at(window));
      const std::vector<int> group = epoch.opening->ranks("group");
      if (std::ranges::find(group, call.number("to")) == group.end())
        throw std::runtime_error("a transfer leaves its access epoch");
      epoch.transfers.push_back(&call);
    }
  }
}

void pair_up(Epochs& epochs) {
  // (window, origin, target) to the exposure epochs of the target that name the origin.
  std::map<std::tuple<std::string, int, int>, std::vector<Epoch*>> exposures;
  for (Epoch& exposure : epochs.exposure)
    for (const int origin : exposure.opening->ranks("group"))
      exposures[{exposure.window, origin, exposure.rank()}].push_back(&exposure);
  std::map<std::tuple<std::string, int, int>, std::size_t> done;
  for (Epoch& access : epochs.access) {
    for (const int target : access.opening->ranks("group")) {
      const std::tuple key(access.window, access.rank(), target);
      const std::size_t n = done[key]++;
      if (n >= exposures[key].size()) throw std::runtime_error("an access epoch without exposure");
      access.partners.push_back(exposures[key][n]);
      exposures[key][n]->partners.push_back(&access);
    }
  }
  for (const Epoch& exposure : epochs.exposure)
    if (exposure.partners.size() != exposure.opening->ranks("group").size())
      throw std::runtime_error("an exposure epoch that is not accessed by all of its group");
}

}  // namespace

void Truth::add_epochs(const Notes& run) {
  Epochs epochs;
  for (const auto& calls : run.calls) read_epochs(calls, epochs);
  pair_up(epochs);

  for (const Epoch& access : epochs.access) {
    std::vector<double> posts;
    for (const Epoch* exposure : access.partners) posts.push_back(exposure->opening->enter);
    if (posts.empty()) continue;
    const double first = *std::ranges::min_element(posts);
    const auto take = [&](const Call& c) {
      posts_[&c].emplace_back(c.enter, c.enter + blocked(c, posts));
    };
    take(*access.closing);
    for (const Call* c : access.transfers) take(*c);
    for (const Call* c : {access.opening, access.closing}) {
      add("mpi_rma_latepost", *c, blocked(*c, posts));
      add("mpi_rma_latepost_first", *c, blocked(*c, {first}));
    }
    for (const Call* c : access.transfers) add("mpi_rma_earlytransfer", *c, blocked(*c, posts));
  }

  for (const Epoch& exposure : epochs.exposure) {
    const Call& wait = *exposure.closing;
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    double complete = kNever;       // the latest
    const Epoch* last = nullptr;    // whose that is
    double transfer = kNever;       // the latest exit of a transfer to this target
    double pair_complete = kNever;  // of the epoch of that transfer
    for (const Epoch* access : exposure.partners) {
      const double own_complete = access->closing->enter;
      if (own_complete > complete) last = access;
      complete = std::max(complete, own_complete);
      for (const Call* c : access->transfers) {
        if (c->number("to") != exposure.rank() || c->exit < transfer) continue;
        pair_complete = c->exit > transfer ? own_complete : std::max(pair_complete, own_complete);
        transfer = c->exit;
      }
    }
    // Where the last origin could not complete, since another target of it had not posted.
    double indirect = 0;
    if (last != nullptr) {
      std::vector<double> others;
      for (const Epoch* other : last->partners)
        if (other != &exposure) others.push_back(other->opening->enter);
      const Call& c = *last->closing;
      if (!others.empty()) indirect = overlap(wait, c.enter, c.enter + blocked(c, others));
      completed_by_.emplace_back(&wait, &c);
    }
    add("mpi_rma_indirectwait", wait, indirect);
    add("mpi_rma_earlywait", wait, overlap(wait, wait.enter, complete) + indirect);
    if (transfer == kNever) continue;
    const double from = std::max(wait.enter, transfer);
    add("mpi_rma_latecomplete", wait, overlap(wait, from, complete));
    add("mpi_rma_latecomplete_pair", wait, overlap(wait, from, pair_complete));
  }
}

}  // namespace kojak::oracle
