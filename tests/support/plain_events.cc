#include "tests/support/plain_events.h"

#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>

#include "epilog/format/io/reader.h"

namespace kojak::support {

std::string shown_time(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

namespace {

// Identifiers in words.
std::string comm_words(const Definitions& defs, CommId id) {
  if (is_absent(id)) return "absent";
  const CommDef* comm = defs.comms.find(id);
  if (comm == nullptr) return "undefined";
  std::string words;
  if (comm->stands_for_group) {
    words = "group";
    for (const std::uint32_t rank : comm->ranks) words += " " + std::to_string(rank);
    return words;
  }
  if (!comm->identity_known) {
    words = "own";
    for (const std::uint32_t rank : comm->ranks) words += " " + std::to_string(rank);
    return words;
  }
  return std::to_string(comm->identity_hi) + ":" + std::to_string(comm->identity_lo);
}

std::string window_words(const Definitions& defs, WindowId id) {
  if (is_absent(id)) return "absent";
  const WindowDef* window = defs.windows.find(id);
  if (window == nullptr) return "undefined";
  if (!window->identity_known) return "own";
  return std::to_string(window->identity_hi) + ":" + std::to_string(window->identity_lo);
}

std::string region_words(const Definitions& defs, RegionId id) {
  const RegionDef* region = defs.regions.find(id);
  return region != nullptr ? region->name : is_absent(id) ? "absent" : "undefined";
}

class Speller {
 public:
  Speller(const Definitions& defs, PlainEvent& event) : defs_(defs), event_(event) {}

  template <class T>
  void field(const FieldInfo& info, T& value) {
    const std::string_view name = info.name;
    if constexpr (std::is_same_v<T, LocationId>) {
      event_.lid = raw(value);
    } else if constexpr (std::is_same_v<T, Seconds>) {
      if (name == "time") event_.time = value.value;
    } else if constexpr (std::is_same_v<T, Duration>) {
      // A length, which moves with the clock.
    } else {
      std::string words;
      if constexpr (std::is_same_v<T, RegionId>) {
        words = region_words(defs_, value);
      } else if constexpr (std::is_same_v<T, CommId>) {
        words = comm_words(defs_, value);
      } else if constexpr (std::is_same_v<T, WindowId>) {
        words = window_words(defs_, value);
      } else if constexpr (std::is_same_v<T, CallSiteId>) {
        const CallSiteDef* site = defs_.call_sites.find(value);
        const std::string* file = site != nullptr ? defs_.files.find(site->file) : nullptr;
        words = site == nullptr
                    ? "undefined"
                    : (file != nullptr ? *file : "") + ":" + std::to_string(raw(site->line)) + ":" +
                          region_words(defs_, site->entered);
        if (site != nullptr) {
          defs_.for_each_caller(*site, [&](CallSiteId, const CallSiteDef& caller) {
            words = std::to_string(raw(caller.line)) + ":" + region_words(defs_, caller.left) +
                    ">" + words;
          });
        }
      } else {
        words = std::to_string(raw(value));
      }
      if (name == "rmaid") event_.rmaid = static_cast<std::uint32_t>(raw_number(value));
      if (name == "slid" || name == "olid") peer_ = static_cast<std::uint32_t>(raw_number(value));
      if (name == "dlid") peer_ = static_cast<std::uint32_t>(raw_number(value));
      if (name == "reason") event_.mark = static_cast<std::uint8_t>(raw_number(value));
      event_.fields += (event_.fields.empty() ? "" : " ") + std::string(name) + "=" + words;
    }
  }
  template <class T>
  void array(const FieldInfo& info, T& view, std::uint32_t) {
    rest(info, view);
  }
  template <class T>
  void rest(const FieldInfo& info, T& view) {
    event_.fields += " " + std::string(info.name) + "=";
    for (std::uint32_t i = 0; i < view.size(); ++i) {
      event_.fields += (i != 0 ? "," : "") + std::to_string(view[i]);
    }
  }
  void text(const FieldInfo&, Text&) {}
  void metrics(const FieldInfo& info, MetricValues& view) {
    if (!view.empty()) rest(info, view);
  }
  std::uint32_t peer() const { return peer_; }

 private:
  template <class T>
  static std::uint64_t raw_number(T value) {
    if constexpr (std::is_enum_v<T>) return static_cast<std::uint64_t>(raw(value));
    return 0;
  }
  const Definitions& defs_;
  PlainEvent& event_;
  std::uint32_t peer_ = kAbsent;
};

bool is_type(std::uint8_t type, RecordType wanted) {
  return type == static_cast<std::uint8_t>(wanted);
}

// Spells one record; `peer` is the location or process at its other side.
template <class R>
PlainEvent spell(const Definitions& defs, const Dialect& dialect, R record, std::uint32_t& peer) {
  PlainEvent event;
  event.name = R::kName;
  Speller speller(defs, event);
  visit_fields(record, dialect, speller);
  peer = speller.peer();
  event.source = event.lid;
  constexpr RecordType t = R::kType;
  event.is_exit = t == RecordType::kExit || t == RecordType::kMpiCollExit ||
                  t == RecordType::kMpiWinExit || t == RecordType::kMpiWinCollExit ||
                  t == RecordType::kOmpCollExit || t == RecordType::kCollExit;
  if (t == RecordType::kMpiPut1te || t == RecordType::kMpiGet1te || t == RecordType::kPut1te ||
      t == RecordType::kGet1te) {
    event.is_end = true;
    event.put = t == RecordType::kMpiPut1te || t == RecordType::kPut1te;
    event.origin = event.put ? peer : event.lid;
  }
  if (t == RecordType::kRmaMark) {
    event.is_mark = true;
    event.origin = peer;
  }
  return event;
}

using Trace = TraceDefinitionsRead;

// f(record, attributes in words, sent and received bytes by attribute)
struct Attributes {
  std::string words;
  std::optional<std::uint64_t> sent, received;
};
template <class F>
void for_each_event(const std::vector<std::byte>& bytes, const Trace& trace, F&& f) {
  auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "trace");
  if (!reader) throw std::runtime_error(reader.error().message());
  RawRecord record;
  Attributes attributes;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (is_attribute(record.type)) {
      dispatch_record(record.type, [&]<class R>() {
        if constexpr (R::kKind == RecordKind::kAttribute && R::kDialect != RecordDialect::kLocal) {
          R r;
          if (decode(record, reader->dialect(), r) != nullptr) return;
          std::string value = std::to_string(raw(r.value));
          if constexpr (std::is_same_v<R, AttrUi4>) {
            if (raw(r.kind) == 4) {
              value = region_words(trace.defs, static_cast<RegionId>(raw(r.value)));
            }
          }
          if constexpr (std::is_same_v<R, AttrUi8>) {
            if (raw(r.kind) == 5) attributes.sent = raw(r.value);
            if (raw(r.kind) == 6) attributes.received = raw(r.value);
          }
          attributes.words += "[" + std::to_string(raw(r.kind)) + "=" + value + "]";
        }
      });
    } else if (is_event(record.type)) {
      f(record, attributes);
      attributes = {};
    }
  }
}

Bytes small(std::uint64_t bytes) {
  return bytes < kAbsent ? Bytes{static_cast<std::uint32_t>(bytes)} : absent<Bytes>();
}
std::string big_words(int kind, std::uint64_t bytes) {
  return bytes < kAbsent ? "" : "[" + std::to_string(kind) + "=" + std::to_string(bytes) + "]";
}

// Spells out one local trace.
class LocalReader {
 public:
  explicit LocalReader(const std::vector<std::byte>& bytes) : trace_(read_definitions(bytes)) {
    if (!trace_.defs.local_run) throw std::runtime_error("no LOCAL_RUN in a local trace");
    rank_ = raw(trace_.defs.local_run->pid);
    out_.metrics = static_cast<std::uint32_t>(trace_.defs.metrics.size());
    for_each_event(bytes, trace_, [&](const RawRecord& record, const Attributes& attributes) {
      dispatch_record(record.type, [&]<class R>() {
        if constexpr (R::kKind == RecordKind::kEvent) {
          Dialect dialect = trace_.dialect;
          dialect.metrics = out_.metrics;
          R r;
          if (decode(record, dialect, r) == nullptr) add(r, attributes);
        }
      });
    });
  }
  std::vector<PlainEvent> take() { return std::move(events_); }

