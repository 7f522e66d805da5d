#include "earl/filter/timeline.h"

#include <algorithm>

namespace kojak::filter {

void Timeline::saw(const MetricValues& values) {
  if (values.empty()) return;
  values_.resize(values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    // Damaged traces have more values than counters.
    const bool adds_up = i < counters_->size() && (*counters_)[i];
    if (!adds_up) values_[i] = values[i];
  }
}

void Timeline::turn_on(std::size_t depth, Seconds time, Output& out) {
  resume(time, out);
  follow(depth, time, out);
  on_ = true;
}

void Timeline::turn_off(Seconds time, Output& out) {
  on_ = false;
  if (open_.empty()) return close(time, out);
  if (!pauses_ || paused_) return;
  out.put(LogOff{lid_, time, metrics()});
  paused_ = true;
}

void Timeline::begin_off(Seconds time, Output& out) {
  follow(open_.size(), time, out);
  turn_off(time, out);
}

void Timeline::close(Seconds time, Output& out) {
  resume(time, out);
  follow(0, time, out);
  on_ = false;
}

void Timeline::resume(Seconds time, Output& out) {
  values_.resize(counters_->size());
  if (paused_) out.put(LogOn{lid_, time, metrics()});
  paused_ = false;
}

// Leaves what is no longer open, and enters what is.
void Timeline::follow(std::size_t depth, Seconds time, Output& out) {
  values_.resize(counters_->size());
  std::size_t common = 0;
  while (common < depth && common < shown_.size() && shown_[common].pos == open_[common].pos) {
    ++common;
  }
  while (shown_.size() > common) {
    exit(shown_.back(), time, out);
    shown_.pop_back();
  }
  for (std::size_t i = common; i < depth; ++i) {
    enter(open_[i], time, out);
    shown_.push_back(open_[i]);
  }
}

void Timeline::enter(const Frame& frame, Seconds time, Output& out) {
  switch (frame.kind) {
    case Frame::Kind::kEnter:
      return out.put(Enter{lid_, time, frame.region, metrics()});
    case Frame::Kind::kEnterCs:
      return out.put(EnterCs{lid_, time, frame.site, metrics()});
    case Frame::Kind::kTracing:
      return out.put(EnterTracing{lid_, time, metrics()});
    case Frame::Kind::kLogOff:
      return out.put(LogOff{lid_, time, metrics()});
  }
}

void Timeline::exit(const Frame& frame, Seconds time, Output& out) {
  switch (frame.kind) {
    case Frame::Kind::kEnter:
    case Frame::Kind::kEnterCs:
      return out.put(Exit{lid_, time, metrics()});
    case Frame::Kind::kTracing:
      return out.put(ExitTracing{lid_, time, metrics()});
    case Frame::Kind::kLogOff:
      return out.put(LogOn{lid_, time, metrics()});
  }
}

}  // namespace kojak::filter
