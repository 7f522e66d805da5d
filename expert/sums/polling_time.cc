#include "expert/sums/polling_time.h"

#include <algorithm>

namespace kojak::expert {

void PollingTime::on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
  any_ = true;
  Location& l = locations_[call.index];
  l.series_of = call.enter_pos;
  l.goes_on = series.goes_on();
  l.found = !series.alone() || raw(series.polled.end) == raw(PollEnd::kFound);
  l.reads = std::any_of(series.members.begin(), series.members.end(),
                        [](const MpiPoll& m) { return raw(m.kind) == raw(PollKind::kRead); });
}

void PollingTime::add(const earl::Call& call) {
  Location& l = locations_[call.index];
  if (l.series_of != call.enter_pos) return;  // of a damaged trace
  if (!l.goes_on) {
    end_stretch(l);
    l.stretch = {call.enter, call.exit};
  }
  l.stretch.end = call.exit;
  l.stretch.found = l.stretch.found || l.found;
  l.stretch.reads = l.stretch.reads || l.reads;
  if (call.polled) {
    l.parts.push_back({raw(call.cnode),
                       call.enter,
                       call.exit,
                       call.enter_pos,
                       call.exit_pos,
                       TimeSum::of(call.exclusive.value),
                       {}});
    ++l.open;
  }
  if (l.open > kMostOpen) end_stretch(l);
  while (l.parts.size() > l.open + kRecent) settle_first(call.index);
}

// Whether it counts is known.
void PollingTime::end_stretch(Location& l) {
  if (!l.stretch.counts()) l.parts.resize(l.parts.size() - l.open);
  l.open = 0;
}

void PollingTime::claim(const Wait& wait) {
  if (wait.exclusive.value != 0) return;  // of no series
  Location& l = locations_[wait.location];
  // (Of a call that did not return only its times are known.)
  const auto part = std::find_if(l.parts.rbegin(), l.parts.rend(), [&](const Part& p) {
    return p.exit_pos == wait.exit_pos || (p.path == wait.call_path && p.enter == wait.enter);
  });
  const TimeSum time = TimeSum::of(wait.waiting.value);
  const bool in_sum = wait.known == Wait::Known::kInSum;
  if (part != l.parts.rend()) {
    part->left -= time;
    part->claimed.push_back({wait.begin, wait.end});
    if (in_sum) later_[{wait.call_path, wait.location}] -= time;
  } else if (!in_sum && l.any_settled && wait.exit_pos <= l.settled) {
    later_[{wait.call_path, wait.location}] += time;
  }
}

void PollingTime::settle_first(LocationIndex location) {
  Location& l = locations_[location];
  Part part = std::move(l.parts.front());
  l.parts.pop_front();
  l.settled = part.exit_pos;
  l.any_settled = true;
  constexpr Ticks kRounding = 16;
  if (part.left <= TimeSum(kRounding)) return;
  Wait wait;
  wait.metric = metric_index<Polling>();
  wait.call_path = part.path;
  wait.location = location;
  wait.enter = part.enter;
  wait.exit = part.exit;
  wait.enter_pos = part.enter_pos;
  wait.exit_pos = part.exit_pos;
  const std::size_t first = ready_.size();
  std::sort(part.claimed.begin(), part.claimed.end(),
            [](const earl::Interval& a, const earl::Interval& b) { return a.begin < b.begin; });
  Seconds from = part.enter;
  TimeSum left = part.left;
  const auto until = [&](Seconds end) {
    const TimeSum time = std::min(left, TimeSum::of((end - from).value));
    if (!(from < end) || !time) return;
    wait.begin = from;
    wait.end = end;
    wait.waiting = Seconds{time.seconds()};
    left -= time;
    ready_.push_back(wait);
  };
  for (const earl::Interval& claimed : part.claimed) {
    until(claimed.begin);
    from = std::max(from, claimed.end);
  }
  until(part.exit);
  TimeSum told;
  for (std::size_t w = first; w < ready_.size(); ++w) told.add(ready_[w].waiting.value);
  if (told) told_[{part.path, location}] += told;
}

void PollingTime::settle_all(LocationIndex location) {
  Location& l = locations_[location];
  end_stretch(l);
  while (!l.parts.empty()) settle_first(location);
}

}  // namespace kojak::expert
