// Writes local traces of a made-up program, for measuring the merge and what reads its result.
//
// make_traces KIND DIRECTORY [--ranks N] [--events N] [--operations N] [--skew SECONDS]
//             [--version 2|3]
//
// KIND and what is known of the result, whatever the size (times in seconds; one iteration lasts
// 1 ms of simulated time, and every rank begins it 10 ns after the rank before it, each 4096th
// again with rank 0):
//   fence  each iteration: N operations (puts, each eighth a get) to the ranks after this one in
//          turn, and the fence that closes them. Rank 0 enters every fence 0.2 ms after all others,
//          which therefore wait 0.2 ms each time (less 10 ns times their rank).
//   lock   each iteration: a shared lock of the next rank, N operations with a flush after each
//          sixteenth, and unlock. Nobody waits for anybody.
//   contend  each iteration: all lock rank 0 exclusively, put, and are in unlock 0.8 of the time,
//          so that somebody always is.
//   served  the same, but rank 0 computes in the first iteration, while others get its lock: the
//          trace shows that grants need no target.
//   hold   each iteration: a shared lock of rank 0, a put, and unlock, while the last rank holds a
//          shared lock of rank 0 from the beginning to the end. Nobody waits for anybody.
//   all    under a lock of all from the beginning to the end, each iteration: a put to a rank after
//          this one in turn, its flush, a barrier. Rank 0 comes to its flush last, 0.05 ms after
//          the others: who has put to rank 0 waits for it (less 10 ns times its rank).
//   p2p    each iteration: a send to the next rank and a receive from the one before, N times. Each
//          receive is entered 0.3 of its share of the iteration before its send: Late Sender. Where
//          10 ns between ranks are too much for rank 0 to receive after the last has sent, they
//          begin closer together.
//   one    one fence epoch with all operations of the whole run in it.
//   barrier  each iteration: N barriers. Rank 0 enters each of them 0.3 of its share of the
//   iteration
//          after all others, which wait so long (less 10 ns times their rank).
//   gats   each iteration: pairs of an even rank and the next: the even one enters Win_start 0.3 ms
//          before the other enters Win_post (Late Post, and 10 ns), puts N times, and enters
//          Win_complete 0.15 ms after the other entered Win_wait (Early Wait, less 10 ns).
//   ahead  the epochs of gats, but the odd ranks begin theirs when the even ones have completed all
//          of them: so far an origin may be ahead of its target. Nobody waits for anybody.
// The local traces are compact (version 3), as those of a measurement are, unless --version says 2.
// --events is about the number of events of the merged trace. Identities and times are the same
// each time: two runs of this program write the same bytes.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "epilog/format/io/writer.h"

namespace {

using namespace kojak;

struct Options {
  std::string kind, directory;
  std::uint32_t ranks = 4;
  std::uint64_t events = 10'000'000;
  std::uint32_t operations = 64;
  double skew = 0;
  std::uint8_t version = 3;
};

constexpr double kIteration = 1e-3;
constexpr std::uint32_t kRanksApart = 4096;  // that begin one after the other

enum RegionNumber : std::uint32_t {
  kMain,
  kFence,
  kPut,
  kGet,
  kLock,
  kUnlock,
  kFlush,
  kSend,
  kRecv,
  kCreate,
  kBarrier,
  kPost,
  kStart,
  kComplete,
  kWait,
  kLockAll,
  kUnlockAll,
  kRegions
};
constexpr const char* kRegionNames[kRegions] = {"main",
                                                "MPI_Win_fence",
                                                "MPI_Put",
                                                "MPI_Get",
                                                "MPI_Win_lock",
                                                "MPI_Win_unlock",
                                                "MPI_Win_flush",
                                                "MPI_Send",
                                                "MPI_Recv",
                                                "MPI_Win_create",
                                                "MPI_Barrier",
                                                "MPI_Win_post",
                                                "MPI_Win_start",
                                                "MPI_Win_complete",
                                                "MPI_Win_wait",
                                                "MPI_Win_lock_all",
                                                "MPI_Win_unlock_all"};

class Rank {
 public:
  Rank(const Options& options, std::uint32_t rank, TraceWriter& out)
      : options_(options), out_(out), lid_{rank}, rank_(rank), shift_(shift_of(options)) {}

