// The settings of the measurement, from environment variables (config_table.def lists them).
//
// Read once, at MPI_Init. A value that is not understood keeps the default; that, and each ELG_
// name that is no setting, stands in `complaints`, which rank 0 says: it changes what is recorded.
// No allocation; strings point into the environment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::measure {

// Bits of the groups that ELG_MPI names: one for the functions of a family that can block or make
// progress, one for its others.
constexpr std::uint32_t carries_time(unsigned family) {
  return 1u << family;
}
constexpr std::uint32_t carries_none(unsigned family) {
  return 1u << (family + 16);
}
inline constexpr std::uint32_t kAllThatCarriesTime = 0xFFFFu;

// ELG_CALLSITES=path:N follows at most this many functions.
inline constexpr unsigned kMostCallers = 16;

// A process may not write less than this (ELG_MAX_SIZE): its head and some calls.
inline constexpr std::size_t kLeastTotal = 256 * 1024;

// ELG_POLLS.
enum class PollRecording : std::uint8_t { kOff, kAll, kJoin };

struct Config {
  const char* directory = nullptr;  // null: made from the program's name
  std::size_t buffer_size = 512 * 1024;
  std::uint32_t functions = kAllThatCarriesTime;
  unsigned call_path = 1;           // functions of a call's path: 0 none, 1 its site alone
  const char* libraries = nullptr;  // patterns with commas between
  const char* filter = nullptr;     // file
  std::uint64_t max_size = 0;       // bytes that a process writes at most, or 0
  const char* metrics = nullptr;    // counters, with commas between
  const char* papi = nullptr;       // file of PAPI's library
  std::uint64_t sample = 0;         // nanoseconds of processor time between samples, or 0
  bool record = true;
  PollRecording polls = PollRecording::kJoin;
  bool openmp = true;  // constructs of OpenMP are recorded
  bool keep = true;    // beyond the death of the process
  bool verbose = false;
  std::uint32_t test_ids = 0;
  int test_clock_rank = -1;
  double test_clock_shift = 0;
  double test_clock_ppm = 0;
  char complaints[1024] = {};  // for one line, or empty
};

Config read_config();
// Adds to the complaints: formatted, behind a semicolon if there are some already.
void complain(Config& config, const char* format, ...) __attribute__((format(printf, 2, 3)));
// The families (a bit for each) of which no function that can block or make progress is recorded.
std::uint8_t families_off(const Config& config);

}  // namespace kojak::measure
