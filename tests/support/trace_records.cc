#include "tests/support/trace_records.h"

#include <algorithm>

#include "epilog/format/compact/pack.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/record/plain_fields.h"

namespace kojak::support {
namespace {

// Changes one record while it is encoded again.
class Changer {
 public:
  Changer(const FieldChanges& changes, bool event, detail::Encoder& out)
      : changes_(changes), event_(event), out_(out) {}

  template <class T>
  void field(const FieldInfo& info, T& value) {
    if constexpr (std::is_same_v<T, Seconds>) {
      const std::string_view name = info.name;
      if (event_ && changes_.time) {
        value.value = changes_.time(value.value);
      } else if (name == "bound" && changes_.seconds) {
        value.value = changes_.seconds(value.value);
      }
    } else if constexpr (std::is_same_v<T, Duration>) {
      if (changes_.seconds) value.value = changes_.seconds(value.value);
    } else if constexpr (sizeof(T) == 4) {
      if (const FieldChanges::Id* change = change_for<T>(); change != nullptr && *change) {
        if (raw(value) != kAbsent) value = static_cast<T>((*change)(raw(value)));
      }
    }
    out_.field(info, value);
  }
  template <class T>
  void array(const FieldInfo& info, T& view, std::uint32_t) {
    rest(info, view);
  }
  template <class T>
  void rest(const FieldInfo& info, PackedArray<T>& view) {
    const std::string_view name = info.name;
    std::vector<T> values;
    for (std::uint32_t i = 0; i < view.size(); ++i) values.push_back(view[i]);
    if (changes_.process && name == "ranks") {
      for (T& rank : values) rank = static_cast<T>(changes_.process(rank));
    } else if (changes_.process && name == "grpv") {
      values = changed_bits(values);
    }
    out_.rest(info, PackedArray<T>::of(values));
  }
  void text(const FieldInfo& info, Text& text) { out_.text(info, text); }
  void metrics(const FieldInfo& info, MetricValues& view) { out_.metrics(info, view); }

 private:
  template <class T>
  const FieldChanges::Id* change_for() const {
    if constexpr (std::is_same_v<T, ProcessId> || std::is_same_v<T, PeerId>)
      return &changes_.process;
    if constexpr (std::is_same_v<T, LocationId>) return &changes_.location;
    if constexpr (std::is_same_v<T, WindowId>) return &changes_.window;
    if constexpr (std::is_same_v<T, CommId>) return &changes_.comm;
    if constexpr (std::is_same_v<T, GroupId>) return &changes_.group;
    if constexpr (std::is_same_v<T, StringId>) return &changes_.string;
    if constexpr (std::is_same_v<T, FileId>) return &changes_.file;
    if constexpr (std::is_same_v<T, RegionId>) return &changes_.region;
    if constexpr (std::is_same_v<T, CallSiteId>) return &changes_.site;
    if constexpr (std::is_same_v<T, TopologyId>) return &changes_.topology;
    if constexpr (std::is_same_v<T, LockId>) return &changes_.lock;
    if constexpr (std::is_same_v<T, RmaId>) return &changes_.operation;
    if constexpr (std::is_same_v<T, RequestId>) return &changes_.request;
    return nullptr;
  }
  template <class T>
  std::vector<T> changed_bits(const std::vector<T>& bits) const {
    std::vector<T> changed(bits.size(), T{});
    for (std::uint32_t rank = 0; rank < 8 * bits.size(); ++rank) {
      if ((bits[rank / 8] >> (rank % 8) & 1) == 0) continue;
      const std::uint32_t to = changes_.process(rank);
      if (to / 8 >= changed.size()) changed.resize(to / 8 + 1);
      changed[to / 8] = static_cast<T>(changed[to / 8] | 1u << (to % 8));
    }
    if (changed.size() != bits.size()) throw std::runtime_error("a bit vector would grow");
    return changed;
  }
  const FieldChanges& changes_;
  bool event_;
  detail::Encoder& out_;
};

// Attributes hold requests and regions as plain numbers, in one byte where that is enough.
void change_attribute(TraceRecords& trace, TraceRecord& record, const FieldChanges& changes) {
  constexpr std::uint8_t kRequest = 2, kRegion = 4;
  AttrUi4 attribute;
  if (record.is(RecordType::kAttrUi1)) {
    const auto small = trace.as<AttrUi1>(record);
    attribute = {small.kind, Count{raw(small.value)}};
  } else {
    attribute = trace.as<AttrUi4>(record);
  }
  const FieldChanges::Id* change = raw(attribute.kind) == kRequest  ? &changes.request
                                   : raw(attribute.kind) == kRegion ? &changes.region
                                                                    : nullptr;
  if (change == nullptr || !*change) return;
  attribute.value = Count{(*change)(raw(attribute.value))};
  const std::uint32_t value = raw(attribute.value);
  record = record.is(RecordType::kAttrUi1) && value < 256
               ? trace.made(AttrUi1{attribute.kind, Byte{static_cast<std::uint8_t>(value)}})
               : trace.made(attribute);
}

// The fields of an event that have a meaning by themselves.
template <class T>
void look_at(const FieldInfo& info, const T& value, EventFields& found) {
  if constexpr (std::is_same_v<T, Seconds>) {
    if (std::string_view(info.name) == "time") found.time = value.value;
  } else if constexpr (std::is_same_v<T, LocationId>) {
    found.location = raw(value);
  } else if constexpr (std::is_same_v<T, PeerId>) {
    if (!is_absent(value)) found.peers.push_back(raw(value));
  } else if constexpr (std::is_same_v<T, WindowId>) {
    if (!is_absent(value)) found.window = raw(value);
  } else if constexpr (std::is_same_v<T, RmaId>) {
    found.operation = raw(value);
  }
}

}  // namespace

TraceRecords records_of(const std::vector<std::byte>& trace) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "trace");
  if (!reader) throw std::runtime_error(reader.error().message());
  TraceRecords result;
  RawRecord record;
  TraceReader::Next next;
  while ((next = reader->next(record)) == TraceReader::Next::kRecord) {
    result.records.push_back({record.type, {record.body, record.body + record.length}});
  }
  if (next == TraceReader::Next::kDamaged) throw std::runtime_error("the trace is damaged");
  result.dialect = compact::of_records(reader->dialect());
  return result;
}

