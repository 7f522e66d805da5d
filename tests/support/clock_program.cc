#include "tests/support/clock_program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace kojak::support {
namespace {

using Place = ClockProgram::Place;
using Group = std::vector<std::uint32_t>;

constexpr std::uint32_t kNobody = 0xFFFFFFFFu;

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {}

  ClockProgram run() {
    size_ = static_cast<std::uint32_t>(number(2, 6));
    program_.measured = number(0, 1) == 1;
    program_.traces.resize(size_);
    program_.times.resize(size_);
    counts_.resize(size_);
    recording_.assign(size_, true);
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
    }
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (!recording_[p]) pause(p);
    }
    for (std::uint32_t p = 0; p < size_; ++p) exit(p);
    finish();
    return std::move(program_);
  }

 private:
  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  std::uint32_t process() {
    return static_cast<std::uint32_t>(number(0, static_cast<int>(size_) - 1));
  }
  struct Clock {
    double offset, drift, wobble, phase;
    double at(double t) const { return t + offset + drift * t + wobble * std::sin(3 * t + phase); }
  };

  Place record(std::uint32_t p, const std::string& name, const std::string& fields) {
    if (!recording_[p]) return {kNobody, 0};
    events_.push_back({p, now_[p], name, fields});
    return {p, counts_[p]++};
  }
  Place enter(std::uint32_t p, const char* region) {
    return record(p, "ENTER", "region=" + std::string(region));
  }
  Place exit(std::uint32_t p) { return record(p, "EXIT", ""); }
  void pass(std::uint32_t p) { now_[p] += uniform(0, 0.01); }
  // Recording is switched off, or on again: then the states tell where the process stands.
  void pause(std::uint32_t p) {
    pass(p);
    if (recording_[p]) {
      program_.pauses = true;
      record(p, "LOG_OFF", "");
      recording_[p] = false;
      return;
    }
    recording_[p] = true;
    record(p, "LOG_ON", "");
    const auto text = [](std::uint64_t n) { return std::to_string(n); };
    record(p, "COLL_STATE", "cid=0 count=" + text(collectives_));
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
  void depends(Place cause, Place effect, const char* what) {
    if (cause.process == kNobody || effect.process == kNobody) return;
    program_.dependencies.push_back({cause, effect, what});
  }
  void after(std::uint32_t p, double time) { now_[p] = std::max(now_[p], time) + latency(); }
  double latency() { return uniform(1e-6, 2e-3); }

  void step() {
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (number(1, 100) <= 40) now_[p] += uniform(0, 0.3);
    }
    switch (number(0, 9)) {
      case 0:
      case 1:
        message();
        break;
      case 2:
        posted_messages();
        break;
      case 3:
        collective("MPI_Barrier", 0, 0);
        break;
      case 4:
        rooted();
        break;
      case 5:
        collective("MPI_Allreduce", 8, 8);
        break;
      case 6:
        fence();
        break;
      case 7:
        prefix();
        break;
      case 8:
        irregular();
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

  void collective(const char* name, int sent, int received) {
    ++collectives_;
    std::vector<Place> enters;
    double last = 0;
    for (std::uint32_t p = 0; p < size_; ++p) {
      pass(p);
      enters.push_back(enter(p, name));
      last = std::max(last, now_[p]);
    }
    for (std::uint32_t p = 0; p < size_; ++p) {
      after(p, last);
      const Place left = collective_exit(p, kAbsentRoot, sent, received);
      for (std::uint32_t q = 0; q < size_; ++q) {
        if (p != q) depends(enters[q], left, name);
      }
    }
  }
  static constexpr std::uint32_t kAbsentRoot = 0xFFFFFFFFu;
  Place collective_exit(std::uint32_t p, std::uint32_t root, int sent, int received) {
    return record(p, "MPI_COLLEXIT",
                  "rlid=" + (root == kAbsentRoot ? "absent" : std::to_string(root)) +
                      " cid=0 sent=" + std::to_string(sent) + " recvd=" + std::to_string(received));
  }
  void rooted() {
    const std::uint32_t root = process();
    ++collectives_;
    const bool broadcast = number(0, 1) == 1;
    std::vector<Place> enters;
    std::vector<double> times;
    for (std::uint32_t p = 0; p < size_; ++p) {
      pass(p);
      enters.push_back(enter(p, broadcast ? "MPI_Bcast" : "MPI_Reduce"));
      times.push_back(now_[p]);
    }
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (broadcast && p != root) after(p, times[root]);
      if (!broadcast && p == root) after(p, *std::max_element(times.begin(), times.end()));
      const bool sends = broadcast == (p == root);
      const Place left = collective_exit(p, root, sends ? 8 : 0, sends ? 0 : 8);
      for (std::uint32_t q = 0; q < size_; ++q) {
        if (broadcast ? p != root && q == root : p == root && q != root) {
          depends(enters[q], left, broadcast ? "broadcast" : "reduction");
        }
      }
    }
  }
  // Everybody waits for the lower ranks only.
  void prefix() {
    ++collectives_;
    const bool exclusive = number(0, 1) == 1;
    std::vector<Place> enters;
    std::vector<double> times;
    for (std::uint32_t p = 0; p < size_; ++p) {
      pass(p);
      enters.push_back(enter(p, exclusive ? "MPI_Exscan" : "MPI_Scan"));
      times.push_back(now_[p]);
    }
    for (std::uint32_t p = 0; p < size_; ++p) {
      if (p != 0) after(p, *std::max_element(times.begin(), times.begin() + p));
      const Place left = collective_exit(p, kAbsentRoot, 8, p == 0 && exclusive ? 0 : 8);
      for (std::uint32_t q = 0; q < p; ++q) depends(enters[q], left, "prefix reduction");
    }
  }
  // One gives to or takes from some of the others, and nobody keeps anything: who receives needs
  // all who send to it, and nobody else. Without the counts of all members nobody can tell that.
  void irregular() {
    ++collectives_;
    const std::uint32_t one = process();
    const bool gives = number(0, 1) == 1;
    std::vector<Place> enters;
    std::vector<double> times;
    std::vector<int> bytes;  // between the one and each other
    for (std::uint32_t p = 0; p < size_; ++p) {
      pass(p);
      enters.push_back(enter(p, number(0, 1) == 1 ? "MPI_Alltoallv" : "mpi_alltoallv"));
      times.push_back(now_[p]);
      bytes.push_back(p == one ? 0 : number(0, 2) * 100);
    }
    const int all = std::accumulate(bytes.begin(), bytes.end(), 0);
    const bool known = std::find(recording_.begin(), recording_.end(), false) == recording_.end();
    for (std::uint32_t p = 0; p < size_; ++p) {
      for (std::uint32_t q = 0; q < size_; ++q) {
        const bool needs = gives ? q == one && bytes[p] != 0 : p == one && bytes[q] != 0;
        if (needs) now_[p] = std::max(now_[p], times[q]);
      }
      now_[p] += latency();
      const int share = p == one ? all : bytes[p];
      const bool sends = gives == (p == one);
      const Place left = collective_exit(p, kAbsentRoot, sends ? share : 0, sends ? 0 : share);
      for (std::uint32_t q = 0; q < size_ && known; ++q) {
        if (gives ? q == one && bytes[p] != 0 : p == one && bytes[q] != 0) {
          depends(enters[q], left, "irregular exchange");
        }
      }
    }
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
        if (p != q) depends(enters[q], left, "fence");
      }
    }
    fenced_ = true;
    ++fences_;
  }
  Place window_exit(std::uint32_t p, const Group& group, int synex) {
    const auto known = std::find(groups_.begin(), groups_.end(), group);
    const std::size_t id = static_cast<std::size_t>(known - groups_.begin());
    if (known == groups_.end()) groups_.push_back(group);
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
               "]\nMPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=0\n";
      for (int w = 0; w < 2; ++w) {
        const std::string id = std::to_string(w);
        trace += "MPI_WIN wid=" + id + " cid=0\nWIN_IDENTITY wid=" + id + " hi=2 lo=" + id +
                 " flags=0 flavour=1 model=2\n";
      }
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const std::string id = std::to_string(10 + g);
        std::string ranks;
        for (const std::uint32_t q : groups_[g]) {
          ranks += (ranks.empty() ? "" : ",") + std::to_string(q);
        }
        trace += "MPI_GROUP gid=" + id + " mode=0 count=" + std::to_string(groups_[g].size()) +
                 " ranks=[" + ranks + "]\nMPI_COMM_REF cid=" + id + " gid=" + id +
                 "\nCOMM_IDENTITY cid=" + id + " hi=0 lo=0 flags=8\n";
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

  struct Event {
    std::uint32_t process;
    double time;
    std::string name, fields;
  };
  std::mt19937_64 random_;
  std::uint32_t size_ = 0;
  ClockProgram program_;
  std::vector<Event> events_;  // in no order but each process's own
  std::vector<std::uint32_t> counts_;
  std::vector<double> now_;
  std::vector<Clock> clocks_;
  std::vector<Group> groups_;
  int request_ = 0;
  bool fenced_ = false;
  std::vector<bool> recording_;
  std::uint64_t collectives_ = 0, fences_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> accesses_;  // origin, target
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::uint64_t> messages_;
};

}  // namespace

ClockProgram clock_program(std::uint64_t seed) {
  return Simulation(seed).run();
}

}  // namespace kojak::support
