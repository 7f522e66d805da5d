#include "expert/parallel/slices.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "epilog/format/service.h"

namespace kojak::parallel {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// Records of which what they tell is not added up yet, or of which a count has to go on.
const char* not_added(std::uint8_t type) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kMpiPolled:
    case RecordType::kMpiPoll:
      return "polls";
    case RecordType::kSample:
      return "samples";
    case RecordType::kMpiError:
      return "calls that failed";
    case RecordType::kMpiOpenCall:
    case RecordType::kProcessEnded:
      return "calls that never ended";
    case RecordType::kOmpFork:
    case RecordType::kOmpTeam:
    case RecordType::kOmpALock:
    case RecordType::kOmpCollExit:
      return "OpenMP";
    case RecordType::kLogOff:
    case RecordType::kWinState:
    case RecordType::kEpochState:
    case RecordType::kCollState:
    case RecordType::kMsgState:
    case RecordType::kMsgRestarted:
    case RecordType::kRequestState:
      return "pauses of the recording";
    default:
      return nullptr;
  }
}

// Where one location stands.
class Stack {
 public:
  void take(const RawRecord& record, const Dialect& dialect, const Definitions& definitions) {
    count_fence(record, dialect, definitions);
    if (record.type == static_cast<std::uint8_t>(RecordType::kProcessor)) {
      Processor r;
      if (decode(record, dialect, r) == nullptr) {
        processor_ = {
            r.time,
            {raw(r.ran), raw(r.wanted), raw(r.preempted), blocked_kind(raw(r.blocked_kind))}};
      }
    }
    dispatch_record(record.type, [&]<class R>() {
      if constexpr (kEnters<R> || kLeaves<R>) {
        R r;
        if (decode(record, dialect, r) != nullptr) return;
        earl::Standing::Open open;
        open.enter = r.time;
        if constexpr (std::is_same_v<R, Enter>) open.region = r.rid;
        if constexpr (std::is_same_v<R, EnterCs>) {
          const CallSiteDef* site = definitions.call_sites.find(r.csid);
          if (site != nullptr) open.region = site->entered;
          open.csite = r.csid;
        }
        if constexpr (kEnters<R>) open_.push_back(open);
        if constexpr (kLeaves<R>) leave(r.time);
      }
    });
  }
  // Fences left so far, by window.
  void count_fence(const RawRecord& record, const Dialect& dialect,
                   const Definitions& definitions) {
    if (record.type != static_cast<std::uint8_t>(RecordType::kMpiWinCollExit) || open_.empty())
      return;
    MpiWinCollExit r;
    if (decode(record, dialect, r) != nullptr) return;
    const MpiRole role = definitions.role(open_.back().region);
    if (role == MpiRole::kWinFence) ++fences_[r.wid];
    if (role == MpiRole::kWinFree) fences_.erase(r.wid);
  }
  earl::Standing::Location standing() const {
    earl::Standing::Location l{open_, {}, processor_, {}};
    for (const auto& [window, fences] : fences_) l.fenced.push_back({window, fences});
    return l;
  }

 private:
  void leave(Seconds time) {
    if (open_.empty()) return;
    const Seconds duration = time - open_.back().enter;
    open_.pop_back();
    if (!open_.empty()) open_.back().nested += duration;
  }
  std::vector<earl::Standing::Open> open_;
  std::map<WindowId, std::uint64_t> fences_;
  std::optional<earl::Standing::Processor> processor_;
};

void append(std::vector<std::byte>& to, const RawRecord& record) {
  to.insert(to.end(), record.body - 2, record.body + record.length);
}

// How many events there are is not told.
template <class R>
void append(std::vector<std::byte>& to, const R& record, const Dialect& dialect) {
  std::byte bytes[kMaxRecord];
  to.insert(to.end(), bytes, bytes + encode(record, dialect, bytes));
}

