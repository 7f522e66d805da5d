// What OTF2 has events of its own for: a function for each type of record.
#include <algorithm>

#include "tools/elg2otf2/event_writer.h"

namespace kojak::otf2 {

// ---- requests

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiSendComplete& r) {
  add_carried();
  return written(OTF2_EvtWriter_MpiIsendComplete(stream.out, attributes(), tick, raw(r.reqid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiRecvRequest& r) {
  carry(r,
        MpiRecvRequest{r.lid, r.time, r.reqid, absent<PeerId>(), absent<CommId>(), absent<Tag>()});
  return written(OTF2_EvtWriter_MpiIrecvRequest(stream.out, attributes(), tick, raw(r.reqid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiRequestTested& r) {
  add_carried();
  return written(OTF2_EvtWriter_MpiRequestTest(stream.out, attributes(), tick, raw(r.reqid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiCancelled& r) {
  add_carried();
  return written(OTF2_EvtWriter_MpiRequestCancelled(stream.out, attributes(), tick, raw(r.reqid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiCollBegin& r) {
  process(stream).begun[r.reqid] = r;
  MpiCollBegin assumed{};
  assumed.reqid = r.reqid;
  carry(r, assumed);
  return written(
      OTF2_EvtWriter_NonBlockingCollectiveRequest(stream.out, attributes(), tick, raw(r.reqid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiRequestComplete& r) {
  auto& begun = process(stream).begun;
  const auto known = begun.find(r.reqid);
  if (known == begun.end() || numbers_.comm(known->second.cid) == OTF2_UNDEFINED_COMM) return false;
  const MpiCollBegin& b = known->second;
  carry(r, MpiRequestComplete{r.lid, r.time, r.reqid, kDoneCollective});
  archive_.check(OTF2_EvtWriter_NonBlockingCollectiveComplete(
      stream.out, attributes(), tick, collective_of(raw(b.op)), numbers_.comm(b.cid),
      root_of(b.cid, b.rlid), raw(b.sent), raw(b.recvd), raw(r.reqid)));
  begun.erase(known);
  return true;
}

// ---- windows

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiWinLock& r) {
  if (definitions_.windows.find(r.wid) == nullptr || remote(r.wid, r.llid) == kAbsent) return false;
  const Lock held{r.wid, r.llid, raw(r.ltype) != 0, false};
  carry(r, MpiWinLock{r.lid, r.time, r.llid, r.wid, Byte{held.exclusive}});
  lock(stream, tick, r.time, held);
  return true;
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiWinLockAll& r) {
  if (definitions_.windows.find(r.wid) == nullptr) return false;
  add_carried();
  lock(stream, tick, r.time, Lock{r.wid, absent<PeerId>(), false, false});
  return true;
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiWinUnlock& r) {
  if (definitions_.windows.find(r.wid) == nullptr || remote(r.wid, r.llid) == kAbsent) return false;
  complete(stream, tick, r.wid, r.llid);
  add_carried();
  unlock(stream, tick, r.wid, r.llid);
  return true;
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiWinUnlockAll& r) {
  if (definitions_.windows.find(r.wid) == nullptr) return false;
  complete(stream, tick, r.wid, absent<PeerId>());
  add_carried();
  unlock(stream, tick, r.wid, absent<PeerId>());
  return true;
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiWinFlush& r) {
  complete(stream, tick, r.wid, r.tlid);
  if (raw(r.local) == 0) acquire(stream, tick, r.wid, r.tlid);
  return false;  // and the call itself
}

// ---- transfers

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiPut1ts& r) {
  const std::uint32_t target = numbers_.window_rank(r.wid, r.dlid);
  if (target == kAbsent) return false;
  if (is_absent(r.sent) || !carried_.empty()) {
    carry(r);
  } else {
    stream.operations.add({r.rmaid, r.wid, r.dlid, r.sent, false});
  }
  const AtomicGet get = stream.get;
  stream.get.number = absent<RmaId>();
  const bool fetches = !is_absent(get.number) && get.window == r.wid && get.target == target;
  if (fetches) {
    process(stream).atomics[raw(get.number)] = r.rmaid;
  } else {
    process(stream).operations[r.wid].push_back({r.dlid, r.rmaid});
  }
  if (const auto type = atomic(stream)) {
    return written(OTF2_EvtWriter_RmaAtomic(stream.out, attributes(), tick, raw(r.wid), target,
                                            *type, bytes(r.sent), fetches ? raw(get.bytes) : 0,
                                            raw(r.rmaid)));
  }
  return written(OTF2_EvtWriter_RmaPut(stream.out, attributes(), tick, raw(r.wid), target,
                                       bytes(r.sent), raw(r.rmaid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiGet1to& r) {
  const std::uint32_t target =
      target_.known ? numbers_.window_rank(r.wid, target_.process) : kAbsent;
  if (target == kAbsent || is_absent(target_.bytes)) return false;
  process(stream).gets.insert(raw(r.rmaid));
  if (atomic(stream)) {
    // What it puts, or the end of its call, follows.
    if (!is_absent(stream.get.number)) finish_atomic(stream, tick);
    stream.get = {r.rmaid, r.wid, target, target_.bytes};
    return false;
  }
  add_carried();
  stream.operations.add({r.rmaid, r.wid, target_.process, target_.bytes, true});
  return written(OTF2_EvtWriter_RmaGet(stream.out, attributes(), tick, raw(r.wid), target,
                                       raw(target_.bytes), raw(r.rmaid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiGet1ts& r) {
  // Where nothing tells of the call, the get is where its data start.
  const bool known = process(stream).gets.erase(raw(r.rmaid)) != 0;
  const std::uint32_t target = numbers_.window_rank(r.wid, PeerId{raw(r.lid)});
  if (target == kAbsent || known) return false;
  if (!atomic(stream) || is_absent(r.sent)) {
    carry(r);
    return written(OTF2_EvtWriter_RmaGet(stream.out, attributes(), tick, raw(r.wid), target,
                                         bytes(r.sent), raw(r.rmaid)));
  }
  if (!is_absent(stream.get.number)) finish_atomic(stream, tick);
  stream.get = {r.rmaid, r.wid, target, r.sent};
  return false;
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiPut1te& r) {
  if (definitions_.windows.find(r.wid) == nullptr) return false;
  const LatestOperations& latest = stream.operations;
  if (latest.find(r.rmaid, r.wid, true) != nullptr) {
    carry(r);
  } else {
    const auto* const put = latest.find(r.rmaid, r.wid, false);
    carry(r, assumed_end(put, stream.process, r.wid, r.rmaid));
  }
  return written(
      OTF2_EvtWriter_RmaOpCompleteRemote(stream.out, attributes(), tick, raw(r.wid), raw(r.rmaid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const MpiGet1te& r) {
  if (definitions_.windows.find(r.wid) == nullptr) return false;
  auto& atomics = process(stream).atomics;
  const auto atomic = atomics.find(raw(r.rmaid));
  if (atomic != atomics.end()) {  // its other half tells the end at the target
    carry(r);
    archive_.check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(stream.out, attributes(), tick,
                                                           raw(r.wid), raw(atomic->second)));
    atomics.erase(atomic);
    return true;
  }
  if (const auto* const get = stream.operations.find(r.rmaid, r.wid, true); get != nullptr) {
    carry(r, assumed_end(*get));
  } else {
    carry(r);
  }
  archive_.check(
      OTF2_EvtWriter_RmaOpCompleteNonBlocking(stream.out, nullptr, tick, raw(r.wid), raw(r.rmaid)));
  return written(
      OTF2_EvtWriter_RmaOpCompleteRemote(stream.out, attributes(), tick, raw(r.wid), raw(r.rmaid)));
}

// ---- transfers without a window

OTF2_RmaWinRef EventWriter::shared_memory(const Stream& stream) const {
  const auto& all = numbers_.shared_memories();
  if (all.size() == 1) return all.front().window;
  for (std::size_t i = stream.open.size(); i-- != 0;) {
    const RegionDef* const region = definitions_.regions.find(RegionId{stream.open[i].region});
    if (region == nullptr || region->shmem == nullptr) continue;
    return std::ranges::find(all, region->shmem->model, &Numbers::SharedMemory::model)->window;
  }
  return OTF2_UNDEFINED_RMA_WIN;
}

template <class R>
bool EventWriter::begins(Stream& stream, std::uint64_t tick, const R& r, std::uint32_t target) {
  constexpr auto kWrite = std::is_same_v<R, Put1ts> ? OTF2_EvtWriter_RmaPut : OTF2_EvtWriter_RmaGet;
  const OTF2_RmaWinRef window = shared_memory(stream);
  if (window == OTF2_UNDEFINED_RMA_WIN || target >= numbers_.processes()) return false;
  if (numbers_.shared_memories().size() > 1) process(stream).shared[raw(r.rmaid)] = window;
  carry(r);
  return written(
      kWrite(stream.out, attributes(), tick, window, target, bytes(r.sent), raw(r.rmaid)));
}

template <class R>
bool EventWriter::ends(Stream& stream, std::uint64_t tick, const R& r) {
  OTF2_RmaWinRef window = OTF2_UNDEFINED_RMA_WIN;
  if (numbers_.shared_memories().size() == 1) {
    window = shared_memory(stream);
  } else if (const auto begun = process(stream).shared.extract(raw(r.rmaid))) {
    window = begun.mapped();
  }
  if (window == OTF2_UNDEFINED_RMA_WIN) return false;
  carry(r);
  archive_.check(
      OTF2_EvtWriter_RmaOpCompleteNonBlocking(stream.out, nullptr, tick, window, raw(r.rmaid)));
  return written(
      OTF2_EvtWriter_RmaOpCompleteRemote(stream.out, attributes(), tick, window, raw(r.rmaid)));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const Put1ts& r) {
  return begins(stream, tick, r, raw(r.dlid));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const Get1ts& r) {
  // Nothing is known of its origin: it stands at its target.
  if (raw(stream.process) != raw(r.dlid)) return false;
  return begins(stream, tick, r, raw(r.lid));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const Put1te& r) {
  return raw(stream.process) == raw(r.slid) && ends(stream, tick, r);
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const Get1te& r) {
  return ends(stream, tick, r);
}

// ---- threads

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const OmpFork&) {
  add_carried();
  return written(OTF2_EvtWriter_ThreadFork(stream.out, attributes(), tick, OTF2_PARADIGM_OPENMP,
                                           OTF2_UNDEFINED_UINT32));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const OmpJoin&) {
  add_carried();
  return written(OTF2_EvtWriter_ThreadJoin(stream.out, attributes(), tick, OTF2_PARADIGM_OPENMP));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const OmpALock& r) {
  add_carried();
  return written(OTF2_EvtWriter_ThreadAcquireLock(stream.out, attributes(), tick,
                                                  OTF2_PARADIGM_OPENMP, raw(r.lkid), 0));
}

bool EventWriter::as_otf2(Stream& stream, std::uint64_t tick, const OmpRLock& r) {
  add_carried();
  return written(OTF2_EvtWriter_ThreadReleaseLock(stream.out, attributes(), tick,
                                                  OTF2_PARADIGM_OPENMP, raw(r.lkid), 0));
}

}  // namespace kojak::otf2