 private:
  template <class R>
  PlainEvent& put(const R& record, const std::string& attributes) {
    std::uint32_t peer = kAbsent;
    events_.push_back(spell(trace_.defs, out_, record, peer));
    events_.back().attributes = attributes;
    events_.back().source = kAbsent;  // this trace, whatever its location will be
    if (events_.back().is_end && !events_.back().put) events_.back().origin = rank_;
    return events_.back();
  }
  template <class R>
  void add(const R& r, const Attributes& attributes) {
    const PeerId self{rank_};
    if constexpr (std::is_same_v<R, MpiRmaCall>) {
      const unsigned kind = raw(r.kind);
      const bool get = (kind & 2) != 0, put_too = (kind & 1) != 0;
      const std::uint64_t got = raw(put_too ? r.got : r.bytes), sent = raw(r.bytes);
      const RmaId put_id{raw(r.rmaid) + (get ? 1 : 0)};
      put(Enter{r.lid, r.time, r.rid, {}}, attributes.words);
      const LocationId target{raw(r.dlid)};
      if (get) {
        put(MpiGet1to{r.lid, r.time, r.rmaid, r.wid}, "");
        put(MpiGet1ts{target, r.time, self, r.wid, r.rmaid, small(got)}, big_words(5, got));
      }
      if (put_too) {
        put(MpiPut1ts{r.lid, r.time, r.dlid, r.wid, put_id, small(sent)}, big_words(5, sent));
      }
      if (get) {
        put(MpiGet1te{r.lid, r.exit, r.dlid, r.wid, r.rmaid, small(got)}, big_words(6, got));
      }
      if (put_too) {
        put(MpiPut1te{target, r.exit, self, r.wid, put_id, small(sent)}, big_words(6, sent));
      }
      put(Exit{r.lid, r.exit, {}}, "");
    } else if constexpr (std::is_same_v<R, MpiRmaPlace>) {
      // In merged traces it stands in the call, and tells bytes (tests/cases/merge/places.case).
    } else if constexpr (std::is_same_v<R, ShmemRmaCall>) {
      const unsigned kind = raw(r.kind);
      const bool get = (kind & 2) != 0, put_too = (kind & 1) != 0;
      const std::uint64_t got = raw(put_too ? r.got : r.bytes), sent = raw(r.bytes);
      const RmaId put_id{raw(r.rmaid) + (get ? 1 : 0)};
      const LocationId target{raw(r.dlid)};
      put(Enter{r.lid, r.time, r.rid, {}}, attributes.words);
      put(ShmemPlace{r.lid, r.time, r.dlid, r.rmaid, r.offset, r.ctx, r.flags}, "");
      if (get) {
        put(MpiGet1to{r.lid, r.time, r.rmaid, absent<WindowId>()}, "");
        put(Get1ts{target, r.time, self, r.rmaid, small(got)}, big_words(5, got));
      }
      if (put_too) put(Put1ts{r.lid, r.time, r.dlid, put_id, small(sent)}, big_words(5, sent));
      if (get) put(Get1te{r.lid, r.exit, r.dlid, r.rmaid, small(got)}, big_words(6, got));
      if (put_too) put(Put1te{target, r.exit, self, put_id, small(sent)}, big_words(6, sent));
      put(Exit{r.lid, r.exit, {}}, "");
    } else if constexpr (std::is_same_v<R, MpiCall>) {
      put(Enter{r.lid, r.time, r.rid, {}}, attributes.words);
      put(Exit{r.lid, r.exit, {}}, "");
    } else if constexpr (std::is_same_v<R, MpiPut1teRemote>) {
      put(MpiPut1te{LocationId{raw(r.dlid)}, r.time, self, r.wid, r.rmaid, r.recvd},
          attributes.words);
    } else if constexpr (std::is_same_v<R, MpiGet1tsRemote>) {
      put(MpiGet1to{r.lid, r.time, r.rmaid, r.wid}, "");
      put(MpiGet1ts{LocationId{raw(r.dlid)}, r.time, self, r.wid, r.rmaid, r.sent},
          attributes.words);
    } else if constexpr (std::is_same_v<R, Put1teRemote>) {
      put(Put1te{LocationId{raw(r.dlid)}, r.time, self, r.rmaid, r.recvd}, attributes.words);
    } else if constexpr (std::is_same_v<R, Get1tsRemote>) {
      put(MpiGet1to{r.lid, r.time, r.rmaid, absent<WindowId>()}, "");
      put(Get1ts{LocationId{raw(r.dlid)}, r.time, self, r.rmaid, r.sent}, attributes.words);
    } else {
      put(r, attributes.words);
    }
  }
  Trace trace_;
  Dialect out_;
  std::uint32_t rank_ = 0;
  std::vector<PlainEvent> events_;
};

}  // namespace