// Of the transfer whose start or end a record is: its origin and number.
using Transfer = std::pair<std::uint32_t, std::uint32_t>;
struct Ends {
  std::optional<Transfer> begins, ends;
};
Ends transfer_of(const RawRecord& record, const Dialect& dialect) {
  Ends ends;
  dispatch_record(record.type, [&]<class R>() {
    R r;
    const auto lid = [](const auto& of) { return raw(of.lid); };
    if constexpr (std::is_same_v<R, MpiPut1ts> || std::is_same_v<R, MpiGet1to> ||
                  std::is_same_v<R, MpiPut1to>) {
      if (decode(record, dialect, r) == nullptr) ends.begins = {lid(r), raw(r.rmaid)};
    } else if constexpr (std::is_same_v<R, MpiPut1te>) {
      if (decode(record, dialect, r) == nullptr) ends.ends = {raw(r.slid), raw(r.rmaid)};
    } else if constexpr (std::is_same_v<R, RmaMark>) {
      if (decode(record, dialect, r) == nullptr) ends.ends = {raw(r.olid), raw(r.rmaid)};
    } else if constexpr (std::is_same_v<R, MpiGet1ts>) {
      if (decode(record, dialect, r) == nullptr) ends.ends = {raw(r.dlid), raw(r.rmaid)};
    } else if constexpr (std::is_same_v<R, MpiGet1te>) {
      if (decode(record, dialect, r) == nullptr) ends.ends = {lid(r), raw(r.rmaid)};
    }
  });
  return ends;
}

std::uint32_t location_of(const RawRecord& record, bool swapped) {
  std::uint32_t lid = kAbsent;
  if (record.length >= 4) std::memcpy(&lid, record.body, 4);
  return swapped ? byte_swapped(lid) : lid;
}

}  // namespace

Result<Slices> Slices::of(const std::string& file, const std::string& at) {
  Slices slices;
  slices.file_ = file;
  auto reader = TraceReader::open(file);
  if (!reader) return reader.error();
  Definitions definitions;
  std::vector<std::vector<std::byte>> held;  // attributes
  struct Location {
    RowTable rows{std::numeric_limits<std::size_t>::max()};
    std::unique_ptr<RowMaker> maker;
  };
  std::map<std::uint32_t, Location> locations;
  std::vector<std::vector<std::byte>> defined;
  std::uint64_t pos = 0;
  RawRecord record;
  TraceReader::Next next{};
  const auto begin_events = [&] {
    definitions.finish();
    if (!definitions.metrics.empty()) slices.alone_ = "hardware counters are not added up yet";
    if (any_service(definitions)) slices.alone_ = "a process serves the others";
    if (!reader->dialect().native()) slices.alone_ = "the trace is a classic one";
    std::set<std::uint32_t> processes;
    definitions.locations.for_each([&](LocationId id, const LocationDef& def) {
      if (!processes.insert(raw(def.process)).second)
        slices.alone_ = "rank " + std::to_string(raw(def.process)) + " has several threads";
      locations[raw(id)];
      slices.locations_.push_back(id);
    });
    for (auto& [id, l] : locations) {
      l.maker = std::make_unique<RowMaker>(id, static_cast<std::uint32_t>(locations.size()),
                                           reader->dialect(),
                                           [&rows = l.rows](const Row& row) { rows.add(row); });
      for (const std::vector<std::byte>& bytes : defined) {
        l.maker->take({static_cast<std::uint8_t>(bytes[1]), static_cast<std::uint8_t>(bytes[0]),
                       bytes.data() + 2, 0});
      }
    }
  };
  while ((next = reader->next(record)) == TraceReader::Next::kRecord) {
    if (is_definition(record.type)) {
      (void)definitions.add(record, reader->dialect());
      defined.emplace_back(record.body - 2, record.body + record.length);
      if (definitions.last_def && locations.empty()) begin_events();
      if (!slices.alone_.empty()) return slices;
      continue;
    }
    if (is_attribute(record.type)) {
      held.emplace_back(record.body - 2, record.body + record.length);
      continue;
    }
    const auto at_location = locations.find(location_of(record, reader->dialect().swapped()));
    if (const char* const what = not_added(record.type)) {
      slices.alone_ = std::string(what) + " cannot be added up yet";
      return slices;
    }
    if (at_location != locations.end()) {
      RowMaker& maker = *at_location->second.maker;
      for (const std::vector<std::byte>& bytes : held) {
        maker.take({static_cast<std::uint8_t>(bytes[1]), static_cast<std::uint8_t>(bytes[0]),
                    bytes.data() + 2, pos});
      }
      record.offset = pos;
      maker.take(record);
    }
    held.clear();
    ++pos;
  }
  if (next == TraceReader::Next::kDamaged) slices.alone_ = "the trace is damaged";
  MeetingTable table;
  for (const auto& [id, l] : locations) {
    table.add(l.rows.rows(), [](double time) { return time; });
    if (l.maker->alone()) slices.alone_ = "rank " + std::to_string(id) + " uses SHMEM, ARMCI or UPC";
  }
  slices.meetings_ = table.finish(true);  // (locks of all are not told yet)
  if (slices.alone_.empty()) slices.alone_ = slices.choose(at);
  return slices;
}

