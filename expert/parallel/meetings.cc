#include "expert/parallel/meetings.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "merge/define/linear_clock.h"
#include "merge/input/find_traces.h"
#include "merge/input/local_input.h"

namespace kojak::parallel {
namespace {

constexpr std::size_t kBuffer = 256 * 1024;

// What one process tells.
struct Told {
  RowTable rows;
  merge::ClockRecord clock;
  std::string node;
  bool alone = false, locks = false;
  std::uint64_t events = 0;
};

Told read_rows(const merge::LocalTrace& trace, merge::FileCache& files, std::size_t most_rows) {
  Told told{RowTable(most_rows)};
  RowMaker maker(trace.rank, trace.run_size, trace.dialect,
                 [&](const Row& row) { told.rows.add(row); });
  merge::LocalInput input(files, trace, {kBuffer, nullptr});
  for (;;) {
    if (input.available() < kMaxRecord && !input.exhausted()) input.fill();
    const std::byte* const p = input.position();
    if (input.available() < 2) break;
    const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]), p + 2,
                           input.offset(p)};
    if (input.available() < std::size_t{2} + record.length) break;
    maker.take(record);
    input.skip(std::size_t{2} + record.length);
  }
  Definitions& definitions = maker.definitions();
  definitions.finish();
  told.clock.offsets = definitions.offsets;
  told.clock.rate = definitions.clock_rate;
  told.clock.rank = trace.rank;
  definitions.locations.for_each([&](LocationId, const LocationDef& location) {
    const NodeDef* const node = definitions.nodes.find(location.node);
    if (node != nullptr) told.node = node->name;
  });
  told.alone = maker.alone();
  told.locks = maker.locks();
  told.events = maker.events();
  return told;
}

std::string alone_for(const std::vector<merge::LocalTrace>& traces) {
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!traces[i].dialect.native()) return "the traces are classic ones";
    if (i != 0 && traces[i].rank == traces[i - 1].rank)
      return "rank " + std::to_string(traces[i].rank) + " has several threads";
  }
  if (!traces.empty() && traces.size() != traces.front().run_size)
    return "traces of some processes are missing";
  return "";
}

}  // namespace

Result<Meetings> find_meetings(const std::string& folder, std::size_t most_rows) {
  merge::Summary summary;
  merge::FileCache files;
  auto traces = merge::find_local_traces({folder}, files, summary);
  if (!traces) return traces.error();
  Meetings found;
  found.alone = alone_for(*traces);
  if (!found.alone.empty()) return found;

  std::vector<Told> told;
  std::map<std::string, std::uint32_t> nodes;
  unsigned bits = 0;
  bool locks = false;
  for (const merge::LocalTrace& trace : *traces) {
    Told& t = told.emplace_back(read_rows(trace, files, most_rows));
    t.clock.node =
        nodes.try_emplace(t.node, static_cast<std::uint32_t>(nodes.size())).first->second;
    bits = std::max(bits, t.rows.bits());
    locks = locks || t.locks;
    found.events += t.events;
    if (t.alone) {
      found.alone = "rank " + std::to_string(trace.rank) + " uses SHMEM, ARMCI or UPC";
      return found;
    }
  }
  std::vector<merge::ClockRecord> records;
  for (const Told& t : told) records.push_back(t.clock);
  std::uint64_t without = 0;
  const std::vector<merge::LinearClock> clocks = merge::linear_clocks(records, without);

  MeetingTable table;
  for (std::size_t i = 0; i < told.size(); ++i) {
    told[i].rows.thin(bits);
    table.add(told[i].rows.rows(), clocks[i]);
  }
  found.all = table.finish(locks);
  return found;
}

void MeetingTable::add(const Row& row, double enter, double exit) {
  Joined& j = joined_[row.key];
  Meeting& m = j.meeting;
  m.key = row.key;
  m.at = j.processes == 0 ? enter : std::max(m.at, enter);
  m.left = j.processes == 0 ? exit : std::min(m.left, exit);
  m.open = static_cast<std::uint16_t>(m.open | row.open);
  m.events += row.events;
  m.begins.push_back(row.begins);
  m.ends.push_back(row.ends);
  j.messages += row.messages;
  j.agreement += row.agreement;
  ++j.processes;
}

std::vector<Meeting> MeetingTable::finish(bool locks) {
  constexpr auto kHeld = static_cast<std::uint16_t>(Open::kLockAll);
  std::vector<Meeting> all;
  for (auto& [key, j] : joined_) {
    Meeting& m = j.meeting;
    if (j.processes != processes_ || m.left < m.at) continue;
    if (!locks) m.open = static_cast<std::uint16_t>(m.open & ~kHeld);
    m.on_their_way = j.messages != 0;
    m.half_done = j.agreement != 0;
    all.push_back(std::move(m));
  }
  std::sort(all.begin(), all.end(), [](const Meeting& a, const Meeting& b) {
    return std::tie(a.at, a.events, a.key) < std::tie(b.at, b.events, b.key);
  });
  return all;
}

std::string why_not(const Meeting& meeting) {
  constexpr std::array<std::pair<Open, const char*>, 9> kWords{{
      {Open::kRequests, "requests"},
      {Open::kEpochs, "epochs"},
      {Open::kLocks, "locks"},
      {Open::kUnflushed, "operations that no flush has completed"},
      {Open::kFences, "operations that a fence of another window ends"},
      {Open::kCalls, "calls around it"},
      {Open::kTeams, "threads"},
      {Open::kLockAll, "locks of all where others are taken"},
      {Open::kUnknown, "what is open is not known"},
  }};
  std::string why;
  const auto add = [&](bool is, const char* word) {
    if (is) why.append(why.empty() ? "" : ", ").append(word);
  };
  add(meeting.on_their_way, "messages");
  add(meeting.half_done, "half-done calls");
  for (const auto& [open, word] : kWords)
    add((meeting.open & static_cast<std::uint16_t>(open)) != 0, word);
  return why.empty() ? "at rest" : why;
}

}  // namespace kojak::parallel
