#include "tests/programs/oracle/notes.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace kojak::oracle {

std::string Call::text(const std::string& key) const {
  const auto found = notes.find(key);
  return found == notes.end() ? std::string() : found->second;
}

std::vector<std::string> Call::list(const std::string& key) const {
  std::vector<std::string> items;
  std::istringstream in(text(key));
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

std::vector<int> Call::ranks(const std::string& key) const {
  std::vector<int> result;
  for (const std::string& item : list(key)) result.push_back(std::stoi(item));
  return result;
}

double Call::number(const std::string& key) const {
  return has(key) ? std::stod(text(key)) : 0.0;
}

namespace {

[[noreturn]] void bad_line(const std::string& path, int line, const std::string& what) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + what);
}

Guard read_guard(std::istream& words, Guard::Kind kind) {
  Guard guard;
  guard.kind = kind;
  words >> guard.metrics >> guard.function >> guard.rank >> guard.seconds;
  return guard;
}

}  // namespace

void read_notes(const std::string& path, int rank, Notes& run) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened; did the program end normally?");
  std::vector<Call> calls;
  std::string text;
  std::size_t ranks = 0;
  for (int line = 1; std::getline(file, text); ++line) {
    std::istringstream words(text);
    std::string first;
    words >> first;
    if (first == "ranks") {
      words >> ranks;
    } else if (first == "at_least") {
      run.guards.push_back(read_guard(words, Guard::Kind::kAtLeast));
    } else if (first == "at_most") {
      run.guards.push_back(read_guard(words, Guard::Kind::kAtMost));
    } else if (first == "exactly_zero") {
      run.guards.push_back(read_guard(words, Guard::Kind::kZero));
    } else {
      Call call;
      call.rank = rank;
      call.function = first;
      words >> call.enter >> call.exit;
      if (words.fail() || call.exit < call.enter) bad_line(path, line, "no call with two times");
      for (std::string note; words >> note;) {
        const std::size_t equals = note.find('=');
        if (equals == std::string::npos) bad_line(path, line, "no key=value: " + note);
        if (!call.notes.emplace(note.substr(0, equals), note.substr(equals + 1)).second)
          bad_line(path, line, "said twice: " + note);
      }
      calls.push_back(std::move(call));
      continue;
    }
    if (words.fail()) bad_line(path, line, "incomplete: " + text);
  }
  if (calls.empty() || calls.back().function != "MPI_Finalize")
    throw std::runtime_error(path + ": does not end with MPI_Finalize");
  if (run.calls.empty()) run.calls.resize(ranks);
  if (run.calls.size() != ranks || static_cast<std::size_t>(rank) >= ranks)
    throw std::runtime_error(path + ": of another number of ranks than the other files");
  run.calls[static_cast<std::size_t>(rank)] = std::move(calls);
}

Notes read_all_notes(const std::string& prefix) {
  Notes run;
  int rank = 0;
  do {
    read_notes(prefix + "." + std::to_string(rank), rank, run);
  } while (++rank < run.ranks());
  return run;
}

}  // namespace kojak::oracle
