#include "expert/parallel/meetings.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace kojak::parallel {
void MeetingTable::add(const Row& row, double enter, double exit) {
  Joined& j = joined_[row.key];
  Meeting& m = j.meeting;
  m.key = row.key;
  m.at = j.processes == 0 ? enter : std::max(m.at, enter);
  m.left = j.processes == 0 ? exit : std::min(m.left, exit);
  m.open = static_cast<std::uint16_t>(m.open | row.open);
  m.events += row.events;
  m.bytes += row.begins;
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
    // Left at the very moment at which the last one enters: what is there first depends on the
    // order of their records.
    if (j.processes != processes_ || !(m.left > m.at)) continue;
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
