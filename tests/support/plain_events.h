// Events of merged and of local traces in words, read without any part of the merge.
//
// Identifiers are replaced by what they mean, whole-call records spelled out as the events that
// they stand for, remote records as their local counterparts. Traces come as bytes in memory;
// values own all they hold. Input that cannot be decoded throws std::runtime_error. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"

namespace kojak::support {

// The definitions of a trace, wherever in it they stand.
struct TraceDefinitionsRead {
  Definitions defs;
  Dialect dialect;
};
TraceDefinitionsRead read_definitions(const std::vector<std::byte>& bytes);

// A time as the lines show it.
std::string shown_time(double value);

// One event in words that do not depend on identifiers.
struct PlainEvent {
  std::string name;    // "MPI_PUT_1TE"
  std::string fields;  // "slid=0 wid=1:2 rmaid=3 recvd=8", without lid and time
  std::string attributes;
  std::uint32_t lid = 0;
  double time = 0;
  // The location whose trace it comes from: of its origin for what a get does at its target.
  std::uint32_t source = 0;

  bool is_end = false;    // of a transfer
  bool is_start = false;  // of a transfer, at its origin
  bool is_mark = false;
  bool is_exit = false;  // of a region
  // Transfer starts, ends and marks:
  std::uint32_t origin = 0, rmaid = 0;
  bool put = false;
  std::uint8_t mark = 0;  // of an end: the reason of the mark before it

  std::string line() const;
};

// All events of a merged trace, in order.
std::vector<PlainEvent> merged_events(const std::vector<std::byte>& merged);
// All events that a local trace stands for, in order, with times as recorded; ends where the basic
// model has them.
std::vector<PlainEvent> local_events(const std::vector<std::byte>& local);

}  // namespace kojak::support
