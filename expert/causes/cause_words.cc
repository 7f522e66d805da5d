#include "expert/causes/cause_words.h"

#include <array>
#include <charconv>

#include "expert/catalogue.h"
#include "expert/wait_words.h"

namespace kojak::expert {
namespace {

std::string seconds(double value) {
  std::array<char, 400> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, 3);
  return std::string(digits.data(), end.ptr) + " s";
}

// The function that computes: a region of the trace, or the one that its next or last call comes
// from as call sites tell.
std::string function_of(const Report& report, const StorePlaces& places, const Stretch& stretch) {
  for (const CallPathIndex call : {stretch.after, stretch.before}) {
    const std::size_t path = call == kNoCallPath ? kNone : places.call_path(call);
    if (path == kNone) continue;
    const CallPathNode& node = report.call_paths()[path];
    if (node.parent == kNone) continue;
    const CallPathNode& caller = report.call_paths()[node.parent];
    // Else the program has left the function, or is on its way into another.
    if (caller.index == kOnlyNamed || caller.index == stretch.path)
      return report.region_name(caller.region);
  }
  const std::size_t path = stretch.path == kNoCallPath ? kNone : places.call_path(stretch.path);
  return path == kNone ? std::string() : report.region_name(report.call_paths()[path].region);
}

}  // namespace

std::string stretch_name(const Report& report, const StorePlaces& places, const Stretch& stretch) {
  switch (stretch.kind) {
    case Stretch::Kind::kBeforeRecording:
      return "before its first event";
    case Stretch::Kind::kCall:
    case Stretch::Kind::kOverhead:
      return call_name(report, places, stretch.path);
    case Stretch::Kind::kComputing:
      break;
  }
  const bool first = stretch.before == kNoCallPath, last = stretch.after == kNoCallPath;
  std::string name = function_of(report, places, stretch);
  if (!name.empty()) name += ", ";
  if (first && last) return name + "from its first to its last event";
  if (first) return name + "before " + call_name(report, places, stretch.after);
  if (last) return name + "after " + call_name(report, places, stretch.before);
  return name + "between " + call_name(report, places, stretch.before) + " and " +
         call_name(report, places, stretch.after);
}

std::string cause_words(const Report& report, const StorePlaces& places, const RootCause& cause) {
  const std::size_t thread = places.thread(cause.location);
  std::string who = thread == kNone ? "a process" : report.thread_name(thread);
  const std::string name = stretch_name(report, places, cause.stretch);
  switch (cause.stretch.kind) {
    case Stretch::Kind::kBeforeRecording:
      return who + " starts " + seconds(cause.longer) + " later";
    case Stretch::Kind::kComputing:
      return who + " computes " + seconds(cause.longer) +
             (cause.compared ? " longer in " : " in ") + name;
    default:
      return who + " spends " + seconds(cause.longer) + (cause.compared ? " longer in " : " in ") +
             name;
  }
}

std::string pattern_words(const RootCause& cause) {
  std::string words;
  constexpr double kShown = 0.0005;  // less would read 0.000
  for (const CostOfPattern& p : cause.patterns) {
    if (!words.empty() && p.short_term + p.long_term < kShown) break;
    if (!words.empty()) words += ", ";
    words += std::string(all_metrics()[p.metric].title) + ' ' + seconds(p.short_term + p.long_term);
  }
  return words;
}

}  // namespace kojak::expert