  void run() {
    definitions();
    const double begin = at(0, -0.5);
    enter(begin, kMain);
    if (one_sided()) {
      enter(at(0, -0.4), kCreate);
      out_.write(MpiWinCollExit{lid_, {at(0, -0.3)}, {}, WindowId{0}});
    }
    std::uint64_t iterations = 0;
    if (options_.kind == "fence" || options_.kind == "one") iterations = fences();
    if (options_.kind == "lock") iterations = locks();
    if (options_.kind == "contend" || options_.kind == "served") iterations = contended_locks();
    if (options_.kind == "hold") iterations = beside_a_holder();
    if (options_.kind == "all") iterations = under_a_lock_of_all();
    if (options_.kind == "p2p") iterations = messages();
    if (options_.kind == "barrier") iterations = barriers();
    if (options_.kind == "gats" || options_.kind == "ahead") iterations = pairs();
    if (options_.kind == "chain") iterations = chain();
    out_.write(Exit{lid_, {at(iterations, 0.5)}, {}});
  }

 private:
  // How much later each rank begins than the one before. In a ring the first receives from the
  // last, which must have sent by then: at 0.8 of a step what was sent at 0.7.
  static double shift_of(const Options& options) {
    constexpr double kUsual = 1e-8;
    if (options.kind == "chain") return 0;
    if (options.kind != "p2p") return kUsual;
    const double step = 0.9 * kIteration / options.operations;
    return std::min(kUsual, 0.08 * step / std::min(options.ranks, kRanksApart));
  }
  double at(std::uint64_t iteration, double part) const {
    return 1 + (static_cast<double>(iteration) + part) * kIteration +
           shift_ * (rank_ % kRanksApart) + options_.skew * (rank_ % 7);
  }
  std::uint64_t iterations(std::uint64_t events_each) const {
    const std::uint64_t mine = options_.events / options_.ranks;
    return mine / events_each > 0 ? mine / events_each : 1;
  }
  // As a measurement does, it defines the functions that it calls, when it first calls them.
  RegionId region(RegionNumber number) {
    if (!defined_[number]) {
      defined_[number] = true;
      out_.write(Region{RegionId{number}, name(kRegionNames[number]), absent<FileId>(),
                        absent<Line>(), absent<Line>(), absent<StringId>(), Byte{1}});
    }
    return RegionId{number};
  }
  StringId name(const std::string& text) {
    out_.write_string(StringId{strings_}, text);
    return StringId{strings_++};
  }
  bool one_sided() const {
    return options_.kind != "p2p" && options_.kind != "barrier" && options_.kind != "chain";
  }
  void enter(double time, RegionNumber number) {
    const RegionId entered = region(number);
    out_.write(Enter{lid_, {time}, entered, {}});
  }
  std::uint32_t after(std::uint64_t n) const {
    return options_.ranks == 1 ? 0
                               : static_cast<std::uint32_t>((rank_ + 1 + n % (options_.ranks - 1)) %
                                                            options_.ranks);
  }
  void operation(double time, double length, std::uint32_t target, bool gets = true) {
    const bool get = gets && rmaid_ % 8 == 7;
    const RegionId called = region(get ? kGet : kPut);
    out_.write(MpiRmaCall{lid_,
                          {time},
                          {time + length},
                          called,
                          PeerId{target},
                          WindowId{0},
                          RmaId{rmaid_},
                          Bytes64{8},
                          Bytes64{0},
                          Byte{static_cast<std::uint8_t>(get ? 2 : 1)}});
    ++rmaid_;
  }
  void fence(double from, double to) {
    enter(from, kFence);
    out_.write(MpiWinCollExit{lid_, {to}, {}, WindowId{0}});
  }
  std::uint64_t fences() {
    std::uint64_t operations = options_.operations;
    if (options_.kind == "one") operations = options_.events / options_.ranks / 4;
    const std::uint64_t n = iterations(4 * operations + 2);
    fence(at(0, -0.2), at(0, -0.1));
    for (std::uint64_t i = 0; i < n; ++i) {
      const double step = 0.5 / static_cast<double>(operations);
      for (std::uint64_t k = 0; k < operations; ++k) {
        operation(at(i, step * static_cast<double>(k)), 0.5 * step * kIteration, after(k));
      }
      fence(at(i, rank_ == 0 ? 0.8 : 0.6), at(i, 0.9));
    }
    return n;
  }
  std::uint64_t locks() {
    const std::uint64_t operations = options_.operations;
    const std::uint64_t n = iterations(4 * operations + 6 + 3 * (operations / 16));
    const std::uint32_t target = after(0);
    for (std::uint64_t i = 0; i < n; ++i) {
      enter(at(i, 0), kLock);
      out_.write(MpiWinLock{lid_, {at(i, 0.01)}, PeerId{target}, WindowId{0}, Byte{0}});
      out_.write(Exit{lid_, {at(i, 0.01)}, {}});
      const double step = 0.9 / static_cast<double>(operations);
      for (std::uint64_t k = 0; k < operations; ++k) {
        const double from = 0.02 + step * static_cast<double>(k);
        operation(at(i, from), 0.5 * step * kIteration, target);
        if (k % 16 != 15) continue;
        enter(at(i, from + 0.6 * step), kFlush);
        const double to = at(i, from + 0.9 * step);
        out_.write(MpiWinFlush{lid_, {to}, PeerId{target}, WindowId{0}, Byte{0}});
        out_.write(Exit{lid_, {to}, {}});
      }
      enter(at(i, 0.94), kUnlock);
      out_.write(MpiWinUnlock{lid_, {at(i, 0.98)}, PeerId{target}, WindowId{0}});
      out_.write(Exit{lid_, {at(i, 0.98)}, {}});
    }
    return n;
  }
  void epoch(std::uint64_t i, double begin, double unlock, double end, bool exclusive) {
    enter(at(i, begin), kLock);
    const Byte type{static_cast<std::uint8_t>(exclusive ? 1 : 0)};
    out_.write(MpiWinLock{lid_, {at(i, begin + 0.01)}, PeerId{0}, WindowId{0}, type});
    out_.write(Exit{lid_, {at(i, begin + 0.01)}, {}});
    operation(at(i, begin + 0.02), 0.01 * kIteration, 0, false);
    enter(at(i, unlock), kUnlock);
    out_.write(MpiWinUnlock{lid_, {at(i, end)}, PeerId{0}, WindowId{0}});
    out_.write(Exit{lid_, {at(i, end)}, {}});
  }
  // All lock rank 0 exclusively, and wait in unlock most of the time: somebody always does.
  std::uint64_t contended_locks() {
    const std::uint64_t n = iterations(8);
    const double part = static_cast<double>(rank_) / options_.ranks;
    const bool computes = rank_ == 0 && options_.kind == "served";
    for (std::uint64_t i = computes ? 1 : 0; i < n; ++i) {
      epoch(i, part, part + 0.1, part + 0.9, true);
    }
    return n + 1;
  }
  // The last holds a shared lock of rank 0 all the time, the others have many short ones.
  std::uint64_t beside_a_holder() {
    const std::uint64_t n = iterations(8);
    if (rank_ + 1 == options_.ranks) {
      enter(at(0, 0), kLock);
      out_.write(MpiWinLock{lid_, {at(0, 0.01)}, PeerId{0}, WindowId{0}, Byte{0}});
      out_.write(Exit{lid_, {at(0, 0.01)}, {}});
      operation(at(0, 0.02), 0.01 * kIteration, 0, false);
      enter(at(n, 0.1), kUnlock);
      out_.write(MpiWinUnlock{lid_, {at(n, 0.2)}, PeerId{0}, WindowId{0}});
      out_.write(Exit{lid_, {at(n, 0.2)}, {}});
    } else {
      for (std::uint64_t i = 0; i < n; ++i) epoch(i, 0.2, 0.5, 0.6, false);
    }
    return n;
  }
  std::uint64_t under_a_lock_of_all() {
    const std::uint64_t n = iterations(10);
    const double flush = rank_ == 0 ? 0.35 : 0.3;
    enter(at(0, 0), kLockAll);
    out_.write(MpiWinLockAll{lid_, {at(0, 0.01)}, WindowId{0}});
    out_.write(Exit{lid_, {at(0, 0.01)}, {}});
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint32_t target = after(i);
      operation(at(i, 0.1), 0.01 * kIteration, target, false);
      enter(at(i, flush), kFlush);
      out_.write(MpiWinFlush{lid_, {at(i, 0.4)}, PeerId{target}, WindowId{0}, Byte{0}});
      out_.write(Exit{lid_, {at(i, 0.4)}, {}});
      barrier(at(i, 0.8), at(i, 0.9));
    }
    enter(at(n, 0.1), kUnlockAll);
    out_.write(MpiWinUnlockAll{lid_, {at(n, 0.2)}, WindowId{0}});
    out_.write(Exit{lid_, {at(n, 0.2)}, {}});
    return n;
  }
  void barrier(double from, double to) {
    enter(from, kBarrier);
    out_.write(MpiCollExit{lid_, {to}, {}, absent<PeerId>(), CommId{0}, Bytes{0}, Bytes{0}});
  }
  std::uint64_t messages() {
    const std::uint64_t pairs = options_.operations;
    const std::uint64_t n = iterations(6 * pairs);
    const std::uint32_t next = (rank_ + 1) % options_.ranks;
    const std::uint32_t before = (rank_ + options_.ranks - 1) % options_.ranks;
    const double step = 0.9 / static_cast<double>(pairs);
    const auto receive = [&](std::uint64_t i, double from, double to, std::uint32_t tag) {
      enter(at(i, from), kRecv);
      out_.write(MpiRecv{lid_, {at(i, to)}, PeerId{before}, CommId{0}, Tag{tag}, Bytes{1024}});
      out_.write(Exit{lid_, {at(i, to)}, {}});
    };
    const auto send = [&](std::uint64_t i, double from, double to, std::uint32_t tag) {
      enter(at(i, from), kSend);
      out_.write(MpiSend{lid_, {at(i, from)}, PeerId{next}, CommId{0}, Tag{tag}, Bytes{1024}});
      out_.write(Exit{lid_, {at(i, to)}, {}});
    };
    // Even ranks send first; every other pair of calls waits for its sender.
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint64_t k = 0; k < pairs; ++k) {
        const double begin = step * static_cast<double>(k);
        const auto tag = static_cast<std::uint32_t>(k);
        if (rank_ % 2 == 0) {
          send(i, begin + 0.3 * step, begin + 0.35 * step, tag);
          receive(i, begin + 0.4 * step, begin + 0.8 * step, tag);
        } else {
          receive(i, begin, begin + 0.5 * step, tag);
          send(i, begin + 0.7 * step, begin + 0.75 * step, tag);
        }
      }
    }
    return n;
  }

  std::uint64_t barriers() {
    const std::uint64_t n = iterations(2 * options_.operations);
    const double step = 0.9 / static_cast<double>(options_.operations);
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint32_t k = 0; k < options_.operations; ++k) {
        const double begin = step * k;
        barrier(at(i, begin + (rank_ == 0 ? 0.5 : 0.2) * step), at(i, begin + 0.9 * step));
      }
    }
    return n;
  }
  // Rank 0 is late, each of the others passes on what it received: all wait because of rank 0,
  // 0.05 of an iteration each, and behind each of those in between for another 0.6 / ranks.
  std::uint64_t chain() {
    const std::uint64_t n = iterations(8);
    const double step = 0.6 / options_.ranks;
    for (std::uint64_t i = 0; i < n; ++i) {
      const double sends = 0.1 + step * rank_;
      if (rank_ != 0) {
        enter(at(i, 0.05), kRecv);
        const double to = at(i, sends - 0.4 * step);
        out_.write(MpiRecv{lid_, {to}, PeerId{rank_ - 1}, CommId{0}, Tag{0}, Bytes{1024}});
        out_.write(Exit{lid_, {to}, {}});
      }
      if (rank_ + 1 < options_.ranks) {
        enter(at(i, sends), kSend);
        out_.write(
            MpiSend{lid_, {at(i, sends)}, PeerId{rank_ + 1}, CommId{0}, Tag{0}, Bytes{1024}});
        out_.write(Exit{lid_, {at(i, sends + 0.2 * step)}, {}});
      }
      barrier(at(i, 0.8), at(i, 0.9));
    }
    return n;
  }
  // A call that begins or ends an epoch with the partner.
  void epoch(std::uint64_t i, RegionNumber number, double from, double to, bool ends) {
    enter(at(i, from), number);
    out_.write(MpiWinExit{lid_,
                          {at(i, to)},
                          {},
                          WindowId{0},
                          CommId{1},
                          Byte{static_cast<std::uint8_t>(ends ? 1 : 0)}});
  }
  std::uint64_t pairs() {
    const std::uint64_t operations = options_.operations;
    const std::uint64_t n = iterations(2 * operations + 4);
    const std::uint64_t behind = options_.kind == "ahead" ? n : 0;
    if (partner() == rank_) return n + behind;  // the last one of an odd number
    for (std::uint64_t i = 0; i < n; ++i) {
      if (rank_ % 2 == 0) {
        epoch(i, kStart, 0.1, 0.5, false);
        const double step = 0.1 / static_cast<double>(operations);
        for (std::uint64_t k = 0; k < operations; ++k) {
          operation(at(i, 0.5 + step * static_cast<double>(k)), 0.5 * step * kIteration, partner(),
                    false);
        }
        epoch(i, kComplete, 0.6, 0.65, true);
      } else {
        epoch(i + behind, kPost, 0.4, 0.41, false);
        epoch(i + behind, kWait, 0.45, 0.7, true);
      }
    }
    return n + behind;
  }
  std::uint32_t partner() const {
    const std::uint32_t other = rank_ % 2 == 0 ? rank_ + 1 : rank_ - 1;
    return other < options_.ranks ? other : rank_;
  }

  void definitions() {
    out_.write(
        LocalRun{Hash64{0xbe7c}, Hash64{1}, Count{options_.ranks}, ProcessId{rank_}, ThreadId{0}});
    const std::uint32_t node = rank_ / 64;
    const StringId machine_name = name("machine");
    const StringId node_name = name("node" + std::to_string(node));
    const StringId process_name = name("Rank " + std::to_string(rank_));
    out_.write(Machine{MachineId{0}, Count{options_.ranks / 64 + 1}, machine_name});
    out_.write(Node{NodeId{node}, MachineId{0}, Count{64}, node_name, Seconds{}});
    out_.write(Process{ProcessId{rank_}, process_name});
    out_.write(Location{lid_, MachineId{0}, NodeId{node}, ProcessId{rank_}, ThreadId{0}});
    out_.write(Offset{{0}, {-options_.skew * (rank_ % 7)}});
    out_.write_group(GroupId{0}, 1, nullptr, options_.ranks);
    out_.write(MpiCommRef{CommId{0}, GroupId{0}});
    out_.write(CommIdentity{CommId{0}, Hash64{1}, Hash64{2}, Flags{0}});
    const bool paired = options_.kind == "gats" || options_.kind == "ahead";
    if (paired && partner() != rank_) {  // the group that both calls name
      const std::uint32_t other = partner();
      out_.write_group(GroupId{1}, 0, &other, 1);
      out_.write(MpiCommRef{CommId{1}, GroupId{1}});
      out_.write(CommIdentity{CommId{1}, Hash64{0}, Hash64{0}, Flags{8}});
    }
    if (!one_sided()) return;
    out_.write(MpiWin{WindowId{0}, CommId{0}});
    out_.write(WinIdentity{WindowId{0}, Hash64{3}, Hash64{4}, Flags{0}, Byte{1}, Byte{2}});
  }

  const Options& options_;
  TraceWriter& out_;
  LocationId lid_;
  std::uint32_t rank_;
  double shift_;
  std::uint32_t rmaid_ = 0;
  std::uint32_t strings_ = 0;
  bool defined_[kRegions] = {};
};

