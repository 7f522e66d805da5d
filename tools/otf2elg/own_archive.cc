#include "tools/otf2elg/own_archive.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <queue>

#include "epilog/format/field_values.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/io/writer.h"
#include "epilog/format/text/text_reader.h"
#include "tools/otf2elg/own_stream.h"

namespace kojak::otf2 {
namespace {

constexpr std::uint64_t kAtOnce = 1024;  // events of a location

Stream& of(void* self) {
  return *static_cast<Stream*>(self);
}
constexpr auto kGoOn = OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};

OTF2_CallbackCode enter(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                        OTF2_AttributeList* list, OTF2_RegionRef region) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    if (is_absent(c.site)) {
      s.add(Enter{{}, {}, RegionId{region}, {}}, c);
    } else {
      s.add(EnterCs{{}, {}, c.site, {}}, c);
    }
  });
  return kGoOn;
}
OTF2_CallbackCode leave(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                        OTF2_AttributeList* list, OTF2_RegionRef) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    const Leaving& l = s.leaving();
    switch (l.kind) {
      case Leaving::Kind::kExit:
        return s.add(Exit{}, c);
      case Leaving::Kind::kCollective:
        return s.add(MpiCollExit{{}, {}, {}, l.root, l.comm, l.sent, l.received}, c);
      case Leaving::Kind::kWindowCollective:
        return s.add(MpiWinCollExit{{}, {}, {}, l.window}, c);
      case Leaving::Kind::kEpoch:
        return s.add(MpiWinExit{{}, {}, {}, l.window, l.comm, l.ends}, c);
    }
  });
  s.leaving().kind = Leaving::Kind::kExit;
  return kGoOn;
}
OTF2_CallbackCode collective_end(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self,
                                 OTF2_AttributeList*, OTF2_CollectiveOp, OTF2_CommRef comm,
                                 std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
  Stream& s = of(self);
  s.leaving() = {Leaving::Kind::kCollective,
                 s.peer(comm, root),
                 s.comm(comm),
                 {},
                 static_cast<Bytes>(sent),
                 static_cast<Bytes>(received),
                 {}};
  return kGoOn;
}
OTF2_CallbackCode window_collective_end(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self,
                                        OTF2_AttributeList*, OTF2_CollectiveOp, OTF2_RmaSyncLevel,
                                        OTF2_RmaWinRef window, std::uint32_t, std::uint64_t,
                                        std::uint64_t) {
  Leaving& leaving = of(self).leaving();
  leaving.kind = Leaving::Kind::kWindowCollective;
  leaving.window = WindowId{window};
  return kGoOn;
}
OTF2_CallbackCode group_sync(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self,
                             OTF2_AttributeList*, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window,
                             OTF2_GroupRef group) {
  Leaving& leaving = of(self).leaving();
  leaving.kind = Leaving::Kind::kEpoch;
  leaving.window = WindowId{window};
  leaving.comm = of(self).numbers().of_group(group);
  leaving.ends = Byte{(level & OTF2_RMA_SYNC_LEVEL_MEMORY) != 0};
  return kGoOn;
}
template <class R>
void message(Stream& s, OTF2_TimeStamp tick, OTF2_AttributeList* list, std::uint32_t other,
             OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes,
             const std::uint64_t* request) {
  s.take(tick, list, [&](const Carried& c) {
    if (request != nullptr) {
      s.put(AttrUi4{kAttrRequest, Count{static_cast<std::uint32_t>(*request)}});
    }
    s.add(R{{},
            {},
            s.peer(comm, other),
            s.comm(comm),
            Tag{tag},
            Bytes{static_cast<std::uint32_t>(bytes)}},
          c);
  });
}
template <class R>
OTF2_CallbackCode blocking(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                           OTF2_AttributeList* list, std::uint32_t other, OTF2_CommRef comm,
                           std::uint32_t tag, std::uint64_t bytes) {
  message<R>(of(self), tick, list, other, comm, tag, bytes, nullptr);
  return kGoOn;
}
template <class R>
OTF2_CallbackCode non_blocking(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                               OTF2_AttributeList* list, std::uint32_t other, OTF2_CommRef comm,
                               std::uint32_t tag, std::uint64_t bytes, std::uint64_t request) {
  message<R>(of(self), tick, list, other, comm, tag, bytes, &request);
  return kGoOn;
}
OTF2_CallbackCode put(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                      OTF2_AttributeList* list, OTF2_RmaWinRef window, std::uint32_t remote,
                      std::uint64_t bytes, std::uint64_t number) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    const WindowDef* const def = s.definitions().windows.find(WindowId{window});
    if (def == nullptr) return;
    const PeerId target = s.peer(def->comm, remote);
    const RmaId operation{static_cast<std::uint32_t>(number)};
    const Bytes sent{static_cast<std::uint32_t>(bytes)};
    s.operations().add({operation, WindowId{window}, target, sent, false});
    s.add(MpiPut1ts{{}, {}, target, WindowId{window}, operation, sent}, c);
  });
  return kGoOn;
}
OTF2_CallbackCode atomic(OTF2_LocationRef location, OTF2_TimeStamp tick, std::uint64_t, void* self,
                         OTF2_AttributeList* list, OTF2_RmaWinRef window, std::uint32_t remote,
                         OTF2_RmaAtomicType, std::uint64_t sent, std::uint64_t,
                         std::uint64_t number) {
  return put(location, tick, 0, self, list, window, remote, sent, number);
}
OTF2_CallbackCode get(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                      OTF2_AttributeList* list, OTF2_RmaWinRef window, std::uint32_t remote,
                      std::uint64_t bytes, std::uint64_t number) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    const RmaId operation{static_cast<std::uint32_t>(number)};
    s.operations().add({operation, WindowId{window}, s.window_peer(window, remote),
                        Bytes{static_cast<std::uint32_t>(bytes)}, true});
    s.add(MpiGet1to{{}, {}, operation, WindowId{window}}, c);
  });
  return kGoOn;
}
// Where a get has ended, or a put at its target.
OTF2_CallbackCode complete(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                           OTF2_AttributeList* list, OTF2_RmaWinRef window, std::uint64_t number) {
  Stream& s = of(self);
  const WindowId wid{window};
  const RmaId operation{static_cast<std::uint32_t>(number)};
  s.take(tick, list, [&](const Carried& c) {
    if (const auto* const get = s.operations().find(operation, wid, true)) {
      return s.add(assumed_end(*get), c);
    }
    const auto* const put = s.operations().find(operation, wid, false);
    s.add(assumed_end(put, s.process(), wid, operation), c,
          put == nullptr ? s.lid() : LocationId{raw(put->target)});
  });
  return kGoOn;
}
// Only that of an atomic operation's get stands for a record.
OTF2_CallbackCode complete_here(OTF2_LocationRef location, OTF2_TimeStamp tick, std::uint64_t,
                                void* self, OTF2_AttributeList* list, OTF2_RmaWinRef window,
                                std::uint64_t number) {
  if (OTF2_AttributeList_GetNumberOfElements(list) == 0) return kGoOn;
  return complete(location, tick, 0, self, list, window, number);
}
OTF2_CallbackCode request_lock(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                               OTF2_AttributeList* list, OTF2_RmaWinRef window,
                               std::uint32_t remote, std::uint64_t, OTF2_LockType type) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    if (remote == OTF2_UNDEFINED_UINT32) return s.add(MpiWinLockAll{{}, {}, WindowId{window}}, c);
    const Byte exclusive{type == OTF2_LOCK_EXCLUSIVE};
    s.add(MpiWinLock{{}, {}, s.window_peer(window, remote), WindowId{window}, exclusive}, c);
  });
  return kGoOn;
}
OTF2_CallbackCode release_lock(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                               OTF2_AttributeList* list, OTF2_RmaWinRef window,
                               std::uint32_t remote, std::uint64_t) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    if (remote == OTF2_UNDEFINED_UINT32) return s.add(MpiWinUnlockAll{{}, {}, WindowId{window}}, c);
    s.add(MpiWinUnlock{{}, {}, s.window_peer(window, remote), WindowId{window}}, c);
  });
  return kGoOn;
}
// R: about one request.
template <class R>
OTF2_CallbackCode request(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                          OTF2_AttributeList* list, std::uint64_t number) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    R record{};
    record.reqid = RequestId{static_cast<std::uint32_t>(number)};
    if constexpr (std::is_same_v<R, MpiRecvRequest>) {
      record.slid = absent<PeerId>();
      record.cid = absent<CommId>();
      record.tag = absent<Tag>();
    }
    s.add(record, c);
  });
  return kGoOn;
}
OTF2_CallbackCode collective_complete(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t,
                                      void* self, OTF2_AttributeList* list, OTF2_CollectiveOp,
                                      OTF2_CommRef, std::uint32_t, std::uint64_t, std::uint64_t,
                                      std::uint64_t number) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) {
    s.add(
        MpiRequestComplete{{}, {}, RequestId{static_cast<std::uint32_t>(number)}, kDoneCollective},
        c);
  });
  return kGoOn;
}
template <class R>
OTF2_CallbackCode team(OTF2_LocationRef, OTF2_TimeStamp tick, OTF2_AttributeList* list, void* self,
                       const R& record) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) { s.add(record, c); });
  return kGoOn;
}
OTF2_CallbackCode fork(OTF2_LocationRef at, OTF2_TimeStamp tick, std::uint64_t, void* self,
                       OTF2_AttributeList* list, OTF2_Paradigm, std::uint32_t) {
  return team(at, tick, list, self, OmpFork{});
}
OTF2_CallbackCode join(OTF2_LocationRef at, OTF2_TimeStamp tick, std::uint64_t, void* self,
                       OTF2_AttributeList* list, OTF2_Paradigm) {
  return team(at, tick, list, self, OmpJoin{});
}
template <class R>
OTF2_CallbackCode team_lock(OTF2_LocationRef at, OTF2_TimeStamp tick, std::uint64_t, void* self,
                            OTF2_AttributeList* list, OTF2_Paradigm, std::uint32_t lock,
                            std::uint32_t) {
  return team(at, tick, list, self, R{{}, {}, LockId{lock}});
}
// What OTF2 has no event for: the value is the record's type.
OTF2_CallbackCode parameter(OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self,
                            OTF2_AttributeList* list, OTF2_ParameterRef, std::uint64_t value) {
  Stream& s = of(self);
  s.take(tick, list, [&](const Carried& c) { s.add_any(static_cast<std::uint8_t>(value), c); });
  return kGoOn;
}
OTF2_CallbackCode metric(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self,
                         OTF2_AttributeList*, OTF2_MetricRef, std::uint8_t count, const OTF2_Type*,
                         const OTF2_MetricValue* values) {
  std::vector<std::uint64_t>& metrics = of(self).metrics();
  metrics.clear();
  for (std::uint8_t i = 0; i < count; ++i) metrics.push_back(values[i].unsigned_int);
  return kGoOn;
}

