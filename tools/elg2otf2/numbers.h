// How what a trace defines is numbered in its archive: locations from 0 on, by their identifiers;
// processes by rank; regions, communicators, windows and call sites as in the trace. What SHMEM,
// ARMCI and UPC share is a window of its own for each of them that the trace has regions of.
//
// Refers to the definitions, which must outlive it. Memory: the ranks of communicators in use.
// Single-threaded.
#pragma once

#include <otf2/otf2.h>

#include <unordered_map>
#include <vector>

#include "epilog/format/definitions.h"

namespace kojak::otf2 {

// References that definitions and events share.
inline constexpr OTF2_AttributeRef kPlaceAttribute = 0, kFirstCarried = 1;
inline constexpr OTF2_ParameterRef kRecordParameter = 0;
inline constexpr OTF2_MetricRef kMetricClass = 0;

// How identifiers of the trace are numbered in the archive.
class Numbers {
 public:
  explicit Numbers(const Definitions& definitions);

  std::uint32_t locations() const { return static_cast<std::uint32_t>(lids_.size()); }
  LocationId lid(std::uint32_t location) const { return lids_[location]; }
  std::uint32_t location(LocationId lid) const {
    const std::uint32_t* index = location_.find(lid);
    return index == nullptr ? kAbsent : *index;
  }
  ProcessId process(std::uint32_t location) const { return process_[location]; }
  std::uint32_t processes() const { return static_cast<std::uint32_t>(main_.size()); }
  // Of a process's first thread; absent if it has no trace.
  std::uint32_t main(std::uint32_t rank) const {
    return rank < main_.size() ? main_[rank] : kAbsent;
  }
  // A region that no definition introduced has one number, as a place for its time.
  OTF2_RegionRef region(RegionId id) const {
    return definitions_.regions.find(id) != nullptr ? raw(id) : unknown_region_;
  }
  OTF2_RegionRef unknown_region() const { return unknown_region_; }
  OTF2_RegionRef tracing() const { return tracing_; }
  OTF2_RegionRef pausing() const { return pausing_; }
  // Communicators and groups have numbers without gaps. Undefined if no definition introduced it.
  OTF2_CommRef comm(CommId id) const {
    const CommNumbers* numbers = comms_.find(id);
    return numbers == nullptr ? OTF2_UNDEFINED_COMM : numbers->comm;
  }
  CommId comm_of(OTF2_CommRef ref) const {
    return ref < comm_ids_.size() ? comm_ids_[ref] : absent<CommId>();
  }
  OTF2_GroupRef group(CommId id) const {
    const CommNumbers* numbers = comms_.find(id);
    return numbers == nullptr ? OTF2_UNDEFINED_GROUP : numbers->group;
  }
  // The communicator, or the group of processes that one stands for, whose own group it is.
  CommId of_group(OTF2_GroupRef ref) const {
    return ref < group_ids_.size() ? group_ids_[ref] : absent<CommId>();
  }
  OTF2_GroupRef remote_group(CommId id) const { return group(id) + 1; }
  // A world rank's number in a communicator, of an intercommunicator that of the other side;
  // absent if it is no member.
  std::uint32_t rank(CommId id, PeerId peer);
  std::uint32_t window_rank(WindowId id, PeerId peer);

  // The memory of all processes that a model's transfers work on; its communicator and groups.
  struct SharedMemory {
    PgasModel model{};
    OTF2_RmaWinRef window = OTF2_UNDEFINED_RMA_WIN;
    OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
    OTF2_GroupRef members = OTF2_UNDEFINED_GROUP, locations = OTF2_UNDEFINED_GROUP;
  };
  const std::vector<SharedMemory>& shared_memories() const { return shared_; }

 private:
  // A communicator's, by process.
  struct Ranks {
    const RankList* members = nullptr;
    std::unordered_map<std::uint32_t, std::uint32_t> others;  // empty: all in order
  };
  const Ranks* ranks_of(CommId id);
  const Definitions& definitions_;
  std::vector<LocationId> lids_;
  std::vector<ProcessId> process_;
  IdTable<LocationId, std::uint32_t> location_;
  std::vector<std::uint32_t> main_;
  OTF2_RegionRef unknown_region_ = 0, tracing_ = 0, pausing_ = 0;
  struct CommNumbers {
    OTF2_CommRef comm;
    OTF2_GroupRef group;
  };
  IdTable<CommId, CommNumbers> comms_;
  std::vector<CommId> comm_ids_, group_ids_;
  std::vector<SharedMemory> shared_;
  std::unordered_map<std::uint32_t, Ranks> ranks_;  // by communicator
  CommId latest_comm_ = absent<CommId>();
  const Ranks* latest_ = nullptr;  // its ranks
};

}  // namespace kojak::otf2
