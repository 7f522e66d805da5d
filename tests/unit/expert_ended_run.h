// A run that was ended before its processes were, as text, and what is found in it.
#pragma once

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/output/terminal.h"

namespace kojak::expert {

inline constexpr double kAllEnded = 9;  // of all processes

// A run as text; `processes` all enter main at 0 and are ended at kAllEnded.
class EndedRun {
 public:
  explicit EndedRun(unsigned processes) : processes_(processes) {
    for (unsigned p = 0; p < processes; ++p) line("ENTER", p, 0, "region=main");
  }
  EndedRun& line(const std::string& record, unsigned process, double time,
                 const std::string& rest) {
    lines_.emplace(time, record + " lid=" + std::to_string(process) +
                             " time=" + std::to_string(time) + " " + rest + "\n");
    return *this;
  }
  // Its last call, and what that is about.
  EndedRun& stands(unsigned process, double time, const std::string& function,
                   const std::string& note) {
    std::map<std::string, std::string> fields{
        {"cid", "0"},      {"wid", "absent"}, {"dlid", "absent"}, {"slid", "absent"},
        {"tag", "absent"}, {"ordinal", "0"},  {"awaited", "0"}};
    std::istringstream words(note);
    for (std::string word; words >> word;) {
      const std::size_t sign = word.find('=');
      fields[word.substr(0, sign)] = word.substr(sign + 1);
    }
    std::string rest;
    for (const auto& [name, value] : fields) rest += name + '=' + value + ' ';
    return line("ENTER", process, time, "region=" + function)
        .line("MPI_OPEN_CALL", process, time, rest);
  }
  EndedRun& awaits(unsigned process, double time, int kind, const std::string& peer,
                   const std::string& tag = "absent") {
    return line("MPI_AWAITS", process, time,
                "kind=" + std::to_string(kind) + " plid=" + peer + " cid=0 tag=" + tag);
  }
  std::string text() const {
    std::string text;
    for (const auto& [time, line] : lines_) text += line;
    for (unsigned p = 0; p < processes_; ++p) {
      text +=
          "PROCESS_ENDED lid=" + std::to_string(p) + " time=" + std::to_string(kAllEnded) + "\n";
    }
    return text;
  }

 private:
  unsigned processes_;
  std::multimap<double, std::string> lines_;
};

struct LastFound {
  LastCalls last;
  std::string said;

  explicit LastFound(const std::string& text) {
    const auto made = text_to_trace(text, "text");
    if (!made) throw std::runtime_error(made.error().message());
    auto trace = earl::Trace::from(memory_source(made->data(), made->size()), "text");
    const Report report = analyse(*trace);
    last = report.last_calls();
    std::ostringstream out;
    print_last_calls(out, report, {});
    std::istringstream words(out.str());
    for (std::string word; words >> word;) said += said.empty() ? word : ' ' + word;
  }
  explicit LastFound(const EndedRun& run) : LastFound(run.text()) {}
  const LastCall& of(std::uint32_t rank) const {
    for (const LastCall& call : last.calls) {
      if (call.process == rank) return call;
    }
    throw std::runtime_error("no last call of that rank");
  }
};

using RankNumbers = std::vector<std::uint32_t>;
using RankCircles = std::vector<RankNumbers>;
inline RankCircles circles_of(const LastFound& found) {
  RankCircles ranks;
  for (const Deadlock& deadlock : found.last.deadlocks) ranks.push_back(deadlock.ranks);
  return ranks;
}

}  // namespace kojak::expert
