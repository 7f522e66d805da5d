// The collective calls of random message-passing programs: on all processes, between the two groups
// of an intercommunicator, and among the neighbours of a Cartesian topology and of a graph; calls
// that block, and operations that are begun and completed later. Internal to clock_program.cc.
//
// Each call says who must have entered before whom may leave, and whether the bytes that it records
// prove that. What is true of neighbours comes from coordinates here, not from places.
#pragma once

#include <cctype>
#include <functional>
#include <map>
#include <numeric>

#include "tests/support/clock_state.h"

namespace kojak::support {

class ClockCalls {
 public:
  // The state must outlive it.
  explicit ClockCalls(ClockState& state) : state_(state) {}
  enum Comm : std::size_t { kWorld, kInter, kGrid, kGraph, kComms };

  void make_communicators() {
    ring_.resize(state_.size);
    std::iota(ring_.begin(), ring_.end(), 0u);
    std::shuffle(ring_.begin(), ring_.end(), state_.random);
    groups_[0].assign(ring_.begin(),
                      ring_.begin() + state_.number(1, static_cast<int>(state_.size) - 1));
    groups_[1].assign(ring_.begin() + static_cast<std::ptrdiff_t>(groups_[0].size()), ring_.end());
    std::shuffle(ring_.begin(), ring_.end(), state_.random);
    const std::uint32_t rows = state_.size % 2 == 0 && state_.number(0, 1) == 1 ? 2
                               : state_.number(0, 2) == 0                       ? state_.size
                                                                                : 1;
    sizes_ = {rows, state_.size / rows};
    periodic_ = {state_.number(0, 1) == 1, state_.number(0, 2) != 0};
    sources_.assign(state_.size, std::vector<bool>(state_.size));
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      for (std::uint32_t q = 0; q < state_.size; ++q) sources_[p][q] = state_.number(0, 2) == 0;
    }
  }
  // Definitions of the intercommunicator and the grid, as a process sees them.
  std::string communicators(std::uint32_t p) const {
    const bool second = in_second(p);
    const std::vector<std::uint32_t> at = coordinates(p);
    return group(1, groups_[second ? 1 : 0]) + group(2, groups_[second ? 0 : 1]) + group(3, ring_) +
           "MPI_COMM_REF cid=1 gid=1\nCOMM_IDENTITY cid=1 hi=1 lo=2 flags=2\n"
           "COMM_REMOTE cid=1 gid=2\n"
           "MPI_COMM_REF cid=2 gid=3\nCOMM_IDENTITY cid=2 hi=1 lo=3 flags=0\n"
           "CART_TOPOLOGY topid=0 cid=2 ndims=2 dimv=" +
           list(sizes_) + " periodv=[" + (periodic_[0] ? "1," : "0,") +
           (periodic_[1] ? "1]" : "0]") +
           " topnid=absent dimnid=[4294967295,4294967295]\nCART_COORDS topid=0 lid=" +
           std::to_string(p) + " ndims=2 coordv=" + list(at) + "\n" + group(4, ring_) +
           "MPI_COMM_REF cid=3 gid=4\nCOMM_IDENTITY cid=3 hi=1 lo=4 flags=0\n" + graph(p);
  }
  // In the middle of a program some of the operations that are open are completed, at its end all.
  void complete_some(bool all) {
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      std::vector<std::size_t> mine;
      for (std::size_t i = 0; i < open_.size(); ++i) {
        if (!open_[i].done[p] && (all || state_.number(0, 3) == 0)) mine.push_back(i);
      }
      std::shuffle(mine.begin(), mine.end(), state_.random);
      for (const std::size_t i : mine) complete(p, open_[i]);
    }
    std::erase_if(open_, [](const Open& open) {
      return std::all_of(open.done.begin(), open.done.end(), [](bool done) { return done; });
    });
  }
  // Recording is switched off: what completes later cannot be known.
  void forget_begun(std::uint32_t p) {
    for (Open& open : open_) open.forgotten[p] = true;
  }
  std::string call_counts(std::size_t comm) const {
    return "cid=" + std::to_string(comm) + " count=" + std::to_string(calls_[comm]);
  }

  void all(const char* region, int bytes) {
    Call call{kWorld, "all to all", region};
    call.needs = [](std::uint32_t, std::uint32_t) { return true; };
    call.sent = call.got = std::vector<int>(state_.size, bytes);
    make(call);
  }
  void rooted() {
    const std::uint32_t root = state_.process();
    const bool gives = state_.number(0, 1) == 1;
    Call call{kWorld, "rooted", gives ? "MPI_Bcast" : "MPI_Reduce"};
    call.needs = [=](std::uint32_t p, std::uint32_t q) { return gives ? q == root : p == root; };
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      call.sent.push_back(gives == (p == root) ? 8 : 0);
      call.got.push_back(gives == (p == root) ? 0 : 8);
      call.roots.push_back(root);
    }
    make(call);
  }
  // Everybody waits for the lower ranks only.
  void prefix() {
    const bool exclusive = state_.number(0, 1) == 1;
    Call call{kWorld, "prefix reduction", exclusive ? "MPI_Exscan" : "MPI_Scan"};
    call.needs = [](std::uint32_t p, std::uint32_t q) { return q < p; };
    call.sent = call.got = std::vector<int>(state_.size, 8);
    if (exclusive) call.got[0] = 0;
    make(call);
  }
  // One gives to or takes from some of the others, and nobody keeps anything: who receives needs
  // all who send to it, and nobody else. Without the counts of all members nobody can tell that.
  void irregular(Comm comm) {
    const std::uint32_t one = state_.process();
    const bool gives = state_.number(0, 1) == 1;
    Call call{comm, "irregular exchange",
              state_.number(0, 1) == 1 ? "MPI_Alltoallv" : "mpi_alltoallv"};
    std::vector<int> bytes(state_.size, 0);  // between the one and each other
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      if (p != one && meet(comm, p, one)) bytes[p] = state_.number(0, 2) * 100;
    }
    one_with_others(call, one, gives, bytes);
    const bool known = std::find(state_.recording.begin(), state_.recording.end(), false) ==
                       state_.recording.end();
    call.proves = [=](std::uint32_t) { return known; };
    make(call);
  }
  // Between groups: who leaves waits for the other group only.
  void between_groups() {
    if (state_.number(0, 3) == 0) return irregular(kInter);
    Call call{kInter, "between groups", "MPI_Barrier"};
    call.sent = call.got = std::vector<int>(state_.size, 0);
    const int kind = state_.number(0, 2);
    if (kind == 0) {  // with data in some directions; in a barrier without
      call.region = state_.number(0, 1) == 1 ? "MPI_Allreduce" : "MPI_Barrier";
      if (call.region == "MPI_Allreduce") call.sent = call.got = std::vector<int>(state_.size, 8);
      call.needs = [this](std::uint32_t p, std::uint32_t q) { return meet(kInter, p, q); };
    } else if (kind == 1) {
      call.region = "MPI_Allgather";
      const int given[2] = {state_.number(0, 1) * 8, state_.number(0, 1) * 8};
      for (std::uint32_t p = 0; p < state_.size; ++p) {
        call.sent[p] = given[in_second(p) ? 1 : 0];
        call.got[p] = given[in_second(p) ? 0 : 1];
      }
      call.needs = [this, sent = call.sent](std::uint32_t p, std::uint32_t q) {
        return meet(kInter, p, q) && sent[q] != 0;
      };
    } else {
      const std::uint32_t root = state_.process();
      const bool gives = state_.number(0, 1) == 1;
      call.region = gives ? "MPI_Bcast" : "MPI_Reduce";
      for (std::uint32_t p = 0; p < state_.size; ++p) {
        const bool other = meet(kInter, p, root);
        (gives == (p == root) ? call.sent : call.got)[p] = p == root || other ? 8 : 0;
        call.roots.push_back(p == root || other ? root : kNobody);  // the rest: MPI_PROC_NULL
      }
      call.needs = [=, this](std::uint32_t p, std::uint32_t q) {
        return meet(kInter, p, q) && (gives ? q == root : p == root);
      };
    }
    make(call);
  }
  // In the grid or graph: who leaves waits for its neighbours only. Where the grid ends, counts may
  // name MPI_PROC_NULL, too.
  void among_neighbours(Comm comm) {
    Call call{comm, "neighbours", "MPI_Neighbor_alltoall"};
    const int kind = state_.number(0, 2);
    if (kind == 2) {
      call.region = "MPI_Neighbor_alltoallv";
      const std::uint32_t one = state_.process();
      std::vector<int> bytes(state_.size, 0);
      const bool gives = state_.number(0, 1) == 1;
      for (std::uint32_t p = 0; p < state_.size; ++p) {
        if (p != one && (gives ? meet(comm, p, one) : meet(comm, one, p))) {
          bytes[p] = state_.number(0, 2) * 100;
        }
      }
      one_with_others(call, one, gives, bytes);
      for (std::uint32_t p = 0; p < state_.size; ++p) {
        if (comm != kGrid || !at_border(p)) continue;
        call.got[p] += state_.number(0, 1) * 50;
        if (call.got[p] != 0) ++state_.program.unknown;
      }
      call.proves = [=, this](std::uint32_t p) {
        for (std::uint32_t q = 0; q < state_.size; ++q) {
          if (meet(comm, p, q) && !state_.recording[q]) return false;
        }
        return comm != kGrid || !at_border(p);
      };
    } else {
      call.sent = call.got = std::vector<int>(state_.size, 32);
      if (kind == 1) {
        call.region = "MPI_Neighbor_allgatherv";
        for (std::uint32_t p = 0; p < state_.size; ++p) call.sent[p] = state_.number(0, 1) * 8;
        for (std::uint32_t p = 0; p < state_.size; ++p) {
          call.got[p] = comm == kGrid && at_border(p) ? 50 : 0;
          for (std::uint32_t q = 0; q < state_.size; ++q)
            call.got[p] += meet(comm, p, q) ? call.sent[q] : 0;
        }
      }
      call.needs = [=, this, sent = call.sent](std::uint32_t p, std::uint32_t q) {
        return meet(comm, p, q) && sent[q] != 0;
      };
    }
    make(call);
  }

 private:
  using Place = ClockState::Place;
  static constexpr std::uint32_t kNobody = ClockState::kNobody;
  struct Call {
    Comm comm;
    const char* what;
    std::string region;
    // The first must not leave before the second has entered; and the trace proves whom it needs.
    std::function<bool(std::uint32_t, std::uint32_t)> needs;
    std::function<bool(std::uint32_t)> proves = [](std::uint32_t) { return true; };
    std::vector<int> sent, got;
    std::vector<std::uint32_t> roots;  // empty, or what each process records
  };
  // An operation that is begun, and not yet complete everywhere.
  struct Open {
    Call call;
    int request = 0;
    std::vector<Place> begins;
    std::vector<double> times;
    std::vector<bool> proves, forgotten, done;  // by process
  };

  void make(const Call& call) {
    // What somebody begins unseen can only be guessed (merge_begun_calls_test.cc has a case).
    const bool seen = std::find(state_.recording.begin(), state_.recording.end(), false) ==
                      state_.recording.end();
    if (seen && state_.number(0, 2) == 0) return begin(call);
    ++calls_[call.comm];
    std::vector<Place> enters;
    std::vector<double> times;
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      state_.pass(p);
      enters.push_back(state_.enter(p, call.region.c_str()));
      times.push_back(state_.now[p]);
    }
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      wait_for(p, call, times);
      const Place left = state_.record(p, "MPI_COLLEXIT", fields(call, p));
      for (std::uint32_t q = 0; q < state_.size; ++q) {
        if (p != q && call.needs(p, q) && call.proves(p))
          state_.depends(enters[q], left, call.what, true);
      }
    }
  }
  // Non-blocking, or one start of a persistent one, which has a key of its own.
  void begin(const Call& call) {
    const std::uint64_t made = begun_[call.comm]++;
    const bool persistent = state_.number(0, 3) == 0;
    Open open{call, request_++};
    for (std::uint32_t p = 0; p < state_.size; ++p) {
      state_.pass(p);
      state_.enter(p, persistent ? "MPI_Start" : "MPI_Ibarrier");
      open.begins.push_back(state_.record(p, "MPI_COLL_BEGIN",
                                          "reqid=" + std::to_string(open.request) + " " +
                                              fields(call, p) +
                                              " key=" + std::to_string(persistent ? made + 1 : 0) +
                                              " ordinal=" + std::to_string(persistent ? 1 : made) +
                                              " op=" + std::to_string(operation(call.region))));
      open.times.push_back(state_.now[p]);
      open.proves.push_back(call.proves(p));
      state_.pass(p);
      state_.exit(p);
    }
    open.done.assign(state_.size, false);
    open.forgotten.assign(state_.size, false);
    open_.push_back(std::move(open));
  }
  void complete(std::uint32_t p, Open& open) {
    open.done[p] = true;
    state_.pass(p);
    state_.enter(p, "MPI_Wait");
    wait_for(p, open.call, open.times);
    const Place left = state_.record(p, "MPI_REQUEST_COMPLETE",
                                     "reqid=" + std::to_string(open.request) + " kind=1");
    state_.exit(p);
    for (std::uint32_t q = 0; q < state_.size; ++q) {
      if (p != q && open.call.needs(p, q) && open.proves[p] && !open.forgotten[p]) {
        state_.depends(open.begins[q], left, open.call.what, true);
      }
    }
  }
  void wait_for(std::uint32_t p, const Call& call, const std::vector<double>& times) {
    for (std::uint32_t q = 0; q < state_.size; ++q) {
      if (call.needs(p, q)) state_.now[p] = std::max(state_.now[p], times[q]);
    }
    state_.now[p] += state_.latency();
  }
  static std::string fields(const Call& call, std::uint32_t p) {
    const std::uint32_t root = call.roots.empty() ? kNobody : call.roots[p];
    return "rlid=" + (root == kNobody ? "absent" : std::to_string(root)) +
           " cid=" + std::to_string(call.comm) + " sent=" + std::to_string(call.sent[p]) +
           " recvd=" + std::to_string(call.got[p]);
  }
  // As MPI_COLL_BEGIN counts them.
  static int operation(std::string region) {
    region.replace(0, 3, "MPI");
    region[4] = static_cast<char>(std::toupper(static_cast<unsigned char>(region[4])));
    const std::map<std::string, int> numbers{{"MPI_Barrier", 1},
                                             {"MPI_Bcast", 2},
                                             {"MPI_Reduce", 7},
                                             {"MPI_Allgather", 8},
                                             {"MPI_Allreduce", 10},
                                             {"MPI_Alltoallv", 12},
                                             {"MPI_Scan", 16},
                                             {"MPI_Exscan", 17},
                                             {"MPI_Neighbor_allgatherv", 19},
                                             {"MPI_Neighbor_alltoall", 20},
                                             {"MPI_Neighbor_alltoallv", 21}};
    return numbers.at(region);
  }
  static void one_with_others(Call& call, std::uint32_t one, bool gives,
                              const std::vector<int>& bytes) {
    call.sent = call.got = std::vector<int>(bytes.size(), 0);
    (gives ? call.got : call.sent) = bytes;
    (gives ? call.sent : call.got)[one] = std::accumulate(bytes.begin(), bytes.end(), 0);
    call.needs = [=](std::uint32_t p, std::uint32_t q) {
      return gives ? q == one && bytes[p] != 0 : p == one && bytes[q] != 0;
    };
  }

  bool in_second(std::uint32_t p) const {
    return std::find(groups_[1].begin(), groups_[1].end(), p) != groups_[1].end();
  }
  std::vector<std::uint32_t> coordinates(std::uint32_t p) const {
    const auto at =
        static_cast<std::uint32_t>(std::find(ring_.begin(), ring_.end(), p) - ring_.begin());
    return {at / sizes_[1], at % sizes_[1]};
  }
  bool at_border(std::uint32_t p) const {
    const std::vector<std::uint32_t> at = coordinates(p);
    for (std::size_t d = 0; d < 2; ++d) {
      if (!periodic_[d] && (at[d] == 0 || at[d] + 1 == sizes_[d])) return true;
    }
    return false;
  }
  // The definitions of its neighbours in the graph.
  std::string graph(std::uint32_t p) const {
    std::vector<std::uint32_t> from, to;
    for (std::uint32_t q = 0; q < state_.size; ++q) {
      if (sources_[p][q]) from.push_back(q);
      if (sources_[q][p]) to.push_back(q);
    }
    const std::string head = "GRAPH_NEIGHBOURS cid=3 pid=" + std::to_string(p) + " kind=";
    const auto text = [](const std::vector<std::uint32_t>& ranks) {
      return ranks.empty() ? "[]\n" : list(ranks) + "\n";
    };
    return head + "1 first=0 ranks=" + text(from) + head + "2 first=0 ranks=" + text(to);
  }
  // Whether the first takes data of the second in a call on the communicator.
  bool meet(Comm comm, std::uint32_t p, std::uint32_t q) const {
    if (comm == kWorld) return true;
    if (comm == kInter) return in_second(p) != in_second(q);
    if (comm == kGraph) return sources_[p][q];
    const std::vector<std::uint32_t> a = coordinates(p), b = coordinates(q);
    for (std::size_t d = 0; d < 2; ++d) {
      const std::uint32_t down = a[d] < b[d] ? b[d] - a[d] : a[d] - b[d];
      const bool step = down == 1 || (periodic_[d] && (down + 1 == sizes_[d]));
      if (step && a[1 - d] == b[1 - d]) return true;
    }
    return false;
  }
  static std::string list(const std::vector<std::uint32_t>& numbers) {
    std::string text;
    for (const std::uint32_t n : numbers) text += (text.empty() ? "[" : ",") + std::to_string(n);
    return text + "]";
  }
  static std::string group(int id, const std::vector<std::uint32_t>& ranks) {
    return "MPI_GROUP gid=" + std::to_string(id) + " mode=0 count=" + std::to_string(ranks.size()) +
           " ranks=" + list(ranks) + "\n";
  }

  ClockState& state_;
  std::vector<std::uint32_t> ring_;  // the grid's processes, by place
  std::vector<std::uint32_t> groups_[2];
  std::vector<std::uint32_t> sizes_;
  std::vector<bool> periodic_;
  std::vector<std::vector<bool>> sources_;  // in the graph: p takes data of q
  std::uint64_t calls_[kComms] = {}, begun_[kComms] = {};
  std::vector<Open> open_;
  int request_ = 1'000'000;
};

}  // namespace kojak::support
