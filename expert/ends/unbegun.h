// Collective operations that some members never began or never reached: which operations, on which
// communicator, and which members are missing.
//
// Nobody knows when the missing ones began, so no wait for such an operation is evaluated. Where a
// member has waited for it, and can have waited for others, a severity is too low; where none has,
// only less is known: an MPI_Test waits for nobody, nor does the root of a broadcast.
//
// Filled at the end of a replay; memory: kinds of operations on each communicator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "earl/aspects/collectives.h"
#include "epilog/format/definitions.h"
#include "expert/sums/setting.h"

namespace kojak::expert {

class Unbegun {
 public:
  explicit Unbegun(const Setting& setting) : definitions_(setting.definitions()) {}
  void on_collective(const earl::CollectiveInstance& instance) {
    if (!instance.complete) add(instance);
  }
  void on_collective_unbegun(const earl::CollectiveInstance& instance) { add(instance); }
  // Non-blocking and persistent operations; calls that all members make together, as the creation
  // of a communicator. Others are left to a finding of their own.
  void add(const earl::CollectiveInstance& instance);
  bool any() const { return !kinds_[0].empty() || !kinds_[1].empty(); }
  // Of those that make a severity too low, or of the others: how many, and
  // "MPI_Ibarrier on communicator 0, not by rank 2"; the most frequent first, at most three.
  std::uint64_t count(bool waited) const;
  std::string words(bool waited) const;

 private:
  struct Kind {
    std::uint64_t count = 0;
    std::string missing;  // of the first
  };
  using Kinds = std::map<std::pair<std::string, std::uint32_t>, Kind>;  // by name, communicator
  const Definitions& definitions_;
  Kinds kinds_[2];  // waited for, or not
};

}  // namespace kojak::expert
