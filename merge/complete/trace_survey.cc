#include "merge/complete/trace_survey.h"

#include <algorithm>
#include <string_view>

#include "epilog/format/io/reader.h"
#include "merge/input/local_input.h"

namespace kojak::merge {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;

}  // namespace

void Asked::put(Kind kind, std::uint64_t number, std::span<const std::byte> bytes) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + 9 + bytes.size());
  bytes_[at] = static_cast<std::byte>(kind);
  std::memcpy(&bytes_[at + 1], &number, 8);
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at + 9));
}

void Asked::define(const RawRecord& record) {
  put(Kind::kRecord, record.offset, {record.body - 2, std::size_t{2} + record.length});
}

std::uint32_t LocalNames::window(WindowId id) {
  if (const std::uint32_t* known = windows_.find(id)) return *known;
  if (definitions_.windows.find(id) == nullptr) return kAbsent;
  asked_.ask(id);
  return windows_.add(id, static_cast<std::uint32_t>(windows_.answers.size()));
}

std::span<const std::uint32_t> LocalNames::members(CommId id) {
  const RankList* members = comms_.find(id);
  if (members == nullptr) {
    const CommDef* def = definitions_.comms.find(id);
    if (def == nullptr) return {};
    asked_.ask(id);
    members = &comms_.add(id, sides_swapped(*def) ? def->remote : def->ranks);
  }
  return members->vector();
}

MpiRole LocalNames::role(RegionId id) {
  if (const MpiRole* known = regions_.find(id)) return *known;
  const RegionDef* def = definitions_.regions.find(id);
  if (def == nullptr) return MpiRole::kOther;
  asked_.ask(id);
  return regions_.add(id, def->role());
}

MpiRole LocalNames::role(CallSiteId id) {
  if (const MpiRole* known = call_sites_.find(id)) return *known;
  const CallSiteDef* def = definitions_.call_sites.find(id);
  if (def == nullptr) return MpiRole::kOther;
  asked_.ask(id);
  return call_sites_.add(id, definitions_.role(def->entered));
}

bool LocalNames::hold(const Translation& translation, const MergedDefinitions& definitions) const {
  const MergedNames merged(translation, definitions);
  const auto role_holds = [&](const auto& said) { return merged.role(said.first) == said.second; };
  const auto members_hold = [&](const std::pair<CommId, RankList>& said) {
    const auto members = merged.members(said.first);
    return std::equal(members.begin(), members.end(), said.second.begin(), said.second.end());
  };
  std::vector<std::uint32_t> numbers = windows(translation);
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end() &&
         std::all_of(regions_.answers.begin(), regions_.answers.end(), role_holds) &&
         std::all_of(call_sites_.answers.begin(), call_sites_.answers.end(), role_holds) &&
         std::all_of(comms_.answers.begin(), comms_.answers.end(), members_hold);
}

std::vector<std::uint32_t> LocalNames::windows(const Translation& translation) const {
  std::vector<std::uint32_t> numbers;
  for (const auto& said : windows_.answers) numbers.push_back(translation.windows[raw(said.first)]);
  return numbers;
}

void TraceSurvey::run() {
  dialect_ = trace_.dialect;
  // (Nothing of it is decoded ahead: looking at the records takes a tenth of the time, and two
  // threads would wait for one another at each block. Whole traces are read side by side.)
  LocalInput input(files_, trace_, {kBuffer, nullptr});
  if (watch_ != nullptr) input.note_blocks(facts.blocks);
  scan(input);
  facts.end = input.offset();
  const auto place = [&] {
    return trace_.path + ": offset " + std::to_string(input.place(facts.end));
  };
  if (input.failed()) {
    damage.emplace(Finding::kUnreadable, input.error().message());
  } else if (trace_.damaged) {
    damage.emplace(Finding::kUnreadable, trace_.path);
  } else if (const char* const reason = input.damage()) {
    if (std::string_view(reason) == kEndsInsideRecord) {
      damage.emplace(Finding::kTruncated, place());
    } else {
      damage.emplace(Finding::kUnreadable, place() + ": " + reason);
    }
  }
  names.forget_definitions();
}

template <class Poll>
void TraceSurvey::note_polled_window(const RawRecord& record) {
  Poll poll;
  if (decode(record, dialect_, poll) != nullptr || is_absent(poll.wid)) return;
  const std::uint8_t kind = raw(poll.kind);
  if (kind == raw(PollKind::kRead) || kind == raw(PollKind::kSwap)) {
    facts.polled_windows.insert(raw(poll.wid));
  }
}

