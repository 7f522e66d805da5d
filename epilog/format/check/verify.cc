#include "epilog/format/check/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "epilog/format/check/poll_rules.h"
#include "epilog/format/definitions.h"
#include "epilog/format/epoch_moves.h"
#include "epilog/format/record/plain_fields.h"
#include "epilog/format/record/references.h"

namespace kojak {
namespace {

constexpr const char* kSkipped = "the record is skipped";
constexpr const char* kDamage = "the file is damaged";  // the reader says how
constexpr const char* kWriterFault = "the program that wrote the trace is at fault";

// The classic tools' own bookkeeping.
bool is_skipped(std::uint8_t type) {
  bool skipped = false;
  dispatch_record(type, [&]<class R>() { skipped = R::kDialect == RecordDialect::kSkipped; });
  return skipped;
}

// What to say of a definition that was not taken; nothing of what the visit of its fields finds.
const char* fault_text(DefinitionFault fault) {
  switch (fault) {
    case DefinitionFault::kContinuesNothing:
      return "continues nothing";
    case DefinitionFault::kTooMany:
      return "has more members than it may have";
    case DefinitionFault::kRing:
      return "names a caller that is one of its own, or too far";
    default:
      return nullptr;
  }
}

// What the location of an event is doing.
struct LocationState {
  std::vector<RegionId> open;  // absent: TRACING or PAUSING by their own records
  PollRules polls;
};

class Verifier {
 public:
  Verifier(TraceReader& reader, const std::function<void(std::uint64_t)>& progress)
      : reader_(reader), progress_(progress) {}
  Result<Verification> run();

 private:
  struct Place {  // of the record at hand
    std::uint8_t type = 0;
    std::uint64_t offset = 0;
  };
  // Texts are constants, so their addresses identify a finding.
  using Key = std::tuple<std::uint8_t, const char*, const char*>;

  void find(Level level, const char* field, const char* what, const char* advice);
  // Whether the object is defined (or absent where that has a meaning).
  template <class T>
  void reference(const FieldInfo& field, T id);
  template <class R>
  void record(const RawRecord& raw_record);
  template <class R>
  void definition(const R& record, const RawRecord& raw_record);
  template <class R>
  void event(const R& record);
  template <class R>
  void flow(const R& record, LocationState& state);
  template <class R>
  void attribute(const R& record);
  // The identifier that a definition introduces.
  template <class T>
  void introduced(const char* field, T id);
  void leave(LocationState& state, bool tracing);
  // In a local trace the part of another thread begins.
  void begin_part();
  template <class Ok>
  void leaves(const LocationState& state, Ok&& ok);
  void whole_file();

  template <class R, class T>
  void field(const FieldInfo& info, const T& value);

