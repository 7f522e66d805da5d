// What the OTF2 library tells of events, each kind in a few lines. Long because there are many
// kinds.
#include <algorithm>
#include <iterator>

#include "epilog/format/collective_operations.h"
#include "epilog/format/field_values.h"
#include "tools/elg2otf2/atomics.h"
#include "tools/otf2elg/converter.h"

namespace kojak::otf2 {
namespace {

constexpr std::uint8_t kPut = 1, kGet = 2, kGetAndPut = 3;

// By OTF2's numbers of collective operations.
constexpr CollectiveOp kOperations[] = {CollectiveOp::kBarrier,
                                        CollectiveOp::kBcast,
                                        CollectiveOp::kGather,
                                        CollectiveOp::kGatherv,
                                        CollectiveOp::kScatter,
                                        CollectiveOp::kScatterv,
                                        CollectiveOp::kAllgather,
                                        CollectiveOp::kAllgatherv,
                                        CollectiveOp::kAlltoall,
                                        CollectiveOp::kAlltoallv,
                                        CollectiveOp::kAlltoallw,
                                        CollectiveOp::kAllreduce,
                                        CollectiveOp::kReduce,
                                        CollectiveOp::kReduceScatter,
                                        CollectiveOp::kScan,
                                        CollectiveOp::kExscan,
                                        CollectiveOp::kReduceScatterBlock};

}  // namespace

// The library's callbacks, each a few lines.
struct Callbacks {
  static Converter& of(void* self) { return *static_cast<Converter*>(self); }
  static constexpr auto kGoOn = OTF2_CALLBACK_SUCCESS;

#define KOJAK_EVENT(name, ...)                                                                     \
  static OTF2_CallbackCode name(                                                                   \
      [[maybe_unused]] OTF2_LocationRef location, OTF2_TimeStamp ticks, std::uint64_t, void* self, \
      [[maybe_unused]] OTF2_AttributeList* attributes __VA_OPT__(, ) __VA_ARGS__)

  KOJAK_EVENT(enter, OTF2_RegionRef region) {
    Converter& c = of(self);
    CallSiteId site = absent<CallSiteId>();
    OTF2_SourceCodeLocationRef place = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
    if (c.definitions_.place_attribute != OTF2_UNDEFINED_ATTRIBUTE &&
        OTF2_AttributeList_GetSourceCodeLocationRef(attributes, c.definitions_.place_attribute,
                                                    &place) == OTF2_SUCCESS) {
      site = c.out_.site(place, c.out_.region(region).id);
    }
    c.enter(c.seconds(ticks), region, site);
    return kGoOn;
  }
  KOJAK_EVENT(leave, OTF2_RegionRef region) {
    Converter& c = of(self);
    const Seconds time = c.seconds(ticks);
    if (!c.stack_.empty() && c.stack_.back().ref != region) {
      ++c.left_out_["LEAVE of another region than the innermost"];
      return kGoOn;
    }
    if (!c.stack_.empty() && c.stack_.back().region != nullptr &&
        c.stack_.back().region->openmp_barrier) {
      c.stack_.back().leaves = Converter::Leaves::kTeam;
    }
    c.leave(time);
    return kGoOn;
  }
  KOJAK_EVENT(program_begin, OTF2_StringRef name, std::uint32_t, const OTF2_StringRef*) {
    Converter& c = of(self);
    const Seconds time = c.seconds(ticks);
    const RegionId region = c.out_.program(name);
    c.write(Enter{c.out_.lid(), time, region, {}});
    return kGoOn;
  }
  KOJAK_EVENT(program_end, std::int64_t) {
    Converter& c = of(self);
    const Seconds time = c.seconds(ticks);
    while (!c.stack_.empty()) c.leave(time);
    c.write(Exit{c.out_.lid(), time, {}});
    return kGoOn;
  }
  KOJAK_EVENT(flush, OTF2_TimeStamp until) {
    Converter& c = of(self);
    c.write(EnterTracing{c.out_.lid(), c.seconds(ticks), {}});
    --c.events_;
    c.write(ExitTracing{c.out_.lid(), c.seconds(until), {}});
    return kGoOn;
  }
  KOJAK_EVENT(on_off, OTF2_MeasurementMode mode) {
    Converter& c = of(self);
    const Seconds time = c.seconds(ticks);
    ++c.left_out_["recording switched on or off: what was called meanwhile is not known"];
    if (mode == OTF2_MEASUREMENT_OFF) {
      c.write(LogOff{c.out_.lid(), time, {}});
    } else {
      c.write(LogOn{c.out_.lid(), time, {}});
    }
    return kGoOn;
  }