// Why it cannot be cut there; empty if it can.
std::string Slices::choose(const std::string& at) {
  // Meetings one behind the other at all locations: what is at rest is.
  const auto cut = [&](std::size_t number) { cuts_.push_back(number); };
  if (at == "all") {
    for (std::size_t i = 0; i < meetings_.size(); ++i) {
      if (meetings_[i].at_rest()) cut(i);
    }
  } else {
    std::istringstream words(at);
    for (std::string word; std::getline(words, word, ',');) {
      std::size_t number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || end != word.data() + word.size() || number >= meetings_.size())
        return "there is no meeting \"" + word + "\"";
      if (!meetings_[number].at_rest())
        return "at meeting " + word + " are open: " + why_not(meetings_[number]);
      cut(number);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }
  return cuts_.empty() ? "no meeting is at rest" : "";
}

Result<Slice> Slices::slice(std::size_t number) const {
  const Meeting* const left = number == 0 ? nullptr : &meetings_[cuts_[number - 1]];
  const Meeting* const right = number == cuts_.size() ? nullptr : &meetings_[cuts_[number]];
  auto reader = TraceReader::open(file_);
  if (!reader) return reader.error();
  Dialect dialect = reader->dialect();
  Slice slice;
  slice.trace.resize(kHeaderSize);
  Dialect written = dialect;
  written.major = 2;
  encode_header(written, slice.trace.data());
  Definitions definitions;
  std::vector<Stack> stacks(locations_.size());
  std::set<Transfer> begun;
  std::vector<std::byte> held;
  slice.gate.locations.resize(locations_.size());
  std::uint64_t pos = 0, written_events = 0;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (is_definition(record.type)) {
      (void)definitions.add(record, reader->dialect());
      if (record.type == static_cast<std::uint8_t>(RecordType::kNumEvents)) {
        append(slice.trace, NumEvents{Count{kAbsent}}, dialect);
      } else if (record.type != static_cast<std::uint8_t>(RecordType::kEventCount64)) {
        append(slice.trace, record);
      }
      continue;
    }
    if (is_attribute(record.type)) {
      append(held, record);
      continue;
    }
    const LocationId lid{location_of(record, dialect.swapped())};
    const auto place = std::lower_bound(locations_.begin(), locations_.end(), lid);
    const std::size_t i = static_cast<std::size_t>(place - locations_.begin());
    const bool known = place != locations_.end() && *place == lid;
    bool keep = true;
    if (known) {
      const bool before = left != nullptr && pos < left->begins[i];
      if (before) stacks[i].take(record, dialect, definitions);
      keep = !before && (right == nullptr || pos <= right->ends[i]);
      const Ends ends = transfer_of(record, dialect);
      if (keep && ends.begins) begun.insert(*ends.begins);
      keep = keep && (!ends.ends || begun.contains(*ends.ends));
    }
    if (known && left != nullptr && pos == left->ends[i])
      slice.gate.locations[i].first = written_events + 1;
    if (known && right != nullptr && pos == right->ends[i])
      slice.gate.locations[i].last = written_events;
    if (keep) {
      slice.trace.insert(slice.trace.end(), held.begin(), held.end());
      append(slice.trace, record);
      ++written_events;
    }
    held.clear();
    ++pos;
  }
  if (left == nullptr) return slice;
  slice.standing.emplace();
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    slice.standing->locations.push_back(stacks[i].standing());
  }
  return slice;
}

}  // namespace kojak::parallel
