// Writes the events of a merged trace as events of OTF2, in the words that readers of OTF2 know.
//
// One pass, in the order of the trace (GetTargets looks ahead). Fields for which OTF2 has no
// records become attributes (carried.h). An end of a transfer stands on the location of its origin,
// since OTF2 has no records at targets. Memory: what is open (regions, transfers that their origin
// has not completed, collective operations), and the ranks of communicators in use.
// Single-threaded; errors are the archive's. Source: OTF2_EvtWriter.h; docs/exchange.md, the table
// of records.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/elg2otf2/archive_writer.h"
#include "tools/elg2otf2/carried.h"
#include "tools/elg2otf2/get_targets.h"
#include "tools/elg2otf2/numbers.h"

namespace kojak::otf2 {

class EventWriter {
 public:
  // single_flags: no record has two synchronisation flags, since some readers know none or one.
  EventWriter(const Definitions& definitions, Numbers& numbers, ArchiveWriter& archive,
              GetTargets& targets, bool single_flags);
  ~EventWriter() { OTF2_AttributeList_Delete(attributes_); }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  template <class R>
  void attribute(const R& record) {
    if (held_) release();
    carried_.emplace_back(
        CarriedNames::attribute(static_cast<std::uint8_t>(R::kType), raw(record.kind)),
        raw(record.value));
  }
  template <class R>
  void event(const R& record) {
    if constexpr (std::is_same_v<R, MpiGet1ts>) {
      if (held_ && held_->rmaid == record.rmaid && raw(held_->lid) == raw(record.dlid)) {
        targets_.skip();
        release({PeerId{raw(record.lid)}, record.sent, true});
      }
    }
    if (held_) [[unlikely]]
      release();
    if constexpr (std::is_same_v<R, MpiGet1to>) {
      held_ = record;
      if (!carried_.empty()) release();
    } else {
      write(record);
    }
  }
  // Leaves what is open.
  void finish();

  std::uint64_t time_zero() const { return zero_; }
  std::uint64_t first_tick() const { return first_; }
  std::uint64_t last_tick() const { return last_; }

 private:
  struct Lock {
    WindowId window;
    PeerId target;  // absent: all
    bool exclusive, acquired;
  };
  struct Open {
    OTF2_RegionRef region;
    MpiRole role;
  };
  // The half of an atomic operation that gets: its number waits for the half that puts.
  struct AtomicGet {
    RmaId number = absent<RmaId>();
    WindowId window;
    std::uint32_t target;
    Bytes bytes;
  };
  struct Stream {
    OTF2_EvtWriter* out = nullptr;
    ProcessId process = absent<ProcessId>();
    std::uint64_t last = 0, entered = 0;
    bool just_entered = false;
    std::vector<Open> open;
    AtomicGet get;  // of the innermost call
    LatestOperations operations;
  };
  struct Operation {
    PeerId target;
    RmaId number;
  };
  struct Process {
    std::map<WindowId, std::vector<Operation>> operations;  // puts that it has not completed
    std::unordered_set<std::uint32_t> gets;            // issued, and their data have not started
    std::unordered_map<std::uint32_t, RmaId> atomics;  // gets that have not ended: their puts
    std::unordered_map<std::uint32_t, OTF2_RmaWinRef> shared;  // transfers of several models
    std::vector<Lock> locks;
    std::map<RequestId, MpiCollBegin> begun;
  };

  template <class R>
  void write(const R& record);
  // The get that is held, which reads from there.
  void release(const GetTargets::Target& target) {
    target_ = target;
    write(*held_);
    held_.reset();
  }
  void release() { release(targets_.next()); }
  Stream& at(std::uint32_t location) { return streams_[location]; }
  Process& process(const Stream& stream);
  MpiRole role(OTF2_RegionRef region) const;
  MpiRole role(const Stream& stream) const {
    return stream.open.empty() ? MpiRole::kOther : stream.open.back().role;
  }
  // If the innermost call is an atomic operation.
  std::optional<OTF2_RmaAtomicType> atomic(const Stream& stream) const;

  void add(std::size_t name, OTF2_Type type, OTF2_AttributeValue value) {
    archive_.check(OTF2_AttributeList_AddAttribute(
        attributes_, kFirstCarried + static_cast<std::uint32_t>(name), type, value));
    any_ = true;
  }
  void add(std::size_t name, std::uint64_t value) {
    OTF2_AttributeValue v;
    v.uint64 = value;
    add(name, OTF2_TYPE_UINT64, v);
  }
  void add(std::size_t name, Seconds value) {
    OTF2_AttributeValue v;
    v.float64 = value.value;
    add(name, OTF2_TYPE_DOUBLE, v);
  }
  // The attributes of an event, once; then they are gone.
  OTF2_AttributeList* attributes() { return attributes_; }
  void clear() {
    if (!any_) return;
    OTF2_AttributeList_RemoveAllAttributes(attributes_);
    any_ = false;
  }