  // ---- messages
  // R: MpiSend or MpiRecv; `other` is the process at the other end.
  template <class R>
  static void message(Converter& c, Seconds time, std::uint32_t other, OTF2_CommRef ref,
                      std::uint32_t tag, std::uint64_t bytes, const RequestId* request) {
    constexpr bool kSends = std::is_same_v<R, MpiSend>;
    const CommId comm = c.out_.comm(ref);
    const std::uint32_t peer = c.out_.peer(ref, other);
    if (peer == kNobody) {
      ++c.left_out_[kSends ? "message to a process that is not known"
                           : "message from a process that is not known"];
      return;
    }
    c.write_enter();
    if (request != nullptr) c.out_.write(AttrUi4{kAttrRequest, Count{raw(*request)}});
    const Bytes field = c.bytes_field(kSends ? kAttrBytesSent : kAttrBytesReceived, bytes);
    c.out_.write(R{c.out_.lid(), time, PeerId{peer}, comm, Tag{tag}, field});
  }
  KOJAK_EVENT(send, std::uint32_t receiver, OTF2_CommRef comm, std::uint32_t tag,
              std::uint64_t bytes) {
    Converter& c = of(self);
    message<MpiSend>(c, c.seconds(ticks), receiver, comm, tag, bytes, nullptr);
    return kGoOn;
  }
  KOJAK_EVENT(isend, std::uint32_t receiver, OTF2_CommRef comm, std::uint32_t tag,
              std::uint64_t bytes, std::uint64_t number) {
    Converter& c = of(self);
    const RequestId request = c.request(number);
    message<MpiSend>(c, c.seconds(ticks), receiver, comm, tag, bytes, &request);
    return kGoOn;
  }
  KOJAK_EVENT(isend_complete, std::uint64_t number) {
    Converter& c = of(self);
    const RequestId request = c.request(number);
    c.write(MpiSendComplete{c.out_.lid(), c.seconds(ticks), request});
    c.requests_.erase(number);
    return kGoOn;
  }
  // Where from the message comes is known at its end.
  KOJAK_EVENT(irecv_request, std::uint64_t number) {
    Converter& c = of(self);
    const RequestId request = c.request(number);
    const MpiRecvRequest record{c.out_.lid(),     c.seconds(ticks), request,
                                absent<PeerId>(), absent<CommId>(), absent<Tag>()};
    c.write_enter();
    c.posted_[number] = {c.out_.offset(), record};
    c.out_.write(record);
    return kGoOn;
  }
  KOJAK_EVENT(recv, std::uint32_t sender, OTF2_CommRef comm, std::uint32_t tag,
              std::uint64_t bytes) {
    Converter& c = of(self);
    message<MpiRecv>(c, c.seconds(ticks), sender, comm, tag, bytes, nullptr);
    return kGoOn;
  }
  KOJAK_EVENT(irecv, std::uint32_t sender, OTF2_CommRef comm, std::uint32_t tag,
              std::uint64_t bytes, std::uint64_t number) {
    Converter& c = of(self);
    const Seconds time = c.seconds(ticks);
    const auto posted = c.posted_.find(number);
    if (posted == c.posted_.end()) {  // by another thread
      message<MpiRecv>(c, time, sender, comm, tag, bytes, nullptr);
      return kGoOn;
    }
    MpiRecvRequest& record = posted->second.record;
    record.slid = PeerId{c.out_.peer(comm, sender)};
    record.cid = c.out_.comm(comm);
    record.tag = Tag{tag};
    c.out_.replace(posted->second.offset, record);
    message<MpiRecv>(c, time, sender, comm, tag, bytes, &record.reqid);
    c.posted_.erase(posted);
    c.requests_.erase(number);
    return kGoOn;
  }
  KOJAK_EVENT(request_test, std::uint64_t number) {
    Converter& c = of(self);
    const Seconds time = c.seconds(ticks);
    if (c.requests_.contains(number)) {
      c.write(MpiRequestTested{c.out_.lid(), time, c.request(number)});
    }
    return kGoOn;
  }
  KOJAK_EVENT(request_cancelled, std::uint64_t number) {
    Converter& c = of(self);
    c.write(MpiCancelled{c.out_.lid(), c.seconds(ticks), c.request(number)});
    c.posted_.erase(number);
    c.requests_.erase(number);
    return kGoOn;
  }

