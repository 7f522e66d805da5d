#include "tests/support/clock_program.h"

#include <cstdio>
#include <map>
#include <tuple>

#include "tests/support/clock_calls.h"

namespace kojak::support {
namespace {

using Group = std::vector<std::uint32_t>;

class ClockSimulation {
 public:
  explicit ClockSimulation(std::uint64_t seed) : state_(seed) {}

  ClockProgram run() {
    state_.size = static_cast<std::uint32_t>(state_.number(2, 6));
    state_.program.measured = state_.number(0, 1) == 1;
    state_.program.traces.resize(state_.size);
    state_.program.times.resize(state_.size);
    state_.counts.resize(state_.size);
    state_.recording.assign(state_.size, true);
    calls_.make_communicators();
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      state_.now.push_back(state_.uniform(0, 0.5));
      state_.clocks.push_back({p == 0 ? 0 : state_.uniform(-2, 2),
                               p == 0 ? 0 : state_.uniform(-1e-3, 1e-3), state_.uniform(0, 0.02),
                               state_.uniform(0, 6)});
      state_.enter(p, "main");
    }
    const int steps = state_.number(5, 60);
    const bool pauses = state_.number(0, 2) == 0;
    for (int i = 0; i < steps; ++i) {
      for (std::uint32_t p = 0; p < state_.size && pauses; ++p) {
        if (state_.number(1, 100) <= 15) pause(p);
      }
      step();
      calls_.complete_some(false);
    }
    calls_.complete_some(true);
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      if (!state_.recording[p]) pause(p);
    }
    for (std::uint32_t p = 0; p < state_.size; ++p) state_.exit(p);
    finish();
    return std::move(state_.program);
  }

 private:
  using Place = ClockState::Place;