int usage() {
  std::fprintf(
      stderr,
      "usage: make_traces fence|lock|contend|served|hold|all|p2p|one|barrier|gats|ahead|chain "
      "DIRECTORY "
      "[--ranks N] [--events N] [--operations N] [--skew SECONDS] [--version 2|3]\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return usage();
  Options options;
  options.kind = argv[1];
  options.directory = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--ranks")
      options.ranks = static_cast<std::uint32_t>(std::atoll(argv[i + 1]));
    else if (option == "--events")
      options.events = static_cast<std::uint64_t>(std::atoll(argv[i + 1]));
    else if (option == "--operations")
      options.operations = static_cast<std::uint32_t>(std::atoll(argv[i + 1]));
    else if (option == "--skew")
      options.skew = std::atof(argv[i + 1]);
    else if (option == "--version")
      options.version = static_cast<std::uint8_t>(std::atoi(argv[i + 1]));
    else
      return usage();
  }
  const std::string& kind = options.kind;
  const auto kinds = {"fence", "lock", "contend", "served", "hold",  "all",
                      "p2p",   "one",  "barrier", "gats",   "ahead", "chain"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    return usage();
  }
  if (options.ranks == 0 || options.operations == 0) return usage();
  if (options.version != 2 && options.version != 3) return usage();
  ::mkdir(options.directory.c_str(), 0777);
  kojak::Dialect dialect;
  dialect.major = options.version;
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    auto writer = kojak::TraceWriter::create(
        options.directory + "/" + std::to_string(rank) + ".0.elg", dialect);
    if (!writer) {
      std::fprintf(stderr, "make_traces: %s\n", writer.error().message().c_str());
      return 4;
    }
    Rank(options, rank, *writer).run();
    if (const kojak::Status status = writer->commit(); !status) {
      std::fprintf(stderr, "make_traces: %s\n", status.error().message().c_str());
      return 4;
    }
  }
  return 0;
}