  // ---- collective operations
  static std::uint32_t root_of(Converter& c, OTF2_CommRef comm, std::uint32_t root) {
    if (root == OTF2_COLLECTIVE_ROOT_SELF) return c.out_.rank();
    if (root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP) return kAbsent;
    return c.out_.peer(comm, root);
  }
  KOJAK_EVENT(collective_begin) {
    of(self).seconds(ticks);
    return kGoOn;
  }
  KOJAK_EVENT(collective_end, OTF2_CollectiveOp operation, OTF2_CommRef comm, std::uint32_t root,
              std::uint64_t bytes_sent, std::uint64_t bytes_received) {
    Converter& c = of(self);
    c.seconds(ticks);
    Converter::Frame& frame = c.call();
    frame.comm = c.out_.comm(comm);
    if (is_absent(frame.comm)) {
      ++c.left_out_["collective operation on a communicator that is not known"];
      return kGoOn;
    }
    if (operation >= OTF2_COLLECTIVE_OP_CREATE_HANDLE) {
      frame.created = operation == OTF2_COLLECTIVE_OP_CREATE_HANDLE;
      return kGoOn;
    }
    frame.leaves = Converter::Leaves::kCollective;
    frame.root = root_of(c, comm, root);
    frame.sent = bytes_sent;
    frame.received = bytes_received;
    return kGoOn;
  }
  KOJAK_EVENT(collective_request, std::uint64_t number) {
    Converter& c = of(self);
    const MpiCollBegin record{
        c.out_.lid(), c.seconds(ticks), c.request(number), absent<PeerId>(), absent<CommId>(),
        Count64{0},   Count64{0},       Byte{0},           Bytes64{0},       Bytes64{0}};
    c.write_enter();
    c.open_begun_[number] = c.begun_.size();
    c.begun_.push_back({c.out_.offset(), record, false});
    c.out_.write(record);
    return kGoOn;
  }
  KOJAK_EVENT(collective_complete, OTF2_CollectiveOp operation, OTF2_CommRef comm,
              std::uint32_t root, std::uint64_t bytes_sent, std::uint64_t bytes_received,
              std::uint64_t number) {
    Converter& c = of(self);
    const Seconds time = c.seconds(ticks);
    const auto open = c.open_begun_.find(number);
    if (open == c.open_begun_.end()) {
      ++c.left_out_["end of a non-blocking collective operation whose begin is not known"];
      return kGoOn;
    }
    Converter::Begun& begun = c.begun_[open->second];
    begun.record.cid = c.out_.comm(comm);
    begun.record.rlid = PeerId{root_of(c, comm, root)};
    begun.record.sent = Bytes64{bytes_sent};
    begun.record.recvd = Bytes64{bytes_received};
    if (operation < std::size(kOperations)) {
      begun.record.op = Byte{static_cast<std::uint8_t>(kOperations[operation])};
    }
    begun.complete = !is_absent(begun.record.cid);
    c.write(MpiRequestComplete{c.out_.lid(), time, begun.record.reqid, kDoneCollective});
    c.open_begun_.erase(open);
    c.requests_.erase(number);
    return kGoOn;
  }