  // Recording is switched off, or on again: then the states tell where the process stands.
  void pause(std::uint32_t p) {
    state_.pass(p);
    if (state_.recording[p]) {
      state_.program.pauses = true;
      state_.record(p, "LOG_OFF", "");
      state_.recording[p] = false;
      calls_.forget_begun(p);
      return;
    }
    state_.recording[p] = true;
    state_.record(p, "LOG_ON", "");
    const auto text = [](std::uint64_t n) { return std::to_string(n); };
    for (std::size_t comm = 0; comm < ClockCalls::kComms; ++comm)
      state_.record(p, "COLL_STATE", calls_.call_counts(comm));
    state_.record(p, "WIN_STATE",
                  "wid=0 fences=" + text(fences_) + " open=" + (fenced_ ? "1" : "0"));
    state_.record(p, "WIN_STATE", "wid=1 fences=0 open=0");
    for (std::uint32_t q = 0; q < state_.size; ++q) {
      state_.record(p, "EPOCH_STATE",
                    "wid=1 plid=" + text(q) + " access=" + text(accesses_[{p, q}]) +
                        " exposure=" + text(accesses_[{q, p}]) + " ops=0 open=0");
      for (int tag = 0; tag < 8; ++tag) {
        const std::uint64_t sent = messages_[{p, q, tag}], received = messages_[{q, p, tag}];
        if (sent == 0 && received == 0) continue;
        state_.record(p, "MSG_STATE",
                      "cid=0 plid=" + text(q) + " tag=" + std::to_string(tag) +
                          " sent=" + text(sent) + " recvd=" + text(received));
      }
    }
  }
  void step() {
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      if (state_.number(1, 100) <= 40) state_.now[p] += state_.uniform(0, 0.3);
    }
    switch (state_.number(0, 11)) {
      case 0:
      case 1:
        message();
        break;
      case 2:
        posted_messages();
        break;
      case 3:
        calls_.all("MPI_Barrier", 0);
        break;
      case 4:
        calls_.rooted();
        break;
      case 5:
        calls_.all("MPI_Allreduce", 8);
        break;
      case 6:
        fence();
        break;
      case 7:
        calls_.prefix();
        break;
      case 8:
        calls_.irregular(ClockCalls::kWorld);
        break;
      case 9:
        calls_.between_groups();
        break;
      case 10:
        calls_.among_neighbours(state_.number(0, 1) == 1 ? ClockCalls::kGrid : ClockCalls::kGraph);
        break;
      default:
        active_target();
    }
  }

  struct Sent {
    Place place;
    double time;
  };
  Sent send(std::uint32_t from, std::uint32_t to, int tag) {
    state_.pass(from);
    ++messages_[{from, to, tag}];
    state_.enter(from, "MPI_Send");
    const Sent sent{state_.record(from, "MPI_SEND",
                                  "dlid=" + std::to_string(to) +
                                      " cid=0 tag=" + std::to_string(tag) + " sent=8"),
                    state_.now[from]};
    state_.pass(from);
    state_.exit(from);
    return sent;
  }
  static std::string source(std::uint32_t from, int tag) {
    return "slid=" + std::to_string(from) + " cid=0 tag=" + std::to_string(tag);
  }
  void message() {
    const std::uint32_t from = state_.process(), to = state_.process();
    if (from == to) return;
    const int tag = state_.number(0, 2);
    const Sent sent = send(from, to, tag);
    state_.pass(to);
    state_.enter(to, "MPI_Recv");
    state_.after(to, sent.time);
    state_.depends(sent.place, state_.record(to, "MPI_RECV", source(from, tag) + " recvd=8"),
                   "message");
    state_.exit(to);
  }
  // Several receives from one sender, posted in one order and completed in another.
  void posted_messages() {
    const std::uint32_t from = state_.process(), to = state_.process();
    if (from == to) return;
    const int count = state_.number(2, 4);
    std::vector<Sent> sent;
    std::vector<std::size_t> order;
    for (int i = 0; i < count; ++i) {
      state_.pass(to);
      state_.enter(to, "MPI_Irecv");
      state_.record(to, "MPI_RECV_REQUEST",
                    "reqid=" + std::to_string(request_ + i) + " " + source(from, 7));
      state_.exit(to);
      sent.push_back(send(from, to, 7));
      order.push_back(static_cast<std::size_t>(i));
    }
    std::shuffle(order.begin(), order.end(), state_.random);
    for (const std::size_t i : order) {
      state_.pass(to);
      state_.enter(to, "MPI_Wait");
      state_.after(to, sent[i].time);
      attribute(to, "ATTR_UI4 kind=2 value=" + std::to_string(request_ + static_cast<int>(i)));
      state_.depends(sent[i].place, state_.record(to, "MPI_RECV", source(from, 7) + " recvd=8"),
                     "posted message");
      state_.exit(to);
    }
    request_ += count;
  }
  void attribute(std::uint32_t p, const std::string& line) {
    if (state_.recording[p]) state_.events.push_back({p, -1, line, ""});
  }

  void fence() {
    std::vector<Place> enters;
    double last = 0;
    const bool ends = fenced_;
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      state_.pass(p);
      enters.push_back(state_.enter(p, "MPI_Win_fence"));
      last = std::max(last, state_.now[p]);
    }
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      if (ends) state_.after(p, last);
      const Place left = state_.record(p, "MPI_WINCOLLEXIT", "wid=0");
      for (std::uint32_t q = 0; q < state_.size && ends; ++q) {
        if (p != q) state_.depends(enters[q], left, "fence", true);
      }
    }
    fenced_ = true;
    ++fences_;
  }
  Place window_exit(std::uint32_t p, const Group& group, int synex) {
    const auto known = std::find(active_groups_.begin(), active_groups_.end(), group);
    const std::size_t id = static_cast<std::size_t>(known - active_groups_.begin());
    if (known == active_groups_.end()) active_groups_.push_back(group);
    return state_.record(
        p, "MPI_WINEXIT",
        "wid=1 cid=" + std::to_string(10 + id) + " synex=" + std::to_string(synex));
  }
  void active_target() {
    std::vector<Group> posts(state_.size), starts(state_.size);
    for (std::uint32_t target = 0; target < state_.size; ++target) {
      for (std::uint32_t origin = 0; origin < state_.size; ++origin) {
        if (state_.number(1, 100) > 40) continue;
        ++accesses_[{origin, target}];
        posts[target].push_back(origin);
        starts[origin].push_back(target);
      }
    }
    std::vector<Place> posted(state_.size), completed(state_.size);
    std::vector<double> post_times(state_.size), complete_times(state_.size);
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      if (posts[p].empty()) continue;
      state_.pass(p);
      posted[p] = state_.enter(p, "MPI_Win_post");
      post_times[p] = state_.now[p];
      window_exit(p, posts[p], 0);
    }
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      if (starts[p].empty()) continue;
      state_.pass(p);
      state_.enter(p, "MPI_Win_start");
      window_exit(p, starts[p], 0);
      state_.pass(p);
      completed[p] = state_.enter(p, "MPI_Win_complete");
      complete_times[p] = state_.now[p];
      for (const std::uint32_t target : starts[p]) state_.after(p, post_times[target]);
      const Place left = window_exit(p, starts[p], 1);
      for (const std::uint32_t target : starts[p]) {
        if (target != p) state_.depends(posted[target], left, "post to complete");
      }
    }
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      if (posts[p].empty()) continue;
      state_.pass(p);
      state_.enter(p, "MPI_Win_wait");
      for (const std::uint32_t origin : posts[p]) state_.after(p, complete_times[origin]);
      const Place left = window_exit(p, posts[p], 1);
      for (const std::uint32_t origin : posts[p]) {
        if (origin != p) state_.depends(completed[origin], left, "complete to wait");
      }
    }
  }

  void finish() {
    const double end = *std::max_element(state_.now.begin(), state_.now.end());
    const auto text = [](double value) {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.17g", value);
      return std::string(buffer);
    };
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      std::string& trace = state_.program.traces[p];
      std::string members;
      for (std::uint32_t q = 0; q < state_.size; ++q)
        members += (q == 0 ? "" : ",") + std::to_string(q);
      trace += "MPI_GROUP gid=0 mode=0 count=" + std::to_string(state_.size) + " ranks=[" +
               members + "]\nMPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=0\n" +
               calls_.communicators(p);
      for (int w = 0; w < 2; ++w) {
        const std::string id = std::to_string(w);
        trace += "MPI_WIN wid=" + id + " cid=0\nWIN_IDENTITY wid=" + id + " hi=2 lo=" + id +
                 " flags=0 flavour=1 model=2\n";
      }
      for (std::size_t g = 0; g < active_groups_.size(); ++g) {
        const std::string id = std::to_string(10 + g);
        std::string ranks;
        for (const std::uint32_t q : active_groups_[g]) {
          ranks += (ranks.empty() ? "" : ",") + std::to_string(q);
        }
        trace += "MPI_GROUP gid=" + id +
                 " mode=0 count=" + std::to_string(active_groups_[g].size()) + " ranks=[" + ranks +
                 "]\nMPI_COMM_REF cid=" + id + " gid=" + id + "\nCOMM_IDENTITY cid=" + id +
                 " hi=0 lo=0 flags=8\n";
      }
      // What a line through two measured offsets makes of the clock.
      const double l0 = state_.clocks[p].at(0), l1 = state_.clocks[p].at(end);
      const double o0 = -l0, o1 = end - l1;
      if (state_.program.measured) {
        trace += "OFFSET ltime=" + text(l0) + " offset=" + text(o0) + "\nOFFSET ltime=" + text(l1) +
                 " offset=" + text(o1) + "\n";
      }
      for (const ClockState::Event& event : state_.events) {
        if (event.process != p) continue;
        if (event.time < 0) {
          trace += event.name + "\n";
          continue;
        }
        const double local = state_.clocks[p].at(event.time);
        trace += event.name + " lid=" + std::to_string(p) + " time=" + text(local) + " " +
                 event.fields + "\n";
        const double slope = (o1 - o0) / (l1 - l0);
        state_.program.times[p].push_back(
            state_.program.measured ? local + slope * (local - l0) + o0 : local);
      }
    }
  }

  ClockState state_;
  ClockCalls calls_{state_};
  std::vector<Group> active_groups_;
  int request_ = 0;
  bool fenced_ = false;
  std::uint64_t fences_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> accesses_;  // origin, target
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::uint64_t> messages_;
};

}  // namespace

ClockProgram clock_program(std::uint64_t seed) {
  return ClockSimulation(seed).run();
}

}  // namespace kojak::support