  TraceReader& reader_;
  const std::function<void(std::uint64_t)>& progress_;
  Verification result_;
  std::map<Key, Finding> findings_;
  Definitions definitions_;
  std::set<std::uint32_t> call_paths_;
  IdTable<LocationId, LocationState> states_;
  Place place_;
  Place pending_attribute_;      // attributes before an event
  bool has_byte_count_ = false;  // among them a 64-bit one
  double last_time_ = -HUGE_VAL;
  std::optional<LocationId> local_location_;
};

void Verifier::find(Level level, const char* field, const char* what, const char* advice) {
  Finding& finding = findings_[{place_.type, field, what}];
  if (finding.count++ > 0) return;
  finding.level = level;
  finding.type = place_.type;
  finding.field = field;
  finding.what = what;
  finding.advice = advice;
  finding.first_offset = reader_.place(place_.offset);
}

template <class T>
void Verifier::reference(const FieldInfo& field, T id) {
  const char* what = nullptr;
  if constexpr (sizeof(T) == 4) {
    if (is_absent(id)) {
      if (!may_be_absent<T>(field.rule)) find(Level::kError, field.name, "is absent", kWriterFault);
      return;
    }
  }
  if constexpr (std::is_same_v<T, CallPathId>) {
    if (call_paths_.count(raw(id)) == 0)
      what = "no call path with this identifier is defined before";
  } else {
    what = undefined(definitions_, id);
  }
  if (what != nullptr) {
    find(Level::kError, field.name, what, "the file is damaged or lacks definitions");
  }
}

// References must be known, values in range.
template <class R, class T>
void Verifier::field(const FieldInfo& info, const T& value) {
  if (info.rule == FieldRule::kDefines) return introduced(info.name, value);
  if constexpr (sizeof(T) == 1) {
    if (info.rule == FieldRule::kCode && raw(value) > info.most) {
      find(Level::kError, info.name, "has a value without a meaning", kWriterFault);
    }
  }
  if constexpr (kIsTime<T>) {
    if (!std::isfinite(value.value)) {
      const Level level = R::kKind == RecordKind::kEvent ? Level::kError : Level::kWarning;
      find(level, info.name, "is no finite number", kWriterFault);
    }
  } else if constexpr (!std::is_same_v<T, Bytes>) {
    reference(info, value);
  }
}

template <class R>
void Verifier::record(const RawRecord& raw_record) {
  const Dialect& dialect = reader_.dialect();
  R record;
  detail::Decoder decoder(raw_record.body, raw_record.length, dialect.swapped(), dialect.metrics);
  visit_fields(record, dialect, decoder);
  if (decoder.failed() != nullptr) {
    find(Level::kError, decoder.failed(), "the record is too short for this field", kSkipped);
    return;
  }
  const bool later = dialect.native() ? dialect.minor > 0 : dialect.minor > 9;
  if (decoder.left() > 0 && !later) {
    find(Level::kWarning, "", "the record is longer than this version of the format has it",
         "the rest is ignored");
  }
  if (!dialect.native() && !in_classic(R::kDialect)) {
    find(Level::kError, "", "has no place in a classic trace", kWriterFault);
    return;
  }
  if (only_local(R::kDialect) && !result_.local) {
    find(Level::kError, "", "belongs into local traces only", "merge the run again");
  }
  bool counts_bytes = false;  // in an attribute
  visit_fields(record, dialect, PlainFields([&]<class T>(const FieldInfo& info, const T& value) {
                 if constexpr (std::is_same_v<T, Bytes>) counts_bytes |= is_absent(value);
                 field<R>(info, value);
               }));
  if constexpr (R::kKind == RecordKind::kDefinition) {
    definition(record, raw_record);
  } else if constexpr (R::kKind == RecordKind::kAttribute) {
    attribute(record);
  } else {
    if (counts_bytes && dialect.native() && !has_byte_count_) {
      find(Level::kError, "", "a byte count stands in an ATTR_UI8 that is not there",
           "the count is taken as 4294967295");
    }
    event(record);
  }
}

template <class T>
void Verifier::introduced(const char* field, T id) {
  bool known = false;
  if constexpr (std::is_same_v<T, CallPathId>) {
    known = call_paths_.count(raw(id)) != 0;
  } else if constexpr (kNamesObject<T>) {
    known = undefined(definitions_, id) == nullptr;
  }
  if (known) find(Level::kWarning, field, "is defined twice", "the later definition counts");
}

template <class R>
void Verifier::definition(const R& record, const RawRecord& raw_record) {
  if constexpr (std::is_same_v<R, CallPath>) call_paths_.insert(raw(record.cpid));
  const std::size_t unfinished = definitions_.unfinished();
  (void)definitions_.add(raw_record, reader_.dialect());
  if (const char* what = fault_text(definitions_.fault())) {
    find(Level::kError, "", what, "the definition is left out or cut");
  }
  if (definitions_.unfinished() != unfinished) {
    find(Level::kError, "", "the definition before this one lacks continuations",
         "the file is damaged");
  }
}

template <class R>
void Verifier::attribute(const R& record) {
  pending_attribute_ = place_;
  if constexpr (std::is_same_v<R, AttrUi8>) {
    has_byte_count_ =
        has_byte_count_ || record.kind == kAttrBytesSent || record.kind == kAttrBytesReceived;
  }
  if constexpr (std::is_same_v<R, AttrMetrics>) {
    const std::size_t defined = definitions_.local_metrics.size();
    if (record.values.size() != defined && record.values.size() != 2 * defined) {
      find(Level::kError, "values", "are not one or two for each LOCAL_METRIC",
           "those that are there count");
    }
  } else if (raw(record.kind) == 0 || raw(record.kind) > raw(kLastAttribute)) {
    find(Level::kNote, "kind", "is no kind of attribute that this version knows", kSkipped);
  }
}

void Verifier::leave(LocationState& state, bool tracing) {
  if (state.open.empty()) {
    find(Level::kError, "", "leaves a region where none is open", kSkipped);
    return;
  }
  if (is_absent(state.open.back()) != tracing) {
    find(Level::kError, "", "leaves a region that is not the innermost one",
         "entering and leaving must be in pairs");
  }
  state.open.pop_back();
}

// Whether the region about to be left is an MPI function for which ok(function) holds.
template <class Ok>
void Verifier::leaves(const LocationState& state, Ok&& ok) {
  if (state.open.empty() || is_absent(state.open.back())) return;  // found elsewhere
  const RegionDef* region = definitions_.regions.find(state.open.back());
  if (region == nullptr || (region->function != nullptr && ok(*region->function))) return;
  find(Level::kWarning, "", "leaves a region that is no call of this kind",
       "the region tells what the call was; patterns may overlook it");
}

template <class R>
void Verifier::flow(const R& record, LocationState& state) {
  if constexpr (std::is_same_v<R, Enter>) {
    state.open.push_back(is_absent(record.rid) ? RegionId{0} : record.rid);
  } else if constexpr (std::is_same_v<R, EnterCs>) {
    const CallSiteDef* site = definitions_.call_sites.find(record.csid);
    state.open.push_back(site == nullptr || is_absent(site->entered) ? RegionId{0} : site->entered);
  } else if constexpr (kEnters<R>) {
    state.open.push_back(absent<RegionId>());
  } else if constexpr (kLeaves<R>) {
    if constexpr (std::is_same_v<R, MpiWinExit>) {
      leaves(state, [](const MpiFunction& f) {
        return group_exit_move(f.role, true) != EpochMove::kNone;
      });
    } else if constexpr (std::is_same_v<R, MpiWinCollExit>) {
      leaves(state,
             [](const MpiFunction& f) { return collective_exit_move(f.role) != EpochMove::kNone; });
    }
    leave(state, kOfMeasurement<R>);
  }
}

template <class R>
void Verifier::event(const R& record) {
  if (!result_.local && !definitions_.last_def) {
    find(Level::kError, "", "stands before LAST_DEF", "the definitions are not complete");
  }
  double end = record.time.value;
  if constexpr (requires { record.exit; }) {  // a whole call
    if (record.exit.value < end) {
      find(Level::kError, "exit", "is before the call's enter", kWriterFault);
    }
    end = std::max(end, record.exit.value);
  }
  if (record.time.value < last_time_) {
    find(Level::kError, "time", "is before that of the event in front of it", kWriterFault);
  }
  if (std::isfinite(end)) last_time_ = std::max(last_time_, end);
  if (result_.local) {
    if (!local_location_) local_location_ = record.lid;
    if (*local_location_ != record.lid) {
      find(Level::kError, "lid", "a local trace has one location only", kWriterFault);
    }
  }
  if (definitions_.locations.find(record.lid) == nullptr) return;
  LocationState* state = states_.find(record.lid);
  if (state == nullptr) state = &states_.set(record.lid, {});
  state->polls.event(record, result_.local, [this](const char* name, const char* what) {
    const bool part = what == PollRules::kNotThere || what == PollRules::kNothingBefore;
    find(part ? Level::kNote : Level::kWarning, name, what,
         part ? "the other part of the trace has it" : kWriterFault);
  });
  flow(record, *state);
}

void Verifier::begin_part() {
  whole_file();
  definitions_ = Definitions();
  call_paths_.clear();
  states_ = {};
  pending_attribute_ = {};
  has_byte_count_ = false;
  last_time_ = -HUGE_VAL;
  local_location_.reset();
}

// What can be said only at the end.
void Verifier::whole_file() {
  place_ = {0, reader_.offset()};  // (of the part, if there are several)
  definitions_.finish();
  if (!result_.local) {
    if (!definitions_.last_def) {
      find(Level::kError, "", "the file has no LAST_DEF",
           "it is neither a local nor a merged trace, or it is truncated");
    }
    if (!definitions_.event_count) {
      find(Level::kError, "", "the file does not tell its number of events",
           "it is neither a local nor a merged trace, or it is truncated");
    }
    const auto dense = [&](const char* what, const auto& table) {
      std::uint32_t next = 0;
      bool gaps = false;
      table.for_each([&](auto id, const auto&) { gaps = gaps || raw(id) != next++; });
      if (gaps) find(Level::kWarning, "", what, "classic tools may reject the file");
    };
    dense("the identifiers of locations have gaps", definitions_.locations);
    dense("the identifiers of regions have gaps", definitions_.regions);
    dense("the identifiers of communicators have gaps", definitions_.comms);
    dense("the identifiers of windows have gaps", definitions_.windows);
  }
  states_.for_each([&](LocationId, const LocationState& state) {
    if (!state.open.empty()) {
      find(Level::kWarning, "", "regions are still open on a location at the end",
           result_.local ? "the program was killed, or elg_merge will close them"
                         : "the trace is truncated, or the program was killed");
    }
  });
}

Result<Verification> Verifier::run() {
  RawRecord raw_record;
  while (true) {
    const TraceReader::Next next = reader_.next(raw_record);
    if (next == TraceReader::Next::kEnd) break;
    if (next == TraceReader::Next::kDamaged) {
      const Error& error = reader_.error();
      place_ = {0, reader_.offset()};
      find(Level::kError, "", kDamage, "");
      Finding& damage = findings_[{0, "", kDamage}];
      if (error.offset) damage.first_offset = *error.offset;
      damage.what = error.reason;
      damage.advice = error.remedy;
      break;
    }
    if (result_.records++ == 0) {
      result_.local = raw_record.type == static_cast<std::uint8_t>(RecordType::kLocalRun);
    }
    place_ = {raw_record.type, raw_record.offset};
    if (result_.local && result_.records > 1 &&
        raw_record.type == static_cast<std::uint8_t>(RecordType::kLocalRun)) {
      begin_part();
      place_ = {raw_record.type, raw_record.offset};
    }
    const bool event = is_event(raw_record.type);
    if (event) {
      ++result_.events;
      if (!reader_.dialect().native() && !definitions_.last_def) {
        return classic_local_archive(reader_.path(), raw_record.offset);
      }
    }
    if (pending_attribute_.type != 0 && is_definition(raw_record.type)) {
      const Place here = std::exchange(place_, pending_attribute_);
      find(Level::kWarning, "", "no event follows this attribute", kSkipped);
      place_ = here;
      pending_attribute_ = {};
    }
    if (is_skipped(raw_record.type)) {
      find(Level::kNote, "", "is bookkeeping of the classic tools", kSkipped);
    } else if (!dispatch_record(raw_record.type, [&]<class R>() { record<R>(raw_record); })) {
      find(Level::kWarning, "", "is of unknown type", kSkipped);
    }
    if (event) {
      pending_attribute_ = {};
      has_byte_count_ = false;
    }
    if (progress_ && (result_.records & 0xFFFF) == 0) progress_(reader_.progress());
  }
  whole_file();
  for (auto& [key, finding] : findings_) result_.findings.push_back(std::move(finding));
  std::sort(result_.findings.begin(), result_.findings.end(),
            [](const Finding& a, const Finding& b) {
              return std::tie(b.level, a.first_offset, a.type, a.field, a.what) <
                     std::tie(a.level, b.first_offset, b.type, b.field, b.what);
            });
  return std::move(result_);
}

}  // namespace

std::string Finding::message() const {
  std::string text;
  if (type != 0) {
    const std::string_view name = record_name(type);
    text = name.empty() ? "record type " + std::to_string(type) : std::string(name);
    if (!field.empty()) text += "." + field;
    text += " ";
  }
  text += what;
  text += count > 1 ? " (" + std::to_string(count) + " times, first at offset " : " (at offset ";
  text += std::to_string(first_offset);
  if (!advice.empty()) text += "; " + advice;
  return text + ")";
}

Level Verification::worst() const {
  Level worst = Level::kNote;
  for (const Finding& finding : findings) worst = std::max(worst, finding.level);
  return worst;
}

Result<Verification> verify_trace(TraceReader& reader,
                                  const std::function<void(std::uint64_t)>& progress) {
  return Verifier(reader, progress).run();
}

Error classic_local_archive(const std::string& path, std::uint64_t offset) {
  Error error;
  error.file = path;
  error.offset = offset;
  error.reason =
      "this is a local file of the classic tools: its events come without the merged "
      "definitions";
  error.remedy = "merge the archive with the tool that recorded it and give the merged trace";
  return error;
}

}  // namespace kojak
