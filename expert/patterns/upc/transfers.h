// UPC: much of the data at one thread, or between two; and many small accesses where one would do.
// Source: UPC paper 2002, its patterns of transfers by the amount of data; the rules are kojak's
// own.
//
// What is too much is known at the end of the trace. Memory: call paths x threads that they move
// data to or from. Not thread-safe; nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "earl/aspects/transfers.h"
#include "earl/trace.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

struct UpcHotThread {
  static constexpr Metric kMetric{
      .name = "upc_hot_thread",
      .title = "Hot Thread",
      .unit = Unit::kBytes,
      .kind = Metric::Kind::kSummand,
      .summary =
          "Bytes that threads move to and from a thread whose memory is used more than twice as "
          "much as the mean, beyond that mean.",
      .formula =
          "bytes(c) x (1 - m / B(t)), B(t) = bytes that others put to and get from t, m = the mean "
          "of B over all threads; where B(t) > 2 m. For a thread t they add up to B(t) - m",
      .meaning =
          "The data that everybody needs lie at one thread: its memory, its network interface and, "
          "where it must answer, its processor serve all others. Collective operations do not "
          "count.",
      .advice =
          "Distribute the data (another block size), keep copies of what is read often, or use a "
          "collective operation.",
      .needs = Needs::kUpc,
      .fractions = true};
  static constexpr double kTimesMean = 2;
};

struct UpcHotPair {
  static constexpr Metric kMetric{
      .name = "upc_hot_pair",
      .title = "Hot Pair",
      .unit = Unit::kBytes,
      .kind = Metric::Kind::kSummand,
      .summary =
          "Bytes that a thread moves to and from another, where that is more than four times the "
          "mean of all pairs, beyond that mean.",
      .formula =
          "bytes(c) x (1 - m / B(o, t)), B(o, t) = bytes that o puts to and gets from t, m = the "
          "mean of B over all pairs of two threads; where B(o, t) > 4 m and t is no Hot Thread",
      .meaning = "Two threads share far more data than others do.",
      .advice = "Give the data to the thread that uses them, or place the two threads on one node.",
      .needs = Needs::kUpc,
      .fractions = true};
  static constexpr double kTimesMean = 4;
};

struct UpcFineGrained {
  static constexpr Metric kMetric{
      .name = "upc_fine_grained",
      .title = "Fine-Grained Access",
      .unit = Unit::kOccurrences,
      .kind = Metric::Kind::kSummand,
      .summary =
          "Accesses to single elements of another thread's memory where one transfer would "
          "do for several.",
      .formula =
          "k - 1 for each series of k upc_get, or k upc_put, of one thread at one line with one "
          "other thread, each beginning where the one before ended (or, three or more, at one "
          "constant distance), with nothing that synchronises in between",
      .meaning =
          "Each access to an element of another thread is a message or two. A loop over elements "
          "that lie together pays that for each of them.",
      .advice =
          "Use upc_memget or upc_memput for the whole block, or work on the elements where they "
          "lie (the affinity of upc_forall).",
      .needs = Needs::kUpc};
};

class UpcTransfers {
 public:
  explicit UpcTransfers(const earl::Trace& trace);

  // Out: see out.h.
  template <class Out>
  void on_transfer(const earl::Transfer& transfer, Out& out) {
    const ShmemFunction* const function = function_of(*transfer.call);
    if (function == nullptr || transfer.origin == transfer.target) return;
    if (transfer.call->index >= series_.size()) return;
    const std::uint64_t bytes = raw(transfer.bytes);
    moved_[{raw(transfer.call->cnode), transfer.call->index, raw(transfer.target)}] += bytes;
    origins_[transfer.call->index] = raw(transfer.origin);
    if (transfer.call->region != get_ && transfer.call->region != put_) return;
    const std::uint64_t needless = join(transfer, bytes);
    if (needless != 0) out.add(UpcFineGrained{}, *transfer.call, needless);
  }
  // A call that synchronises ends all series of its location.
  void on_enter(const earl::OpenCall& call) {
    const ShmemFunction* const function = function_of(call);
    if (function != nullptr && function->family != MpiFamily::kRma) ends(call.index);
  }
  void on_quiet(const earl::OpenCall& call) {
    if (function_of(call) != nullptr) ends(call.index);
  }
  // f(metric, call path, location, bytes) for all that is too much.
  template <class F>
  void finish(F&& f) const {
    const Means means = count();
    for (const auto& [where, bytes] : moved_) {
      const auto& [path, location, target] = where;
      const auto whole = static_cast<double>(bytes);
      const double of_thread = means.thread(target);
      const double of_pair = means.pair(origins_[location], target);
      if (means.is_hot(target)) {
        f(UpcHotThread{}, path, location, whole * (1 - means.of_threads / of_thread));
      } else if (of_pair > UpcHotPair::kTimesMean * means.of_pairs) {
        f(UpcHotPair{}, path, location, whole * (1 - means.of_pairs / of_pair));
      }
    }
  }

 private:
  // The latest accesses at one line.
  struct Series {
    std::uint32_t target = kAbsent;
    std::uint64_t offset = 0, bytes = 0;  // of the last one
    enum class Step : std::uint8_t { kFirst, kNext, kStride } step = Step::kFirst;
    std::uint64_t distance = 0;  // of a stride, modulo 2^64
    bool told = false;           // the stride has been seen twice
  };
  struct Means {
    std::map<std::uint32_t, std::uint64_t> threads;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> pairs;
    double of_threads = 0, of_pairs = 0;
    double thread(std::uint32_t t) const { return static_cast<double>(threads.at(t)); }
    double pair(std::uint32_t o, std::uint32_t t) const {
      return static_cast<double>(pairs.at({o, t}));
    }
    bool is_hot(std::uint32_t t) const { return thread(t) > UpcHotThread::kTimesMean * of_threads; }
  };

  const ShmemFunction* function_of(const earl::OpenCall& call) const {
    if (call.function != nullptr) return nullptr;
    const ShmemFunction* const function = definitions_.shmem(call.region);
    return function != nullptr && function->model == PgasModel::kUpc ? function : nullptr;
  }
  void ends(LocationIndex location) {
    if (location < series_.size()) series_[location].clear();
  }
  // How many accesses it shows to have been needless.
  std::uint64_t join(const earl::Transfer& transfer, std::uint64_t bytes);
  Means count() const;

  const Definitions& definitions_;
  RegionId get_ = absent<RegionId>(), put_ = absent<RegionId>();
  std::uint32_t processes_ = 0;
  // Bytes by call path, location and the other thread.
  std::map<std::tuple<CallPathIndex, LocationIndex, std::uint32_t>, std::uint64_t> moved_;
  std::vector<std::uint32_t> origins_;                   // processes, by location
  std::vector<std::map<CallPathIndex, Series>> series_;  // by location
};

}  // namespace kojak::expert