  std::uint64_t tick_of(Seconds time);
  std::uint64_t begin(std::uint32_t location, LocationId lid, Seconds time, LocationId assumed);
  // The location that readers assume of an event there.
  template <class R>
  LocationId location_of(const R& record, const Stream& stream, bool known) const;
  void add_carried() {
    for (const auto& [name, value] : carried_) {
      if (name != 0) add(name, value);
    }
  }
  // All fields of a record and its type.
  template <class R>
  void carry(const R& record);
  // The fields in which it differs from what readers assume.
  template <class R>
  void carry(const R& record, const R& assumed);
  template <class R>
  void write_metrics(Stream& stream, std::uint64_t tick, const R& record);
  template <class R>
  void parameter(Stream& stream, std::uint64_t tick, const R& record);
  template <class R>
  void enter(Stream& stream, std::uint64_t tick, const R& record);
  template <class R>
  void leave(Stream& stream, std::uint64_t tick, const R& record);
  // What OTF2 has an event of its own for, in event_records.cc. False: for this record it has none.
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiSendComplete& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiRecvRequest& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiRequestTested& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiCancelled& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiCollBegin& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiRequestComplete& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiWinLock& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiWinLockAll& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiWinUnlock& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiWinUnlockAll& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiWinFlush& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiPut1ts& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiGet1to& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiGet1ts& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiPut1te& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiGet1te& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const Put1ts& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const Get1ts& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const Put1te& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const Get1te& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const OmpFork& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const OmpJoin& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const OmpALock& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const OmpRLock& r);
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiSend& r) {
    return message(stream, tick, r);
  }
  bool as_otf2(Stream& stream, std::uint64_t tick, const MpiRecv& r) {
    return message(stream, tick, r);
  }
  template <class R>
  bool as_otf2(Stream&, std::uint64_t, const R&) {
    return false;
  }
  bool written(OTF2_ErrorCode code) {
    archive_.check(code);
    return true;
  }
  // What stands before an exit, for readers of OTF2. False if nothing does.
  bool before(Stream& stream, std::uint64_t tick, const MpiCollExit& record);
  bool before(Stream& stream, std::uint64_t tick, const MpiWinExit& record);
  bool before(Stream& stream, std::uint64_t tick, const MpiWinCollExit& record);
  // What readers assume of an exit with such events before it.
  MpiCollExit assumed(const MpiCollExit& record);
  MpiWinExit assumed(const MpiWinExit& record) const;
  MpiWinCollExit assumed(const MpiWinCollExit& record) const { return record; }
  // An atomic operation that only got.
  void finish_atomic(Stream& stream, std::uint64_t tick);
  // By the number of an operation in MPI_COLL_BEGIN.
  static OTF2_CollectiveOp collective_of(std::uint8_t operation);
  // The count of a record, or that of the attribute before it.
  std::uint64_t bytes(Bytes count, Byte attribute = kAttrBytesSent) const;
  std::uint32_t root_of(CommId comm, PeerId root);
  std::uint64_t call_begin(Stream& stream, std::uint64_t tick) const {
    return stream.just_entered ? stream.entered : tick;
  }
  // False if the other process is no member of the communicator.
  template <class R>
  bool message(Stream& stream, std::uint64_t tick, const R& record);
  // A transfer without a window begins, ends: in the memory that the model shares whose call this
  // is.
  OTF2_RmaWinRef shared_memory(const Stream& stream) const;
  template <class R>
  bool begins(Stream& stream, std::uint64_t tick, const R& record, std::uint32_t target);
  template <class R>
  bool ends(Stream& stream, std::uint64_t tick, const R& record);
  void complete(Stream& stream, std::uint64_t tick, WindowId window, PeerId target);
  void acquire(Stream& stream, std::uint64_t tick, WindowId window, PeerId target);
  void lock(Stream& stream, std::uint64_t tick, Seconds time, const Lock& lock);
  void unlock(Stream& stream, std::uint64_t tick, WindowId window, PeerId target);
  std::uint32_t remote(WindowId window, PeerId target) {
    return is_absent(target) ? OTF2_UNDEFINED_UINT32 : numbers_.window_rank(window, target);
  }
  OTF2_RmaSyncLevel level(bool memory) const {
    return memory && !single_flags_ ? OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY
                                    : OTF2_RMA_SYNC_LEVEL_PROCESS;
  }

  const Definitions& definitions_;
  Numbers& numbers_;
  ArchiveWriter& archive_;
  GetTargets& targets_;
  std::optional<MpiGet1to> held_;  // until the next record is known, which may tell its target
  GetTargets::Target target_;      // of the latest get that was issued
  bool single_flags_, grants_;
  std::vector<Stream> streams_;
  std::vector<Process> processes_;  // by location; those of threads stay empty
  std::vector<std::uint32_t> process_of_;
  OTF2_AttributeList* attributes_ = OTF2_AttributeList_New();
  bool any_ = false;
  std::vector<std::pair<std::size_t, std::uint64_t>> carried_;  // attribute records
  Place place_;                                                 // of the latest event
  std::uint64_t zero_ = 0, first_ = 0, last_ = 0;
  bool started_ = false;
  bool timed_ = false, placed_ = false;  // its attributes tell them
};

}  // namespace kojak::otf2

#include "tools/elg2otf2/event_writer_impl.h"
