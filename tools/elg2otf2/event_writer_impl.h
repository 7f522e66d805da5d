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
  if constexpr (std::is_same_v<R, MpiPut1te> || std::is_same_v<R, Put1te>) {
    return LocationId{raw(record.slid)};
  } else if constexpr (std::is_same_v<R, MpiGet1ts> || std::is_same_v<R, Get1ts>) {
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
    if (!as_otf2(stream, tick, record)) parameter(stream, tick, record);
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

}  // namespace kojak::otf2