  // ---- one-sided
  KOJAK_EVENT(win_create, OTF2_RmaWinRef window) {
    Converter& c = of(self);
    c.seconds(ticks);
    Converter::Frame& frame = c.call();
    const bool named = frame.region != nullptr && frame.region->function != nullptr;
    c.out_.window_is_made(window, named ? frame.region->function->name : std::string_view());
    frame.window = c.out_.window(window);
    frame.leaves = Converter::Leaves::kWindowCollective;
    return kGoOn;
  }
  KOJAK_EVENT(win_collective, OTF2_RmaWinRef window) {
    Converter& c = of(self);
    c.seconds(ticks);
    Converter::Frame& frame = c.call();
    frame.window = c.out_.window(window);
    frame.leaves = Converter::Leaves::kWindowCollective;
    return kGoOn;
  }
  KOJAK_EVENT(win_collective_end, OTF2_CollectiveOp, OTF2_RmaSyncLevel, OTF2_RmaWinRef window,
              std::uint32_t, std::uint64_t, std::uint64_t) {
    return win_collective(location, ticks, 0, self, attributes, window);
  }
  // At the call's beginning or end, according to the call; what counts is the call.
  KOJAK_EVENT(group_sync, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, OTF2_GroupRef group) {
    Converter& c = of(self);
    c.seconds(ticks);
    Converter::Frame& frame = c.call();
    switch (c.role()) {
      case MpiRole::kWinPost:
      case MpiRole::kWinStart:
        break;
      case MpiRole::kWinTest:
        if (level == OTF2_RMA_SYNC_LEVEL_NONE) return kGoOn;  // the test gave false
        [[fallthrough]];
      case MpiRole::kWinComplete:
      case MpiRole::kWinWait:
        frame.ends_epoch = true;
        break;
      default:
        ++c.left_out_["RMA_GROUP_SYNC outside of the calls of active target synchronisation"];
        return kGoOn;
    }
    frame.leaves = Converter::Leaves::kEpoch;
    frame.window = c.out_.window(window);
    frame.comm = c.out_.group(group);
    return kGoOn;
  }
  KOJAK_EVENT(request_lock, OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t,
              OTF2_LockType type) {
    Converter& c = of(self);
    c.seconds(ticks);
    Converter::Frame& frame = c.call();
    const bool all = remote == OTF2_UNDEFINED_UINT32;
    frame.lock = all ? Converter::Frame::Lock::kLockAll : Converter::Frame::Lock::kLock;
    frame.window = c.out_.window(window);
    frame.target = all ? kAbsent : c.out_.window_peer(window, remote);
    frame.exclusive = type == OTF2_LOCK_EXCLUSIVE;
    c.held_.push_back({window, frame.target});
    return kGoOn;
  }
  // Not needed: the merge finds out from the calls who held a lock.
  KOJAK_EVENT(acquire_lock, OTF2_RmaWinRef, std::uint32_t, std::uint64_t, OTF2_LockType) {
    of(self).seconds(ticks);
    return kGoOn;
  }
  KOJAK_EVENT(release_lock, OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t) {
    Converter& c = of(self);
    c.seconds(ticks);
    Converter::Frame& frame = c.call();
    const bool all = remote == OTF2_UNDEFINED_UINT32 || c.role() == MpiRole::kWinUnlockAll;
    frame.lock = all ? Converter::Frame::Lock::kUnlockAll : Converter::Frame::Lock::kUnlock;
    frame.window = c.out_.window(window);
    frame.target = all ? kAbsent : c.out_.window_peer(window, remote);
    std::erase_if(c.held_, [&](const Converter::Held& held) {
      return held.window == window && held.target == frame.target;
    });
    return kGoOn;
  }
  KOJAK_EVENT(put, OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes,
              std::uint64_t matching) {
    Converter& c = of(self);
    c.seconds(ticks);
    c.transfer(window, remote, kPut, bytes, 0, matching);
    return kGoOn;
  }
  KOJAK_EVENT(get, OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes,
              std::uint64_t matching) {
    Converter& c = of(self);
    c.seconds(ticks);
    c.transfer(window, remote, kGet, bytes, 0, matching);
    return kGoOn;
  }
  KOJAK_EVENT(atomic, OTF2_RmaWinRef window, std::uint32_t remote, OTF2_RmaAtomicType type,
              std::uint64_t bytes_sent, std::uint64_t bytes_received, std::uint64_t matching) {
    Converter& c = of(self);
    c.seconds(ticks);
    if (c.atomics_in_elements_) {
      ++c.left_out_["sizes of atomic operations, which this archive gives in elements"];
      bytes_sent = bytes_received = 0;
    }
    // Some archives say the same of MPI_Get_accumulate and of MPI_Accumulate.
    const MpiFunction* const function = c.function();
    const bool puts = type == OTF2_RMA_ATOMIC_TYPE_ACCUMULATE &&
                      (function == nullptr || atomic_type(*function).value_or(type) == type);
    // With MPI_NO_OP nothing goes to the target.
    const bool gets = !puts && bytes_sent == 0 && bytes_received != 0;
    const std::uint8_t kind = puts ? kPut : gets ? kGet : kGetAndPut;
    c.transfer(window, remote, kind, gets ? bytes_received : bytes_sent,
               kind == kGetAndPut ? bytes_received : 0, matching);
    return kGoOn;
  }
  KOJAK_EVENT(op_complete, OTF2_RmaWinRef window, std::uint64_t matching) {
    Converter& c = of(self);
    c.completed(c.seconds(ticks), window, matching);
    return kGoOn;
  }

