// The part of EventWriter that depends on the type of a record. Internal to event_writer.h.
#pragma once

#include "epilog/format/field_values.h"
#include "tools/elg2otf2/event_writer.h"

namespace kojak::otf2 {
// Calls whose beginning has a record of its own.
inline bool is_window_collective(MpiRole role) {
  return role == MpiRole::kWinCreate || role == MpiRole::kWinFence || role == MpiRole::kWinFree;
}

namespace detail {

template <class R>
LocationId stands_at(const R& record) {
  // Ends of puts, and starts of gets, are told where their origin is.
  if constexpr (std::is_same_v<R, MpiPut1te>) {
    return LocationId{raw(record.slid)};
  } else if constexpr (std::is_same_v<R, MpiGet1ts>) {
    return LocationId{raw(record.dlid)};
  } else {
    return record.lid;
  }
}

}  // namespace detail

template <class R>
LocationId EventWriter::location_of(const R& r, const Stream& stream, bool known) const {
  const auto at = static_cast<std::uint32_t>(&stream - streams_.data());
  const LocationId here = at < numbers_.locations() ? numbers_.lid(at) : absent<LocationId>();
  if constexpr (std::is_same_v<R, MpiPut1te>) {
    const auto* const put = stream.operations.find(r.rmaid, r.wid, false);
    return !known || put == nullptr || definitions_.windows.find(r.wid) == nullptr
               ? here
               : LocationId{raw(put->target)};
  } else {
    return assumed_location(r, stream.operations, here);
  }
}

template <class R>
void EventWriter::write(const R& record) {
  std::uint32_t location = numbers_.location(detail::stands_at(record));
  if (location == kAbsent) location = numbers_.location(record.lid);
  const bool known = location != kAbsent;
  if (!known) location = 0;
  Stream& stream = at(location);
  const std::uint64_t tick =
      begin(location, record.lid, record.time, location_of(record, stream, known));
  if (!known) {
    parameter(stream, tick, record);
  } else if constexpr (kEnters<R>) {
    enter(stream, tick, record);
  } else if constexpr (kLeaves<R>) {
    leave(stream, tick, record);
  } else {
    other(stream, tick, record);
    stream.just_entered = false;
  }
  clear();
  carried_.clear();
}

template <class R>
void EventWriter::carry(const R& record) {
  add(CarriedNames::kRecord, static_cast<std::uint64_t>(R::kType));
  add_carried();
  visit_fields(
      const_cast<R&>(record), Dialect{},
      carried_fields(static_cast<std::uint8_t>(R::kType), [&](std::size_t name, const auto& value) {
        if constexpr (requires { value.value; }) {
          add(name, value);
        } else {
          add(name, std::uint64_t{raw(value)});
        }
      }));
}

template <class R>
void EventWriter::carry(const R& record, const R& assumed) {
  add_carried();
  std::array<std::uint64_t, 32> other;
  std::size_t count = 0;
  constexpr auto kType = static_cast<std::uint8_t>(R::kType);
  visit_fields(const_cast<R&>(assumed), Dialect{},
               carried_fields(kType, [&](std::size_t, const auto& value) {
                 other[count++] = carried_bits(value);
               }));
  count = 0;
  visit_fields(const_cast<R&>(record), Dialect{},
               carried_fields(kType, [&](std::size_t name, const auto& value) {
                 if (carried_bits(value) == other[count++]) return;
                 if constexpr (requires { value.value; }) {
                   add(name, Seconds{value.value});
                 } else {
                   add(name, std::uint64_t{raw(value)});
                 }
               }));
}

template <class R>
void EventWriter::write_metrics(Stream& stream, std::uint64_t tick, const R& record) {
  if constexpr (requires { record.metv; }) {
    const std::uint32_t count = record.metv.size();
    if (count == 0 || count > 255) return;
    OTF2_Type types[255];
    OTF2_MetricValue values[255];
    for (std::uint32_t i = 0; i < count; ++i) {
      const MetricDef* metric = definitions_.metrics.find(MetricId{i});
      types[i] =
          metric != nullptr && metric->dtype == kFloatCounter ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64;
      values[i].unsigned_int = record.metv[i];
    }
    archive_.check(OTF2_EvtWriter_Metric(stream.out, nullptr, tick, kMetricClass,
                                         static_cast<std::uint8_t>(count), types, values));
  }
}

template <class R>
void EventWriter::parameter(Stream& stream, std::uint64_t tick, const R& record) {
  carry(record, of_parameter<R>(stream.operations, stream.process));
  write_metrics(stream, tick, record);
  archive_.check(OTF2_EvtWriter_ParameterUnsignedInt(
      stream.out, attributes(), tick, kRecordParameter, static_cast<std::uint64_t>(R::kType)));
}

template <class R>
void EventWriter::enter(Stream& stream, std::uint64_t tick, const R& record) {
  OTF2_RegionRef region = 0;
  if constexpr (std::is_same_v<R, Enter>) {
    region = numbers_.region(record.rid);
    if (region != raw(record.rid))
      carry(record);
    else
      add_carried();
  } else if constexpr (std::is_same_v<R, EnterCs>) {
    const CallSiteDef* site = definitions_.call_sites.find(record.csid);
    if (site != nullptr) {
      region = numbers_.region(site->entered);
      OTF2_AttributeValue place;
      place.sourceCodeLocationRef = raw(record.csid);
      archive_.check(OTF2_AttributeList_AddAttribute(attributes_, kPlaceAttribute,
                                                     OTF2_TYPE_SOURCE_CODE_LOCATION, place));
      any_ = true;
      add_carried();
    } else {
      region = numbers_.unknown_region();
      carry(record);
    }
  } else {
    region = std::is_same_v<R, LogOff> ? numbers_.pausing() : numbers_.tracing();
    carry(record);
  }
  write_metrics(stream, tick, record);
  archive_.check(OTF2_EvtWriter_Enter(stream.out, attributes(), tick, region));
  const MpiRole called = role(region);
  if (is_window_collective(called)) {
    archive_.check(OTF2_EvtWriter_RmaCollectiveBegin(stream.out, nullptr, tick));
  }
  if constexpr (std::is_same_v<R, LogOff>) {
    archive_.check(
        OTF2_EvtWriter_MeasurementOnOff(stream.out, nullptr, tick, OTF2_MEASUREMENT_OFF));
  }
  if (!is_absent(stream.get.number)) [[unlikely]]
    finish_atomic(stream, tick);
  stream.open.push_back({region, called});
  stream.just_entered = true;
  stream.entered = tick;
}

template <class R>
void EventWriter::leave(Stream& stream, std::uint64_t tick, const R& record) {
  if (stream.open.empty()) return parameter(stream, tick, record);
  if (!is_absent(stream.get.number)) [[unlikely]]
    finish_atomic(stream, tick);
  if constexpr (std::is_same_v<R, LogOn>) {
    archive_.check(OTF2_EvtWriter_MeasurementOnOff(stream.out, nullptr, tick, OTF2_MEASUREMENT_ON));
  }
  if constexpr (requires { before(stream, tick, record); }) {
    if (before(stream, tick, record)) {
      carry(record, assumed(record));
    } else {
      carry(record);
    }
  } else if constexpr (!std::is_same_v<R, Exit>) {
    carry(record);
  } else {
    add_carried();
  }
  write_metrics(stream, tick, record);
  archive_.check(OTF2_EvtWriter_Leave(stream.out, attributes(), tick, stream.open.back().region));
  stream.open.pop_back();
  stream.just_entered = false;
}

template <class R>
bool EventWriter::message(Stream& stream, std::uint64_t tick, const R& r) {
  constexpr bool kSends = std::is_same_v<R, MpiSend>;
  PeerId other;
  Bytes count;
  if constexpr (kSends) {
    other = r.dlid;
    count = r.sent;
  } else {
    other = r.slid;
    count = r.recvd;
  }
  const std::uint32_t peer = numbers_.rank(r.cid, other);
  if (peer == kAbsent || numbers_.comm(r.cid) == OTF2_UNDEFINED_COMM) return false;
  const bool request = carried_.size() == 1 && carried_.front().first == CarriedNames::request();
  if (is_absent(count) || (!carried_.empty() && !request)) carry(r);
  const std::uint64_t size = bytes(count, kSends ? kAttrBytesSent : kAttrBytesReceived);
  const auto comm = numbers_.comm(r.cid);
  const auto tag = raw(r.tag);
  if (request) {
    constexpr auto kWrite = kSends ? OTF2_EvtWriter_MpiIsend : OTF2_EvtWriter_MpiIrecv;
    archive_.check(
        kWrite(stream.out, attributes(), tick, peer, comm, tag, size, carried_.front().second));
  } else {
    constexpr auto kWrite = kSends ? OTF2_EvtWriter_MpiSend : OTF2_EvtWriter_MpiRecv;
    archive_.check(kWrite(stream.out, attributes(), tick, peer, comm, tag, size));
  }
  return true;
}

template <class R>
void EventWriter::other(Stream& stream, std::uint64_t tick, const R& r) {
  OTF2_EvtWriter* const out = stream.out;
  const auto check = [&](OTF2_ErrorCode code) { archive_.check(code); };
  if constexpr (std::is_same_v<R, MpiSend> || std::is_same_v<R, MpiRecv>) {
    if (message(stream, tick, r)) return;
  } else if constexpr (std::is_same_v<R, MpiSendComplete>) {
    add_carried();
    return check(OTF2_EvtWriter_MpiIsendComplete(out, attributes(), tick, raw(r.reqid)));
  } else if constexpr (std::is_same_v<R, MpiRecvRequest>) {
    carry(r, R{r.lid, r.time, r.reqid, absent<PeerId>(), absent<CommId>(), absent<Tag>()});
    return check(OTF2_EvtWriter_MpiIrecvRequest(out, attributes(), tick, raw(r.reqid)));
  } else if constexpr (std::is_same_v<R, MpiRequestTested>) {
    add_carried();
    return check(OTF2_EvtWriter_MpiRequestTest(out, attributes(), tick, raw(r.reqid)));
  } else if constexpr (std::is_same_v<R, MpiCancelled>) {
    add_carried();
    return check(OTF2_EvtWriter_MpiRequestCancelled(out, attributes(), tick, raw(r.reqid)));
  } else if constexpr (std::is_same_v<R, MpiCollBegin>) {
    process(stream).begun[r.reqid] = r;
    R assumed{};
    assumed.reqid = r.reqid;
    carry(r, assumed);
    return check(
        OTF2_EvtWriter_NonBlockingCollectiveRequest(out, attributes(), tick, raw(r.reqid)));
  } else if constexpr (std::is_same_v<R, MpiRequestComplete>) {
    auto& begun = process(stream).begun;
    const auto known = begun.find(r.reqid);
    if (known != begun.end() && numbers_.comm(known->second.cid) != OTF2_UNDEFINED_COMM) {
      const MpiCollBegin& b = known->second;
      carry(r, R{r.lid, r.time, r.reqid, kDoneCollective});
      check(OTF2_EvtWriter_NonBlockingCollectiveComplete(
          out, attributes(), tick, collective_of(raw(b.op)), numbers_.comm(b.cid),
          root_of(b.cid, b.rlid), raw(b.sent), raw(b.recvd), raw(r.reqid)));
      begun.erase(known);
      return;
    }
  } else if constexpr (std::is_same_v<R, MpiWinLock> || std::is_same_v<R, MpiWinLockAll>) {
    if (definitions_.windows.find(r.wid) != nullptr) {
      if constexpr (std::is_same_v<R, MpiWinLock>) {
        const Lock held{r.wid, r.llid, raw(r.ltype) != 0, false};
        if (remote(r.wid, r.llid) != kAbsent) {
          carry(r, R{r.lid, r.time, r.llid, r.wid, Byte{held.exclusive}});
          return lock(stream, tick, r.time, held);
        }
      } else {
        add_carried();
        return lock(stream, tick, r.time, Lock{r.wid, absent<PeerId>(), false, false});
      }
    }
  } else if constexpr (std::is_same_v<R, MpiWinUnlock> || std::is_same_v<R, MpiWinUnlockAll>) {
    if (definitions_.windows.find(r.wid) != nullptr) {
      if constexpr (std::is_same_v<R, MpiWinUnlock>) {
        if (remote(r.wid, r.llid) != kAbsent) {
          complete(stream, tick, r.wid, r.llid);
          add_carried();
          return unlock(stream, tick, r.wid, r.llid);
        }
      } else {
        complete(stream, tick, r.wid, absent<PeerId>());
        add_carried();
        return unlock(stream, tick, r.wid, absent<PeerId>());
      }
    }
  } else if constexpr (std::is_same_v<R, MpiWinFlush>) {
    complete(stream, tick, r.wid, r.tlid);
    if (raw(r.local) == 0) acquire(stream, tick, r.wid, r.tlid);
  } else if constexpr (std::is_same_v<R, MpiPut1ts>) {
    const std::uint32_t target = numbers_.window_rank(r.wid, r.dlid);
    if (target != kAbsent) {
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
        return check(OTF2_EvtWriter_RmaAtomic(out, attributes(), tick, raw(r.wid), target, *type,
                                              bytes(r.sent), fetches ? raw(get.bytes) : 0,
                                              raw(r.rmaid)));
      }
      return check(OTF2_EvtWriter_RmaPut(out, attributes(), tick, raw(r.wid), target, bytes(r.sent),
                                         raw(r.rmaid)));
    }
  } else if constexpr (std::is_same_v<R, MpiGet1to>) {
    const std::uint32_t target =
        target_.known ? numbers_.window_rank(r.wid, target_.process) : kAbsent;
    if (target != kAbsent && !is_absent(target_.bytes)) {
      process(stream).gets.insert(raw(r.rmaid));
      if (atomic(stream)) {
        // What it puts, or the end of its call, follows.
        if (!is_absent(stream.get.number)) finish_atomic(stream, tick);
        stream.get = {r.rmaid, r.wid, target, target_.bytes};
      } else {
        add_carried();
        stream.operations.add({r.rmaid, r.wid, target_.process, target_.bytes, true});
        return check(OTF2_EvtWriter_RmaGet(out, attributes(), tick, raw(r.wid), target,
                                           raw(target_.bytes), raw(r.rmaid)));
      }
    }
  } else if constexpr (std::is_same_v<R, MpiGet1ts>) {
    // Where nothing tells of the call, the get is where its data start.
    const bool written = process(stream).gets.erase(raw(r.rmaid)) != 0;
    const std::uint32_t target = numbers_.window_rank(r.wid, PeerId{raw(r.lid)});
    if (target != kAbsent && !written) {
      if (!atomic(stream) || is_absent(r.sent)) {
        carry(r);
        return check(OTF2_EvtWriter_RmaGet(out, attributes(), tick, raw(r.wid), target,
                                           bytes(r.sent), raw(r.rmaid)));
      }
      if (!is_absent(stream.get.number)) finish_atomic(stream, tick);
      stream.get = {r.rmaid, r.wid, target, r.sent};
    }
  } else if constexpr (std::is_same_v<R, MpiPut1te> || std::is_same_v<R, MpiGet1te>) {
    if (definitions_.windows.find(r.wid) != nullptr) {
      const LatestOperations& latest = stream.operations;
      const auto* const get = latest.find(r.rmaid, r.wid, true);
      if constexpr (std::is_same_v<R, MpiGet1te>) {
        auto& atomics = process(stream).atomics;
        const auto atomic = atomics.find(raw(r.rmaid));
        if (atomic != atomics.end()) {  // its other half tells the end at the target
          carry(r);
          check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(out, attributes(), tick, raw(r.wid),
                                                        raw(atomic->second)));
          atomics.erase(atomic);
          return;
        }
        if (get != nullptr) {
          carry(r, assumed_end(*get));
        } else {
          carry(r);
        }
        check(
            OTF2_EvtWriter_RmaOpCompleteNonBlocking(out, nullptr, tick, raw(r.wid), raw(r.rmaid)));
      } else if (get != nullptr) {
        carry(r);
      } else {
        const auto* const put = latest.find(r.rmaid, r.wid, false);
        carry(r, assumed_end(put, stream.process, r.wid, r.rmaid));
      }
      return check(
          OTF2_EvtWriter_RmaOpCompleteRemote(out, attributes(), tick, raw(r.wid), raw(r.rmaid)));
    }
  } else if constexpr (std::is_same_v<R, OmpFork>) {
    add_carried();
    return check(OTF2_EvtWriter_ThreadFork(out, attributes(), tick, OTF2_PARADIGM_OPENMP,
                                           OTF2_UNDEFINED_UINT32));
  } else if constexpr (std::is_same_v<R, OmpJoin>) {
    add_carried();
    return check(OTF2_EvtWriter_ThreadJoin(out, attributes(), tick, OTF2_PARADIGM_OPENMP));
  } else if constexpr (std::is_same_v<R, OmpALock>) {
    add_carried();
    return check(OTF2_EvtWriter_ThreadAcquireLock(out, attributes(), tick, OTF2_PARADIGM_OPENMP,
                                                  raw(r.lkid), 0));
  } else if constexpr (std::is_same_v<R, OmpRLock>) {
    add_carried();
    return check(OTF2_EvtWriter_ThreadReleaseLock(out, attributes(), tick, OTF2_PARADIGM_OPENMP,
                                                  raw(r.lkid), 0));
  }
  parameter(stream, tick, r);
}

}  // namespace kojak::otf2