struct Delete {
  void operator()(OTF2_EvtReaderCallbacks* c) const { OTF2_EvtReaderCallbacks_Delete(c); }
};
std::unique_ptr<OTF2_EvtReaderCallbacks, Delete> make_callbacks() {
  std::unique_ptr<OTF2_EvtReaderCallbacks, Delete> all(OTF2_EvtReaderCallbacks_New());
  OTF2_EvtReaderCallbacks_SetEnterCallback(all.get(), enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(all.get(), leave);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(all.get(), blocking<MpiSend>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(all.get(), blocking<MpiRecv>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(all.get(), non_blocking<MpiSend>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(all.get(), non_blocking<MpiRecv>);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(all.get(), put);
  OTF2_EvtReaderCallbacks_SetMetricCallback(all.get(), metric);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(all.get(), collective_end);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(all.get(), window_collective_end);
  OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(all.get(), group_sync);
  OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(all.get(), atomic);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(all.get(), get);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(all.get(), complete);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(all.get(), complete_here);
  OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(all.get(), request_lock);
  OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(all.get(), release_lock);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(all.get(), request<MpiSendComplete>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(all.get(), request<MpiRecvRequest>);
  OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(all.get(), request<MpiRequestTested>);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(all.get(), request<MpiCancelled>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(all.get(), request<MpiCollBegin>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(all.get(), collective_complete);
  OTF2_EvtReaderCallbacks_SetThreadForkCallback(all.get(), fork);
  OTF2_EvtReaderCallbacks_SetThreadJoinCallback(all.get(), join);
  OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(all.get(), team_lock<OmpALock>);
  OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(all.get(), team_lock<OmpRLock>);
  OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(all.get(), parameter);
  return all;
}

// All locations are read at once, and each needs a file.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string listing_of(const ArchiveDefinitions& archive) {
  std::string listing;
  const std::string_view name = kDefinitionsProperty;
  for (auto it = archive.properties.lower_bound(std::string(name));
       it != archive.properties.end() && it->first.starts_with(name); ++it) {
    listing += it->second;
  }
  return listing;
}

}  // namespace

bool is_own(const Archive& archive) {
  return archive.creator().starts_with(kOwnCreator) &&
         archive.definitions().properties.contains(kTimeZeroProperty);
}

Result<Restored> restore(Archive& archive, const std::string& output,
                         const std::function<void(std::uint64_t)>& progress) {
  const ArchiveDefinitions& of_archive = archive.definitions();
  const auto bytes = text_to_trace(listing_of(of_archive), "the definitions in the archive");
  if (!bytes) return bytes.error();
  auto reader = TraceReader::from(memory_source(bytes->data(), bytes->size()), "the archive");
  if (!reader) return reader.error();
  auto out = TraceWriter::create(output, reader->dialect());
  if (!out) return out.error();
  Definitions definitions;
  for (RawRecord record; reader->next(record) == TraceReader::Next::kRecord;) {
    static_cast<void>(definitions.add(record, reader->dialect()));  // bad ones stay bad ones
    out->write_raw(record.type, record.body, record.length);
  }
  definitions.finish();

  const Numbers numbers(definitions);
  Shared shared{definitions,
                numbers,
                reader->dialect(),
                {},
                of_archive.place_attribute,
                std::strtoull(of_archive.properties.at(kTimeZeroProperty).c_str(), nullptr, 10)};
  const std::vector<std::string>& names = CarriedNames::get().all();
  for (const auto& [ref, name] : of_archive.attributes) {
    if (!name.starts_with(kCarriedPrefix) || ref > 4096) continue;
    const auto known = std::find(names.begin(), names.end(), name.substr(kCarriedPrefix.size()));
    if (known == names.end()) continue;
    if (ref >= shared.name_of.size()) shared.name_of.resize(ref + 1, Shared::kNoName);
    shared.name_of[ref] = static_cast<std::uint8_t>(known - names.begin());
  }

  allow_many_files();
  const auto callbacks = make_callbacks();
  struct Source {
    const LocationOfArchive* location;
    Stream stream;
    OTF2_EvtReader* events;
  };
  std::deque<Source> sources;
  Restored restored;
  std::uint64_t done = 0;
  // Reads on; false at the end.
  const auto refill = [&](Source& source) {
    source.stream.clear();
    while (source.events != nullptr && source.stream.empty()) {
      const auto count = archive.read_some(*source.location, source.events, kAtOnce);
      if (!count) restored.damage.push_back(count.error().message());
      if (count) progress(done += *count);
      // The library fails when it is asked behind the end.
      if (!count || *count < kAtOnce) {
        archive.close_events(source.events);
        source.events = nullptr;
      }
    }
    return !source.stream.empty();
  };
  using Head = std::pair<Place, std::size_t>;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (const LocationOfArchive& location : of_archive.locations) {
    if (location.ref >= numbers.locations()) continue;
    const auto number = static_cast<std::uint32_t>(location.ref);
    Source& source = sources.emplace_back(Source{&location, Stream(shared, number), nullptr});
    const auto events = archive.open_events(location, callbacks.get(), &source.stream);
    if (!events) {
      restored.damage.push_back(events.error().message());
      continue;
    }
    source.events = *events;
    if (refill(source)) heads.emplace(source.stream.first(), sources.size() - 1);
  }
  while (!heads.empty()) {
    const std::size_t i = heads.top().second;
    heads.pop();
    Source& source = sources[i];
    bool more = true;
    do {
      source.stream.pop(*out);
      more = !source.stream.empty() || refill(source);
    } while (more && (heads.empty() || source.stream.first() < heads.top().first));
    if (more) heads.emplace(source.stream.first(), i);
  }
  if (const Status written = out->commit(); !written) return written.error();
  return restored;
}

}  // namespace kojak::otf2
