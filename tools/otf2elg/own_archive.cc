#include "tools/otf2elg/own_archive.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <queue>

#include "epilog/format/reader.h"
#include "epilog/format/text_reader.h"
#include "epilog/format/writer.h"
#include "tools/elg2otf2/carried.h"
#include "tools/elg2otf2/numbers.h"

namespace kojak::otf2 {
namespace {

constexpr std::uint64_t kAtOnce = 1024;  // events of a location
constexpr std::size_t kMostNames = 128;

// What all locations share.
struct Shared {
  const Definitions& definitions;
  const Numbers& numbers;
  const Dialect& dialect;
  std::vector<std::uint8_t> name_of;  // by attribute; kNoName
  OTF2_AttributeRef place_attribute;
  std::uint64_t time_zero;
  static constexpr std::uint8_t kNoName = 255;
};

// What the attributes of an event say.
class Carried {
 public:
  Carried(const Shared& shared, OTF2_AttributeList* list) {
    const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(list);
    for (std::uint32_t i = 0; i < count; ++i) {
      OTF2_AttributeRef ref;
      OTF2_Type type;
      OTF2_AttributeValue value;
      if (OTF2_AttributeList_GetAttributeByIndex(list, i, &ref, &type, &value) != OTF2_SUCCESS) {
        continue;
      }
      if (ref == shared.place_attribute && type == OTF2_TYPE_SOURCE_CODE_LOCATION) {
        site = CallSiteId{value.sourceCodeLocationRef};
      } else if (ref < shared.name_of.size() && shared.name_of[ref] != Shared::kNoName) {
        const std::uint8_t name = shared.name_of[ref];
        set_[name / 64] |= std::uint64_t{1} << name % 64;
        values_[name] = value.uint64;
        any_ = true;
      }
    }
  }
  bool any() const { return any_; }
  bool has(std::size_t name) const { return any_ && (set_[name / 64] >> name % 64 & 1) != 0; }
  std::uint64_t value(std::size_t name) const { return values_[name]; }
  Seconds seconds(std::size_t name) const { return {std::bit_cast<double>(values_[name])}; }
  CallSiteId site = absent<CallSiteId>();

 private:
  std::uint64_t values_[kMostNames];
  std::uint64_t set_[kMostNames / 64] = {};
  bool any_ = false;
};

// The records of one location that have been read and not yet been written.
class Stream {
 public:
  Stream(const Shared& shared, std::uint32_t number, LocationId lid)
      : shared_(shared), number_(number), lid_(lid) {}

  bool empty() const { return next_ == items_.size(); }
  Place first() const { return items_[next_].place; }
  void clear() {
    items_.clear();
    bytes_.clear();
    next_ = 0;
  }
  // The first one goes into the trace.
  void pop(TraceWriter& out) {
    const Item& item = items_[next_++];
    const auto room = out.room(item.size);
    std::memcpy(room.data(), bytes_.data() + item.at, item.size);
    out.used(item.size);
  }

  // `standard`: the record that the event says without attributes, if any.
  template <class F>
  void take(OTF2_TimeStamp tick, OTF2_AttributeList* list, F&& standard) {
    const Carried carried(shared_, list);
    tick_ = tick;
    start_ = bytes_.size();
    if (!carried.has(CarriedNames::kRecord)) {
      add_attributes(carried);
      standard(carried);
    } else {
      add_attributes(carried);
      const auto type = static_cast<std::uint8_t>(carried.value(CarriedNames::kRecord));
      dispatch_record(type, [&]<class R>() {
        if constexpr (R::kKind == RecordKind::kEvent) {
          R record;
          visit_fields(record, Dialect{},
                       CarriedFields(type, [&]<class T>(std::size_t name, T& value) {
                         if (!carried.has(name)) return;
                         if constexpr (std::is_same_v<T, Seconds>) {
                           value = carried.seconds(name);
                         } else {
                           value = static_cast<T>(carried.value(name));
                         }
                       }));
          add(record, carried);
        }
      });
    }
    if (!added_) {
      bytes_.resize(start_);
      return;
    }
    added_ = false;
    Place place{tick, number_, 0};
    if (carried.has(CarriedNames::kTick)) {
      place = {carried.value(CarriedNames::kTick),
               static_cast<std::uint32_t>(carried.value(CarriedNames::kLocation)),
               static_cast<std::uint32_t>(carried.value(CarriedNames::kNumber))};
    }
    items_.push_back({place, start_, bytes_.size() - start_});
  }
  template <class R>
  void add(R record, const Carried& carried) {
    const CarriedNames& names = CarriedNames::get();
    record.lid = carried.has(names.lid()) ? LocationId(carried.value(names.lid())) : lid_;
    record.time =
        carried.has(names.time())
            ? carried.seconds(names.time())
            : Seconds{static_cast<double>(static_cast<std::int64_t>(tick_ - shared_.time_zero)) /
                      kTicksPerSecond};
    if constexpr (requires { record.metv; }) {
      if (shared_.dialect.metrics != 0) {
        metrics_.resize(shared_.dialect.metrics);
        record.metv = MetricValues::of(metrics_);
      }
    }
    put(record);
    added_ = true;
  }
  template <class R>
  void put(const R& record) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + kMaxRecord);
    bytes_.resize(at + encode(record, shared_.dialect, bytes_.data() + at));
  }
  const Definitions& definitions() const { return shared_.definitions; }
  std::vector<std::uint64_t>& metrics() { return metrics_; }
  CommId comm(OTF2_CommRef ref) const { return shared_.numbers.comm_of(ref); }
  // The process of a number in a communicator; of an intercommunicator on the other side.
  PeerId peer(OTF2_CommRef ref, std::uint32_t rank) const {
    return peer(shared_.numbers.comm_of(ref), rank);
  }
  PeerId peer(CommId id, std::uint32_t rank) const {
    const CommDef* const comm = definitions().comms.find(id);
    if (comm == nullptr) return absent<PeerId>();
    const RankList& ranks =
        comm->intercommunicator && !comm->remote.empty() ? comm->remote : comm->ranks;
    return rank < ranks.size() ? PeerId{ranks[rank]} : absent<PeerId>();
  }

