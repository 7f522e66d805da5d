#include "expert/findings/processor_words.h"

#include <algorithm>
#include <cstdio>

#include "epilog/format/text/counts.h"
#include "expert/findings/rules.h"

namespace kojak::expert {
namespace {

constexpr std::size_t kMostWords = 200;  // on who shares processors

constexpr const char* kAdvice =
    "A wait for such a thread may tell of the machine and not of the program: give each process a "
    "processor of its own, end what else runs there, and measure again.";

std::string share(double part, double whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", whole > 0 ? 100 * part / whole : 0);
  return text;
}

std::string sharing_words(const ProcessorUse& use) {
  std::string text;
  for (const ProcessorUse::Sharing& s : use.sharing) {
    text += ' ' + std::to_string(s.processes) + " processes on " + s.node + " share " +
            std::to_string(s.count) + (s.count == 1 ? " processor (" : " processors (") +
            s.processors + ").";
    if (text.size() < kMostWords) continue;
    text += " So do others.";
    break;
  }
  for (const ProcessorUse::Limit& l : use.limits) {
    if (text.size() > 2 * kMostWords) break;
    char number[32];
    std::snprintf(number, sizeof number, "%.3g", l.processors);
    text += " The control group " + l.group + " on " + l.node + " allows " + number +
            (l.processors == 1 ? " processor" : " processors") + " and stopped its processes " +
            counted(l.stops, "time", "times") + " for that (" + fixed(l.stopped, 3) +
            " s, over all its processors).";
  }
  return text;
}

}  // namespace

void add_processor_findings(const ProcessorUse& use, std::vector<Finding>& found) {
  if (!use.unknown.empty()) {
    found.push_back({Finding::Severity::kNote, 1, "kernel that does not tell who had a processor",
                     "A late process may have had none (" + use.unknown + ")."});
  }
  const auto lacks = [](const ProcessorUse::Thread& t) {
    return t.wanted > 0 && t.wanted >= kProcessorNote * t.covered;
  };
  const auto count = std::count_if(use.threads.begin(), use.threads.end(), lacks);
  if (count == 0) return;
  found.push_back({Finding::Severity::kNote, static_cast<std::uint64_t>(count),
                   of_count(static_cast<std::uint64_t>(count), "thread", "threads") +
                       " without a processor for 1 % of the time or more",
                   "They were ready to run for " + fixed(use.wanted(), 3) + " s of " +
                       fixed(use.covered(), 3) +
                       " s in which all processors were taken. A wait for them may tell of "
                       "the machine and not of the program." +
                       sharing_words(use)});
}

std::string processor_warning(const Report& report) {
  const ProcessorUse& use = report.processors();
  if (use.wanted() <= 0 || use.wanted() < kProcessorWarning * use.covered()) return "";
  const ProcessorUse::Thread& worst = *use.worst();
  return "Processors were missing: for " + share(use.wanted(), use.covered()) +
         " of their time the threads were ready to run and had none, " +
         report.thread_name(report.thread_at(worst.location)) + " for " +
         share(worst.wanted, worst.covered) + '.' + sharing_words(use) + ' ' + kAdvice;
}

std::string blocked_by(BlockedKind kind, bool several) {
  switch (kind) {
    case BlockedKind::kPauses:
      return several ? " (sleep)" : " (sleeps)";
    case BlockedKind::kFaults:
      return " (page faults)";
    case BlockedKind::kFiles:
      return several ? " (read or write files)" : " (reads or writes files)";
    default:
      return {};
  }
}

std::string without_processor(const Report& report, LocationIndex location) {
  for (const ProcessorUse::Thread& t : report.processors().threads) {
    if (t.location != location) continue;
    if (t.wanted <= 0 || t.wanted < kProcessorWarning * t.covered) return "";
    return report.thread_name(report.thread_at(location)) + " had no processor for " +
           share(t.wanted, t.covered) + " of its time";
  }
  return "";
}

}  // namespace kojak::expert
