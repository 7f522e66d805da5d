// The most severe instances of each pattern, and whom the waits of each place were for.
//
// An instance is an operation (expert/waits/wait.h) with all that waited in it, ranked by the
// sum of their waiting. Filled with every wait of an analysis; keeps a fixed number of instances
// for each metric and one for each place (metric and call path), so memory does not grow with the
// trace. Waits of a scattered operation (a turn at a lock) are put together as long as fewer than
// kOpenOfLocation for each location of its metric's operations came after it (at least kLeastOpen,
// at most kMostOpen), and the stage of the analysis lasts; then it counts with what it has. No
// allocation for a wait that is not among the worst, once the lists have their size. What is no
// pattern's has no instances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "earl/aspects/collectives.h"
#include "earl/aspects/window_collectives.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

// A call that waited in an instance.
struct Waiter {
  LocationIndex location = 0;
  CallPathIndex call_path = 0;
  Seconds enter, exit;  // of the call
  TimeSum waiting;
  EndedBy ended_by;
};

struct Instance {
  MetricIndex metric = 0;
  Operation operation;
  TimeSum waiting;              // of all that waited
  Seconds begin, end;           // from when the first to when the last waited
  std::vector<Waiter> waiters;  // the longest wait first, at most Instances::kListed
  std::uint64_t further = 0;    // that are not listed
  // Of the longest wait of those in WaitResults::worst: for how many seconds at least the one that
  // it was for had no processor.
  double without_processor = 0;
  std::uint32_t part = 0;  // of the run, in which it was found

  template <class Archive>
  void visit(Archive& archive) {
    archive(metric, operation, waiting, begin, end, waiters, further);
  }
};

// For whom the calls of one pattern at one call path waited, the most waited for first.
struct Partner {
  LocationIndex location = 0;
  CallPathIndex call_path = 0;  // of the call that ended the waits
  bool at_exit = false;
  TimeSum waited;
};

// What became of all waits.
struct WaitResults {
  std::vector<Instance> worst;      // by metric, the most severe first
  std::vector<Instance> of_places;  // the worst of each metric and call path, the same way
  std::unordered_map<std::uint64_t, std::vector<Partner>> partners;  // by place()

  // Windows, communicators and allocations by number, and a call that created each.
  std::unordered_map<std::uint32_t, CallPathIndex> windows, communicators, allocations;

  static std::uint64_t place(MetricIndex metric, CallPathIndex call_path) {
    return std::uint64_t{metric} << 32 | call_path;
  }
};

class Instances {
 public:
  static constexpr std::size_t kListed = 256, kPlaces = 1000;
  // Few enough that they stay in the processor's cache until they are closed.
  static constexpr std::size_t kLeastOpen = 1 << 10, kMostOpen = 1 << 14, kOpenOfLocation = 16;

  Instances(std::size_t per_metric, std::size_t locations)
      : limit_(per_metric),
        most_open_(std::clamp(kOpenOfLocation * locations, kLeastOpen, kMostOpen)) {}

  void on_wait(const Wait& wait);
  void on_stage() { close_all(); }
  void on_moved(CallPathIndex path, LocationIndex location, MetricIndex from,
                std::optional<MetricIndex> /*to*/) {
    moved_.insert({from, path, location});
  }
  void on_window_collective(const earl::WindowInstance& instance) {
    if (instance.complete && instance.role == MpiRole::kWinCreate) {
      windows_.emplace(raw(instance.window), raw(instance.members.front().call.cnode));
    }
  }
  void on_comm_created(const earl::OpenCall& call, CommId communicator) {
    communicators_.emplace(raw(communicator), raw(call.cnode));
  }
  void on_collective_exit(const earl::CollectiveExit& exit) {
    if (exit.allocation != 0) [[unlikely]]
      allocations_.emplace(exit.allocation, raw(exit.call->cnode));
  }
  // What another one was told of, behind this one; its call path p is paths[p] here.
  void add(Instances& other, std::span<const CallPathIndex> paths);
  template <class Archive>
  void visit(Archive& archive) {
    close_all();
    std::uint64_t metrics = metrics_.size();
    archive(metrics);
    metrics_.resize(metrics);
    for (OfMetric& of : metrics_) archive(of.worst);
    // (Nothing is moved in a part.)
    archive(of_places_, partners_, windows_, communicators_, allocations_);
  }
  // Once, after all waits.
  WaitResults finish();

 private:
  struct OfMetric {
    Instance open;                    // whose waits come now
    std::vector<Instance> scattered;  // open ones, of which a new one takes the oldest's place
    std::unordered_map<std::uint64_t, std::size_t> numbers;  // operation -> place there
    std::size_t oldest = 0;
    std::vector<Instance> worst;  // a heap, its front the least
  };
  struct Key {
    std::uint64_t place;
    LocationIndex location;
    CallPathIndex call_path;
    bool at_exit;
    LocationIndex waiter;  // of waits that may be moved
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      std::uint64_t h = k.place * 0x9E3779B97F4A7C15u;
      h ^= (std::uint64_t{k.location} << 32 | k.call_path) + (h >> 29);
      return static_cast<std::size_t>((h ^ (h >> 32)) * 0xBF58476D1CE4E5B9u);
    }
  };

  void append(Instance& instance, const Wait& wait);
  Instance& scattered(OfMetric& of, std::uint64_t number);
  void close(OfMetric& of, Instance& instance);
  void close_all();
  void count_partner(const Wait& wait);
  bool moved(const Instance& instance) const {
    const Waiter& longest = instance.waiters.front();
    return moved_.contains({instance.metric, longest.call_path, longest.location});
  }
  void leave_out_moved(WaitResults& results) const;

  std::size_t limit_, most_open_;
  std::uint32_t parts_ = 0;  // that were added
  std::vector<OfMetric> metrics_;
  std::unordered_map<std::uint64_t, Instance> of_places_;
  std::unordered_map<Key, TimeSum, Hash> partners_;
  Key last_key_{};
  TimeSum* last_partner_ = nullptr;
  // Whose waits do not count: metric, call path, location.
  std::set<std::tuple<MetricIndex, CallPathIndex, LocationIndex>> moved_;
  // See WaitResults.
  std::unordered_map<std::uint32_t, CallPathIndex> windows_, communicators_, allocations_;
};

}  // namespace kojak::expert
