// What a report says of processors: whether the threads had one when they wanted to run. Plain
// values; times in seconds; nothing fails. processors.h makes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

struct ProcessorUse {
  struct Thread {
    LocationIndex location = 0;
    CallPathIndex root = 0;  // its outermost region
    double covered = 0;      // between its first and last reading
    double ran = 0;
    double wanted = 0;  // ready to run, and no processor was free
    std::uint64_t preempted = 0;
    // Outside of calls, where it was looked at (looked_at).
    double blocked = 0, no_processor = 0;
  };
  // Processes of one node that may use the same processors, which are fewer than they are.
  struct Sharing {
    std::string node;
    std::string processors;  // "0-3,8"
    std::size_t processes = 0;
    std::size_t count = 0;  // of processors
  };
  // What a control group allows the processes that are in it, on one node.
  struct Limit {
    std::string node, group;
    double processors = 0;
    std::uint64_t stops = 0;  // how often the kernel stopped them for it,
    double stopped = 0;       // and how long, all of them together
  };
  std::vector<Thread> threads;  // those with readings, by location
  std::vector<bool>
      looked_at;  // by location: there are readings around what it did outside of calls
  std::vector<Sharing> sharing;
  std::vector<Limit> limits;
  std::string unknown;  // why there are no readings, where the run says so

  bool is_looked_at(LocationIndex location) const {
    return location < looked_at.size() && looked_at[location];
  }
  double covered() const;
  double wanted() const;
  // The thread that had no processor for the largest part of its time; null if there are no
  // threads.
  const Thread* worst() const;
};

// Processes that share processors, from RUN_PROPERTY processor.allowed.
std::vector<ProcessorUse::Sharing> sharing_of(const Definitions& definitions);
// Limits that stopped processes, from RUN_PROPERTY processor.limit and processor.stopped.
std::vector<ProcessorUse::Limit> limits_of(const Definitions& definitions);
// How many a list like "0-3,8" names; 0 if it is none.
std::size_t count_processors(const std::string& list);

}  // namespace kojak::expert