// Reads all definitions first: local traces mix them with events.
TraceDefinitionsRead read_definitions(const std::vector<std::byte>& bytes) {
  auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "trace");
  if (!reader) throw std::runtime_error(reader.error().message());
  TraceDefinitionsRead trace;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (is_definition(record.type)) (void)trace.defs.add(record, reader->dialect());
  }
  trace.defs.finish();
  trace.dialect = reader->dialect();
  return trace;
}

std::string PlainEvent::line() const {
  return attributes + name + " lid=" + std::to_string(lid) + " time=" + shown_time(time) +
         (fields.empty() ? "" : " ") + fields;
}

std::vector<PlainEvent> merged_events(const std::vector<std::byte>& merged) {
  const Trace trace = read_definitions(merged);
  Dialect dialect = trace.dialect;
  dialect.metrics = static_cast<std::uint32_t>(trace.defs.metrics.size());
  std::vector<PlainEvent> events;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> get_locations;
  std::uint8_t mark = 0;
  for_each_event(merged, trace, [&](const RawRecord& record, const Attributes& attributes) {
    dispatch_record(record.type, [&]<class R>() {
      if constexpr (R::kKind == RecordKind::kEvent && !std::is_same_v<R, MpiRmaPlace>) {
        R r;
        if (const char* field = decode(record, dialect, r)) {
          throw std::runtime_error(std::string(R::kName) + " is too short for " + field);
        }
        std::uint32_t peer = kAbsent;
        PlainEvent event = spell(trace.defs, dialect, r, peer);
        event.attributes = attributes.words;
        const auto rank_of = [&](std::uint32_t lid) {
          const LocationDef* location = trace.defs.locations.find(static_cast<LocationId>(lid));
          return location != nullptr ? raw(location->process) : kAbsent;
        };
        if (event.is_end && !event.put) event.origin = rank_of(event.lid);
        if (is_type(record.type, RecordType::kMpiPut1ts) ||
            is_type(record.type, RecordType::kPut1ts) ||
            is_type(record.type, RecordType::kMpiGet1to)) {
          event.is_start = true;
          event.put = !is_type(record.type, RecordType::kMpiGet1to);
          event.origin = rank_of(event.lid);
        }
        if (event.is_end) {
          event.mark = mark;
          mark = 0;
        }
        if (event.is_mark) mark = event.mark;
        if (is_type(record.type, RecordType::kMpiGet1to)) {
          get_locations[{rank_of(event.lid), event.rmaid}] = event.lid;
        }
        if (is_type(record.type, RecordType::kMpiGet1ts) ||
            is_type(record.type, RecordType::kGet1ts)) {
          event.source = get_locations[{peer, event.rmaid}];
        }
        events.push_back(std::move(event));
      }
    });
  });
  return events;
}

std::vector<PlainEvent> local_events(const std::vector<std::byte>& local) {
  return LocalReader(local).take();
}

}  // namespace kojak::support
