#include "earl/index/poll_series.h"

#include "epilog/format/field_values.h"

namespace kojak::earl::sequence {

void PollSeries::follow(const Event& e) {
  Latest& latest = latest_[raw(e.loc)];
  if (e.type == EventType::kMpiPolled) {
    const std::uint64_t enter = e.enterptr == kNoEvent ? e.pos : e.enterptr;
    const bool goes_on = (e.count[2] & kPollGoesOn) != 0 && latest.polling.since != kNoEvent;
    latest.polling = {enter, goes_on ? latest.polling.since : enter, e.pos};
    latest.due = e.count[1];
  } else if (latest.due != 0) {
    --latest.due;
  } else {
    return;
  }
  if (latest.due == 0) log(latest, e.pos);
}

void PollSeries::log(const Latest& latest, std::uint64_t end) {
  if (log_ == nullptr) return;
  contents_.clear();
  {
    NumberWriter out(contents_);
    out.number(latest.polling.enter - latest.polling.since);
    out.number(latest.polling.polled - latest.polling.enter);
  }
  log_->add(latest.polling.enter, end, contents_);
}

Polling PollSeries::polling_of(const IntervalColumn::Row& row) {
  NumberReader in(row.contents);
  Polling polling;
  polling.enter = row.begin;
  polling.since = row.begin - in.number();
  polling.polled = row.begin + in.number();
  return polling;
}

std::optional<Polling> PollSeries::polling(LocationId location) const {
  const auto found = open_.find(raw(location));
  return found == open_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace kojak::earl::sequence