  // ---- threads
  KOJAK_EVENT(fork, OTF2_Paradigm, std::uint32_t) {
    Converter& c = of(self);
    c.write(OmpFork{c.out_.lid(), c.seconds(ticks)});
    return kGoOn;
  }
  KOJAK_EVENT(join, OTF2_Paradigm) {
    Converter& c = of(self);
    c.write(OmpJoin{c.out_.lid(), c.seconds(ticks)});
    return kGoOn;
  }
  // Of archives from before OTF2 1.2.
  KOJAK_EVENT(omp_fork, std::uint32_t threads) {
    return fork(location, ticks, 0, self, attributes, OTF2_PARADIGM_OPENMP, threads);
  }
  KOJAK_EVENT(omp_join) {
    return join(location, ticks, 0, self, attributes, OTF2_PARADIGM_OPENMP);
  }
  KOJAK_EVENT(omp_acquire, std::uint32_t lock, std::uint32_t order) {
    return acquire(location, ticks, 0, self, attributes, OTF2_PARADIGM_OPENMP, lock, order);
  }
  KOJAK_EVENT(omp_release, std::uint32_t lock, std::uint32_t order) {
    return release(location, ticks, 0, self, attributes, OTF2_PARADIGM_OPENMP, lock, order);
  }
  KOJAK_EVENT(acquire, OTF2_Paradigm, std::uint32_t lock, std::uint32_t) {
    Converter& c = of(self);
    c.write(OmpALock{c.out_.lid(), c.seconds(ticks), LockId{lock}});
    return kGoOn;
  }
  KOJAK_EVENT(release, OTF2_Paradigm, std::uint32_t lock, std::uint32_t) {
    Converter& c = of(self);
    c.write(OmpRLock{c.out_.lid(), c.seconds(ticks), LockId{lock}});
    return kGoOn;
  }
#undef KOJAK_EVENT
};

// What has no place in a trace of kojak is counted by name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // old archives have such events
OTF2_EvtReaderCallbacks* Converter::callbacks() {
  OTF2_EvtReaderCallbacks* const all = OTF2_EvtReaderCallbacks_New();
#define KOJAK_TAKE(Event, handler) \
  OTF2_EvtReaderCallbacks_Set##Event##Callback(all, Callbacks::handler)
  KOJAK_TAKE(Enter, enter);
  KOJAK_TAKE(Leave, leave);
  KOJAK_TAKE(ProgramBegin, program_begin);
  KOJAK_TAKE(ProgramEnd, program_end);
  KOJAK_TAKE(BufferFlush, flush);
  KOJAK_TAKE(MeasurementOnOff, on_off);
  KOJAK_TAKE(MpiSend, send);
  KOJAK_TAKE(MpiIsend, isend);
  KOJAK_TAKE(MpiIsendComplete, isend_complete);
  KOJAK_TAKE(MpiIrecvRequest, irecv_request);
  KOJAK_TAKE(MpiRecv, recv);
  KOJAK_TAKE(MpiIrecv, irecv);
  KOJAK_TAKE(MpiRequestTest, request_test);
  KOJAK_TAKE(MpiRequestCancelled, request_cancelled);
  KOJAK_TAKE(MpiCollectiveBegin, collective_begin);
  KOJAK_TAKE(MpiCollectiveEnd, collective_end);
  KOJAK_TAKE(NonBlockingCollectiveRequest, collective_request);
  KOJAK_TAKE(NonBlockingCollectiveComplete, collective_complete);
  KOJAK_TAKE(RmaWinCreate, win_create);
  KOJAK_TAKE(RmaWinDestroy, win_collective);
  KOJAK_TAKE(RmaCollectiveBegin, collective_begin);
  KOJAK_TAKE(RmaCollectiveEnd, win_collective_end);
  KOJAK_TAKE(RmaGroupSync, group_sync);
  KOJAK_TAKE(RmaRequestLock, request_lock);
  KOJAK_TAKE(RmaAcquireLock, acquire_lock);
  KOJAK_TAKE(RmaReleaseLock, release_lock);
  KOJAK_TAKE(RmaPut, put);
  KOJAK_TAKE(RmaGet, get);
  KOJAK_TAKE(RmaAtomic, atomic);
  KOJAK_TAKE(RmaOpCompleteBlocking, op_complete);
  KOJAK_TAKE(RmaOpCompleteNonBlocking, op_complete);
  KOJAK_TAKE(RmaOpCompleteRemote, op_complete);
  KOJAK_TAKE(ThreadFork, fork);
  KOJAK_TAKE(ThreadJoin, join);
  KOJAK_TAKE(ThreadAcquireLock, acquire);
  KOJAK_TAKE(OmpFork, omp_fork);
  KOJAK_TAKE(OmpJoin, omp_join);
  KOJAK_TAKE(OmpAcquireLock, omp_acquire);
  KOJAK_TAKE(OmpReleaseLock, omp_release);
  KOJAK_TAKE(ThreadReleaseLock, release);
#undef KOJAK_TAKE
#define KOJAK_COUNT(Event)                                                                      \
  OTF2_EvtReaderCallbacks_Set##Event##Callback(                                                 \
      all, [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self, OTF2_AttributeList*, \
              auto...) {                                                                        \
        ++static_cast<Converter*>(self)->left_out_["event " #Event];                            \
        return OTF2_CallbackCode(OTF2_CALLBACK_SUCCESS);                                        \
      })
  KOJAK_COUNT(Unknown);
  KOJAK_COUNT(Metric);
  KOJAK_COUNT(ParameterString);
  KOJAK_COUNT(ParameterInt);
  KOJAK_COUNT(ParameterUnsignedInt);
  KOJAK_COUNT(RmaSync);
  KOJAK_COUNT(RmaWaitChange);
  KOJAK_COUNT(RmaTryLock);
  KOJAK_COUNT(RmaOpTest);
  KOJAK_COUNT(ThreadCreate);
  KOJAK_COUNT(ThreadBegin);
  KOJAK_COUNT(ThreadWait);
  KOJAK_COUNT(ThreadEnd);
  KOJAK_COUNT(ThreadTaskCreate);
  KOJAK_COUNT(ThreadTaskSwitch);
  KOJAK_COUNT(ThreadTaskComplete);
  KOJAK_COUNT(CallingContextEnter);
  KOJAK_COUNT(CallingContextLeave);
  KOJAK_COUNT(CallingContextSample);
  KOJAK_COUNT(OmpTaskCreate);
  KOJAK_COUNT(OmpTaskSwitch);
  KOJAK_COUNT(OmpTaskComplete);
  KOJAK_COUNT(CommCreate);
  KOJAK_COUNT(CommDestroy);
  KOJAK_COUNT(IoCreateHandle);
  KOJAK_COUNT(IoDestroyHandle);
  KOJAK_COUNT(IoDuplicateHandle);
  KOJAK_COUNT(IoSeek);
  KOJAK_COUNT(IoChangeStatusFlags);
  KOJAK_COUNT(IoDeleteFile);
  KOJAK_COUNT(IoOperationBegin);
  KOJAK_COUNT(IoOperationTest);
  KOJAK_COUNT(IoOperationIssued);
  KOJAK_COUNT(IoOperationComplete);
  KOJAK_COUNT(IoOperationCancelled);
  KOJAK_COUNT(IoAcquireLock);
  KOJAK_COUNT(IoReleaseLock);
  KOJAK_COUNT(IoTryLock);
#undef KOJAK_COUNT
  return all;
}
#pragma GCC diagnostic pop

}  // namespace kojak::otf2
