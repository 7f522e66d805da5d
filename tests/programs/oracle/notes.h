// What the processes of a measured program noted of their calls (see ../truth.h), read back.
//
// Owns its text. Not thread-safe while it is read. Fails by std::runtime_error that names file and
// line.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kojak::oracle {

struct Call {
  int rank = 0;
  std::string function;
  double enter = 0;
  double exit = 0;
  std::map<std::string, std::string> notes;

  bool has(const std::string& key) const { return notes.contains(key); }
  // The note's value, empty if there is none.
  std::string text(const std::string& key) const;
  // A list with commas.
  std::vector<std::string> list(const std::string& key) const;
  std::vector<int> ranks(const std::string& key) const;
  double number(const std::string& key) const;
  // The function and its call site, FUNCTION@CALLER:LINE. (If noted.)
  std::string at_site() const { return function + '@' + text("site"); }
};

// A program's check of its own injection.
struct Guard {
  enum class Kind { kAtLeast, kAtMost, kZero } kind = Kind::kAtLeast;
  std::string metrics;  // one, or several joined by '+'
  std::string function;
  int rank = 0;
  double seconds = 0;
};

struct Notes {
  std::vector<std::vector<Call>> calls;  // by rank, in program order
  std::vector<Guard> guards;

  int ranks() const { return static_cast<int>(calls.size()); }
};

// One process's notes, added to the run under its rank.
void read_notes(const std::string& path, int rank, Notes& run);

// The notes of all processes: prefix.0, prefix.1, ...
Notes read_all_notes(const std::string& prefix);

}  // namespace kojak::oracle
