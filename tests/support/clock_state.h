// The state of a random message-passing program while it is simulated, and what it records.
// Internal to clock_program.cc, whose parts work on the same one. Owns all it holds.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/clock_program.h"

namespace kojak::support {

struct ClockState {
  using Place = ClockProgram::Place;
  static constexpr std::uint32_t kNobody = 0xFFFFFFFFu;

  explicit ClockState(std::uint64_t seed) : random(seed) {}

  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); }
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  }
  std::uint32_t process() {
    return static_cast<std::uint32_t>(number(0, static_cast<int>(size) - 1));
  }
  struct Clock {
    double offset, drift, wobble, phase;
    double at(double t) const { return t + offset + drift * t + wobble * std::sin(3 * t + phase); }
  };

  Place record(std::uint32_t p, const std::string& name, const std::string& fields) {
    if (!recording[p]) return {kNobody, 0};
    events.push_back({p, now[p], name, fields});
    return {p, counts[p]++};
  }
  Place enter(std::uint32_t p, const char* region) {
    return record(p, "ENTER", "region=" + std::string(region));
  }
  Place exit(std::uint32_t p) { return record(p, "EXIT", ""); }
  void pass(std::uint32_t p) { now[p] += uniform(0, 0.01); }

  void depends(Place cause, Place effect, const char* what, bool joint = false) {
    if (cause.process == kNobody || effect.process == kNobody) return;
    program.dependencies.push_back({cause, effect, what, joint});
  }
  void after(std::uint32_t p, double time) { now[p] = std::max(now[p], time) + latency(); }
  double latency() { return uniform(1e-6, 2e-3); }
  struct Event {
    std::uint32_t process;
    double time;
    std::string name, fields;
  };
  std::mt19937_64 random;
  std::uint32_t size = 0;
  ClockProgram program;
  std::vector<Event> events;  // in no order but each process's own
  std::vector<std::uint32_t> counts;
  std::vector<double> now;
  std::vector<Clock> clocks;
  std::vector<bool> recording;
};

}  // namespace kojak::support
