#include "tests/support/clock_program.h"

#include <cstdio>
#include <map>
#include <tuple>

#include "tests/support/clock_calls.h"

namespace kojak::support {
namespace {

using Group = std::vector<std::uint32_t>;

class ClockSimulation : private ClockCalls {
 public:
  explicit ClockSimulation(std::uint64_t seed) : ClockCalls(seed) {}

  ClockProgram run() {
    size_ = static_cast<std::uint32_t>(number(2, 6));
    program_.measured = number(0, 1) == 1;
    program_.traces.resize(size_);
    program_.times.resize(size_);
    counts_.resize(size_);
    recording_.assign(size_, true);
    make_communicators();
    for (std::uint32_t p = 0; p < size_; ++p) {
      now_.push_back(uniform(0, 0.5));
      clocks_.push_back({p == 0 ? 0 : uniform(-2, 2), p == 0 ? 0 : uniform(-1e-3, 1e-3),
                         uniform(0, 0.02), uniform(0, 6)});
      enter(p, "main");
    }
    const int steps = number(5, 60);
    const bool pauses = number(0, 2) == 0;
    for (int i = 0; i < steps; ++i) {
      for (std::uint32_t p = 0; p < size_ && pauses; ++p) {
        if (number(1, 100) <= 15) pause(p);
      }
      step();
      complete_some(false);
    }
    complete_some(true);
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (!recording_[p]) pause(p);
    }
    for (std::uint32_t p = 0; p < size_; ++p) exit(p);
    finish();
    return std::move(program_);
  }

 private:
  // Recording is switched off, or on again: then the states tell where the process stands.
  void pause(std::uint32_t p) {
    pass(p);
    if (recording_[p]) {
      program_.pauses = true;
      record(p, "LOG_OFF", "");
      recording_[p] = false;
      forget_begun(p);
      return;
    }
    recording_[p] = true;
    record(p, "LOG_ON", "");
    const auto text = [](std::uint64_t n) { return std::to_string(n); };
    for (std::size_t comm = 0; comm < kComms; ++comm) record(p, "COLL_STATE", call_counts(comm));
    record(p, "WIN_STATE", "wid=0 fences=" + text(fences_) + " open=" + (fenced_ ? "1" : "0"));
    record(p, "WIN_STATE", "wid=1 fences=0 open=0");
    for (std::uint32_t q = 0; q < size_; ++q) {
      record(p, "EPOCH_STATE",
             "wid=1 plid=" + text(q) + " access=" + text(accesses_[{p, q}]) +
                 " exposure=" + text(accesses_[{q, p}]) + " ops=0 open=0");
      for (int tag = 0; tag < 8; ++tag) {
        const std::uint64_t sent = messages_[{p, q, tag}], received = messages_[{q, p, tag}];
        if (sent == 0 && received == 0) continue;
        record(p, "MSG_STATE",
               "cid=0 plid=" + text(q) + " tag=" + std::to_string(tag) + " sent=" + text(sent) +
                   " recvd=" + text(received));
      }
    }
  }
  void step() {
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (number(1, 100) <= 40) now_[p] += uniform(0, 0.3);
    }
    switch (number(0, 11)) {
      case 0:
      case 1:
        message();
        break;
      case 2:
        posted_messages();
        break;
      case 3:
        all("MPI_Barrier", 0);
        break;
      case 4:
        rooted();
        break;
      case 5:
        all("MPI_Allreduce", 8);
        break;
      case 6:
        fence();
        break;
      case 7:
        prefix();
        break;
      case 8:
        irregular(kWorld);
        break;
      case 9:
        between_groups();
        break;
      case 10:
        among_neighbours(number(0, 1) == 1 ? kGrid : kGraph);
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
    pass(from);
    ++messages_[{from, to, tag}];
    enter(from, "MPI_Send");
    const Sent sent{
        record(from, "MPI_SEND",
               "dlid=" + std::to_string(to) + " cid=0 tag=" + std::to_string(tag) + " sent=8"),
        now_[from]};
    pass(from);
    exit(from);
    return sent;
  }
  static std::string source(std::uint32_t from, int tag) {
    return "slid=" + std::to_string(from) + " cid=0 tag=" + std::to_string(tag);
  }
  void message() {
    const std::uint32_t from = process(), to = process();
    if (from == to) return;
    const int tag = number(0, 2);
    const Sent sent = send(from, to, tag);
    pass(to);
    enter(to, "MPI_Recv");
    after(to, sent.time);
    depends(sent.place, record(to, "MPI_RECV", source(from, tag) + " recvd=8"), "message");
    exit(to);
  }
  // Several receives from one sender, posted in one order and completed in another.
  void posted_messages() {
    const std::uint32_t from = process(), to = process();
    if (from == to) return;
    const int count = number(2, 4);
    std::vector<Sent> sent;
    std::vector<std::size_t> order;
    for (int i = 0; i < count; ++i) {
      pass(to);
      enter(to, "MPI_Irecv");
      record(to, "MPI_RECV_REQUEST",
             "reqid=" + std::to_string(request_ + i) + " " + source(from, 7));
      exit(to);
      sent.push_back(send(from, to, 7));
      order.push_back(static_cast<std::size_t>(i));
    }
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t i : order) {
      pass(to);
      enter(to, "MPI_Wait");
      after(to, sent[i].time);
      attribute(to, "ATTR_UI4 kind=2 value=" + std::to_string(request_ + static_cast<int>(i)));
      depends(sent[i].place, record(to, "MPI_RECV", source(from, 7) + " recvd=8"),
              "posted message");
      exit(to);
    }
    request_ += count;
  }
  void attribute(std::uint32_t p, const std::string& line) {
    if (recording_[p]) events_.push_back({p, -1, line, ""});
  }