void TraceSurvey::scan(LocalInput& input) {
  Follower<LocalNames> follower(names, processes_, epochs.get());
  bool first_event = true;
  std::uint64_t told = 0;
  for (;;) {
    if (input.available() < kMaxRecord && !input.exhausted()) {
      input.fill();
      read_.add(input.progress() - told);
      told = input.progress();
    }
    if (input.available() < 2) break;
    const std::byte* p = input.position();
    const std::byte* const stop = input.end();
    while (stop - p >= 2) {
      const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                             p + 2, 0};
      const std::size_t size = std::size_t{2} + record.length;
      if (static_cast<std::size_t>(stop - p) < size) break;
      if (watch_ != nullptr) [[unlikely]] {
        watch_->take({record.type, record.length, record.body, input.offset(p)}, epochs.get());
      }
      const Step step = step_of(record.type);
      if (is_event_step(step)) {
        if (record.length < 12) [[unlikely]] {
          p += size;
          continue;
        }
        if (first_event) [[unlikely]] {
          first_event = false;
          facts.first_time = event_time(record, dialect_.swapped()).value;
        }
        ++facts.events;
      }
      switch (step) {
        case Step::kPlain:
          if (record.type == type_of(RecordType::kMpiPoll)) note_polled_window<MpiPoll>(record);
          break;
        case Step::kAttribute:
          break;
        case Step::kEnter:
          walk(Step::kEnter, record, dialect_, follower);
          break;
        case Step::kExit:
          walk(Step::kExit, record, dialect_, follower);
          facts.last_exit = input.offset(p);
          break;
        case Step::kCall:
          if (record.type == type_of(RecordType::kMpiPollCall)) {
            note_polled_window<MpiPollCall>(record);
          }
          facts.last_exit = input.offset(p);
          break;
        case Step::kDefinition: {
          RawRecord placed = record;
          placed.offset = input.offset(p);
          asked.define(placed);
          if (epochs != nullptr) names.define(placed, dialect_);
          if (record.type == type_of(RecordType::kMetric)) ++dialect_.metrics;
          if (record.type == type_of(RecordType::kMpiPollSite)) note_poll_site(record);
          if (record.type == type_of(RecordType::kMpiWinPart)) note_window_part(record);
          break;
        }
        case Step::kUnknown:
          if (unknown_types++ == 0) {
            first_unknown_type = trace_.path + ": offset " +
                                 std::to_string(input.place(input.offset(p))) + ": type " +
                                 std::to_string(record.type);
          }
          break;
        default:
          walk(step, record, dialect_, follower);
          if (step == Step::kSyncExit || step == Step::kContextCall)
            facts.last_exit = input.offset(p);
          if (step == Step::kSync) note_locks(record.type);
      }
      p += size;
    }
    const bool stuck = p == input.position() && input.exhausted();
    input.set_position(p);
    if (stuck) break;
    if (p == stop && input.exhausted()) break;
  }
  facts.open_regions = static_cast<std::uint32_t>(follower.depth());
  unmatched = follower.unmatched();
  unknown_roles = follower.unknown_roles();
  read_.add(trace_.size - std::min(told, trace_.size));
}

// What it says of a place goes for all that was said before.
void TraceSurvey::note_poll_site(const RawRecord& record) {
  MpiPollSite site;
  if (decode(record, dialect_, site) != nullptr) return;
  facts.poll_sites[raw(site.rid)] = {raw(site.finds), raw(site.least)};
}

void TraceSurvey::note_window_part(const RawRecord& record) {
  MpiWinPart part;
  if (decode(record, dialect_, part) != nullptr || raw(part.unit) == 0) return;
  facts.window_parts[raw(part.wid)] = {raw(part.base), raw(part.size), raw(part.unit)};
}

void TraceSurvey::note_locks(std::uint8_t type) {
  facts.locks = facts.locks || type == type_of(RecordType::kMpiWinLock) ||
                type == type_of(RecordType::kMpiWinUnlock);
  facts.lock_all = facts.lock_all || type == type_of(RecordType::kMpiWinLockAll) ||
                   type == type_of(RecordType::kMpiWinUnlockAll);
}

std::vector<TraceRange> shares_of(const std::vector<LocalTrace>& traces, std::size_t n) {
  std::vector<TraceRange> shares;
  std::uint64_t all = 0, before = 0;
  for (const LocalTrace& trace : traces) all += trace.size;
  std::size_t first = 0, end = 0;
  for (std::size_t k = 1; k <= n; ++k) {
    // Up to the trace whose midst is beyond.
    const double wanted =
        static_cast<double>(all) * static_cast<double>(k) / static_cast<double>(n);
    for (; end < traces.size(); before += traces[end++].size) {
      if (k != n && static_cast<double>(before + traces[end].size / 2) > wanted) break;
    }
    shares.push_back({std::exchange(first, end), end});
  }
  return shares;
}

std::unique_ptr<FoundInTrace> TraceReadings::next() {
  const std::size_t ahead = helpers_.any() ? 2 * (helpers_.count() + 1) : 1;
  while (begun_ < end_ && surveys_.size() < ahead) begin(begun_++);
  std::unique_ptr<TraceSurvey> found = std::move(surveys_.front());
  surveys_.pop_front();
  helpers_.finish(*found);
  return found;
}

void TraceReadings::begin(std::size_t trace) {
  const LocalTrace& read = traces_[trace];
  const bool alone = first_of_process(traces_, trace) && last_of_process(traces_, trace);
  TraceWatch* const watch = watches_ ? watches_(trace, read) : nullptr;
  surveys_.push_back(
      std::make_unique<TraceSurvey>(files_, read, read.run_size, alone, watch, read_, helpers_));
  helpers_.post(*surveys_.back());
}

}  // namespace kojak::merge
