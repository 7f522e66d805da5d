// The state of a random message-passing program while it is simulated, and what it records.
// Internal to clock_program.cc. Owns all it holds.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/clock_program.h"

namespace kojak::support {

class ClockState {
 protected:
  using Place = ClockProgram::Place;
  static constexpr std::uint32_t kNobody = 0xFFFFFFFFu;

  explicit ClockState(std::uint64_t seed) : random_(seed) {}

  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  std::uint32_t process() {
    return static_cast<std::uint32_t>(number(0, static_cast<int>(size_) - 1));
  }
  struct Clock {
    double offset, drift, wobble, phase;
    double at(double t) const { return t + offset + drift * t + wobble * std::sin(3 * t + phase); }
  };

  Place record(std::uint32_t p, const std::string& name, const std::string& fields) {
    if (!recording_[p]) return {kNobody, 0};
    events_.push_back({p, now_[p], name, fields});
    return {p, counts_[p]++};
  }
  Place enter(std::uint32_t p, const char* region) {
    return record(p, "ENTER", "region=" + std::string(region));
  }
  Place exit(std::uint32_t p) { return record(p, "EXIT", ""); }
  void pass(std::uint32_t p) { now_[p] += uniform(0, 0.01); }

  void depends(Place cause, Place effect, const char* what, bool joint = false) {
    if (cause.process == kNobody || effect.process == kNobody) return;
    program_.dependencies.push_back({cause, effect, what, joint});
  }
  void after(std::uint32_t p, double time) { now_[p] = std::max(now_[p], time) + latency(); }
  double latency() { return uniform(1e-6, 2e-3); }
  struct Event {
    std::uint32_t process;
    double time;
    std::string name, fields;
  };
  std::mt19937_64 random_;
  std::uint32_t size_ = 0;
  ClockProgram program_;
  std::vector<Event> events_;  // in no order but each process's own
  std::vector<std::uint32_t> counts_;
  std::vector<double> now_;
  std::vector<Clock> clocks_;
  std::vector<bool> recording_;
};

}  // namespace kojak::support