std::vector<std::byte> trace_of(const TraceRecords& trace) {
  const auto events = static_cast<std::uint64_t>(
      std::count_if(trace.records.begin(), trace.records.end(),
                    [](const TraceRecord& r) { return is_event(r.type); }));
  std::vector<std::byte> bytes(kHeaderSize);
  encode_header(trace.dialect, bytes.data());
  const auto append = [&](const TraceRecord& record) {
    bytes.push_back(static_cast<std::byte>(record.body.size()));
    bytes.push_back(static_cast<std::byte>(record.type));
    bytes.insert(bytes.end(), record.body.begin(), record.body.end());
  };
  for (const TraceRecord& record : trace.records) {
    if (record.is(RecordType::kNumEvents)) {
      append(trace.made(NumEvents{Count{static_cast<std::uint32_t>(events)}}));
    } else if (record.is(RecordType::kEventCount64)) {
      append(trace.made(EventCount64{Count64{events}}));
    } else {
      append(record);
    }
  }
  return bytes;
}

void change_fields(TraceRecords& trace, const FieldChanges& changes) {
  for (TraceRecord& record : trace.records) {
    if (record.is(RecordType::kMpiCommCnt) && changes.process) {
      throw std::runtime_error("a bit vector in several records");
    }
    if (record.is(RecordType::kAttrUi1) || record.is(RecordType::kAttrUi4)) {
      change_attribute(trace, record, changes);
      continue;
    }
    dispatch_record(record.type, [&]<class R>() {
      R r = trace.as<R>(record);
      std::byte bytes[kMaxBody];
      detail::Encoder encoder(bytes, trace.dialect.swapped());
      Changer changer(changes, R::kKind == RecordKind::kEvent, encoder);
      visit_fields(r, trace.dialect, changer);
      if (encoder.overflow()) throw std::runtime_error(std::string(R::kName) + " does not fit");
      record.body.assign(bytes, bytes + encoder.size());
    });
  }
}

EventFields event_fields(const TraceRecords& trace, const TraceRecord& event) {
  EventFields found;
  dispatch_record(event.type, [&]<class R>() {
    if constexpr (R::kKind == RecordKind::kEvent) {
      R r = trace.as<R>(event);
      visit_fields(r, trace.dialect, PlainFields([&](const FieldInfo& info, const auto& value) {
                     look_at(info, value, found);
                   }));
    }
  });
  return found;
}

}  // namespace kojak::support