  void fence() {
    std::vector<Place> enters;
    double last = 0;
    const bool ends = fenced_;
    for (std::uint32_t p = 0; p < size_; ++p) {
      pass(p);
      enters.push_back(enter(p, "MPI_Win_fence"));
      last = std::max(last, now_[p]);
    }
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (ends) after(p, last);
      const Place left = record(p, "MPI_WINCOLLEXIT", "wid=0");
      for (std::uint32_t q = 0; q < size_ && ends; ++q) {
        if (p != q) depends(enters[q], left, "fence", true);
      }
    }
    fenced_ = true;
    ++fences_;
  }
  Place window_exit(std::uint32_t p, const Group& group, int synex) {
    const auto known = std::find(active_groups_.begin(), active_groups_.end(), group);
    const std::size_t id = static_cast<std::size_t>(known - active_groups_.begin());
    if (known == active_groups_.end()) active_groups_.push_back(group);
    return record(p, "MPI_WINEXIT",
                  "wid=1 cid=" + std::to_string(10 + id) + " synex=" + std::to_string(synex));
  }
  void active_target() {
    std::vector<Group> posts(size_), starts(size_);
    for (std::uint32_t target = 0; target < size_; ++target) {
      for (std::uint32_t origin = 0; origin < size_; ++origin) {
        if (number(1, 100) > 40) continue;
        ++accesses_[{origin, target}];
        posts[target].push_back(origin);
        starts[origin].push_back(target);
      }
    }
    std::vector<Place> posted(size_), completed(size_);
    std::vector<double> post_times(size_), complete_times(size_);
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (posts[p].empty()) continue;
      pass(p);
      posted[p] = enter(p, "MPI_Win_post");
      post_times[p] = now_[p];
      window_exit(p, posts[p], 0);
    }
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (starts[p].empty()) continue;
      pass(p);
      enter(p, "MPI_Win_start");
      window_exit(p, starts[p], 0);
      pass(p);
      completed[p] = enter(p, "MPI_Win_complete");
      complete_times[p] = now_[p];
      for (const std::uint32_t target : starts[p]) after(p, post_times[target]);
      const Place left = window_exit(p, starts[p], 1);
      for (const std::uint32_t target : starts[p]) {
        if (target != p) depends(posted[target], left, "post to complete");
      }
    }
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (posts[p].empty()) continue;
      pass(p);
      enter(p, "MPI_Win_wait");
      for (const std::uint32_t origin : posts[p]) after(p, complete_times[origin]);
      const Place left = window_exit(p, posts[p], 1);
      for (const std::uint32_t origin : posts[p]) {
        if (origin != p) depends(completed[origin], left, "complete to wait");
      }
    }
  }

  void finish() {
    const double end = *std::max_element(now_.begin(), now_.end());
    const auto text = [](double value) {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.17g", value);
      return std::string(buffer);
    };
    for (std::uint32_t p = 0; p < size_; ++p) {
      std::string& trace = program_.traces[p];
      std::string members;
      for (std::uint32_t q = 0; q < size_; ++q) members += (q == 0 ? "" : ",") + std::to_string(q);
      trace += "MPI_GROUP gid=0 mode=0 count=" + std::to_string(size_) + " ranks=[" + members +
               "]\nMPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=0\n" +
               communicators(p);
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
      const double l0 = clocks_[p].at(0), l1 = clocks_[p].at(end);
      const double o0 = -l0, o1 = end - l1;
      if (program_.measured) {
        trace += "OFFSET ltime=" + text(l0) + " offset=" + text(o0) + "\nOFFSET ltime=" + text(l1) +
                 " offset=" + text(o1) + "\n";
      }
      for (const Event& event : events_) {
        if (event.process != p) continue;
        if (event.time < 0) {
          trace += event.name + "\n";
          continue;
        }
        const double local = clocks_[p].at(event.time);
        trace += event.name + " lid=" + std::to_string(p) + " time=" + text(local) + " " +
                 event.fields + "\n";
        const double slope = (o1 - o0) / (l1 - l0);
        program_.times[p].push_back(program_.measured ? local + slope * (local - l0) + o0 : local);
      }
    }
  }

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