 private:
  struct Item {
    Place place;
    std::size_t at, size;
  };
  void add_attributes(const Carried& carried) {
    if (!carried.any()) return;
    for (std::uint8_t kind = 1; kind <= CarriedNames::kKinds; ++kind) {
      const auto put_if = [&](auto record) {
        const std::size_t name =
            CarriedNames::attribute(static_cast<std::uint8_t>(record.kType), kind);
        if (!carried.has(name)) return;
        record.kind = Byte{kind};
        record.value = static_cast<decltype(record.value)>(carried.value(name));
        put(record);
      };
      put_if(AttrUi1{});
      put_if(AttrUi4{});
      put_if(AttrUi8{});
    }
  }

  const Shared& shared_;
  std::uint32_t number_;
  LocationId lid_;
  std::vector<std::byte> bytes_;
  std::vector<Item> items_;
  std::size_t next_ = 0;
  std::vector<std::uint64_t> metrics_;  // of the event that follows
  OTF2_TimeStamp tick_ = 0;
  std::size_t start_ = 0;
  bool added_ = false;
};

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
  s.take(tick, list, [&](const Carried& c) { s.add(Exit{}, c); });
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
    s.add(MpiPut1ts{{},
                    {},
                    s.peer(def->comm, remote),
                    WindowId{window},
                    RmaId{static_cast<std::uint32_t>(number)},
                    Bytes{static_cast<std::uint32_t>(bytes)}},
          c);
  });
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
  // These stand for a record where attributes tell which.
#define KOJAK_CARRIES(Event)                                                          \
  OTF2_EvtReaderCallbacks_Set##Event##Callback(                                       \
      all.get(), [](OTF2_LocationRef, OTF2_TimeStamp tick, std::uint64_t, void* self, \
                    OTF2_AttributeList* list, auto...) {                              \
        of(self).take(tick, list, [](const Carried&) {});                             \
        return kGoOn;                                                                 \
      })
  KOJAK_CARRIES(MpiIsendComplete);
  KOJAK_CARRIES(MpiIrecvRequest);
  KOJAK_CARRIES(MpiRequestTest);
  KOJAK_CARRIES(MpiRequestCancelled);
  KOJAK_CARRIES(NonBlockingCollectiveRequest);
  KOJAK_CARRIES(NonBlockingCollectiveComplete);
  KOJAK_CARRIES(RmaRequestLock);
  KOJAK_CARRIES(RmaReleaseLock);
  KOJAK_CARRIES(RmaGet);
  KOJAK_CARRIES(RmaOpCompleteRemote);
  KOJAK_CARRIES(ThreadFork);
  KOJAK_CARRIES(ThreadJoin);
  KOJAK_CARRIES(ThreadAcquireLock);
  KOJAK_CARRIES(ThreadReleaseLock);
  KOJAK_CARRIES(ParameterUnsignedInt);
#undef KOJAK_CARRIES
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
  Definitions definitions;
  for (RawRecord record; reader->next(record) == TraceReader::Next::kRecord;) {
    static_cast<void>(definitions.add(record, reader->dialect()));  // bad ones stay bad ones
  }
  definitions.finish();
  auto out = TraceWriter::create(output, reader->dialect());
  if (!out) return out.error();
  for (std::size_t at = kHeaderSize; at + 2 <= bytes->size();) {
    const auto length = static_cast<std::size_t>((*bytes)[at]);
    out->write_raw(static_cast<std::uint8_t>((*bytes)[at + 1]), bytes->data() + at + 2, length);
    at += 2 + length;
  }

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
    Source& source = sources.emplace_back(
        Source{&location, Stream(shared, number, numbers.lid(number)), nullptr});
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
