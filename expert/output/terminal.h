// The report for people at a terminal: the metric tree, the worst waits, and what to look at first.
//
// Writes text to a stream; decides nothing about terminals itself: the caller says whether bars and
// colours are welcome. Plain text stays within the given width, call paths of long names apart.
// Deterministic; nothing fails; not thread-safe for one stream.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "expert/profile/report.h"
#include "expert/sums/send_modes.h"

namespace kojak::expert {

struct SummaryStyle {
  bool bars = false;
  bool colours = false;
  unsigned width = 80;
  std::size_t worst = 8;  // how many call paths are listed
};

// One waiting pattern at one call path, over all threads.
struct PlaceWait {
  std::size_t metric = 0;
  std::size_t call_path = 0;
  double seconds = 0;
  std::size_t worst_thread = 0;
  double worst_seconds = 0;
};
// All waits above 0, the longest first. A pattern that is a part of another is left out.
std::vector<PlaceWait> waits_of(const Report& report);

void print_metric_tree(std::ostream& out, const Report& report, const SummaryStyle& style);
void print_worst(std::ostream& out, const Report& report, const SummaryStyle& style);
// Who created the tasks of OpenMP, and who executed them; prints nothing where there are none.
void print_tasks(std::ostream& out, const Report& report, const SummaryStyle& style);
void print_advice(std::ostream& out, const Report& report, const SummaryStyle& style);
// Calls that returned an error; prints nothing where there are none.
void print_failed_calls(std::ostream& out, const Report& report, const SummaryStyle& style);
// Of a run that was ended before its processes were; prints nothing for others.
void print_last_calls(std::ostream& out, const Report& report, const SummaryStyle& style);
void print_findings(std::ostream& out, const Report& report, const SummaryStyle& style);
// The most severe instances of each pattern.
void print_instances(std::ostream& out, const Report& report, const SummaryStyle& style);
// Who made the others wait, by doing what; the critical path.
void print_causes(std::ostream& out, const Report& report, const SummaryStyle& style);
// Parallel efficiency and what it is made of.
void print_efficiency(std::ostream& out, const Report& report, const SummaryStyle& style);
void print_send_modes(std::ostream& out, const Report& report, const SummaryStyle& style,
                      const std::vector<SendModeFinding>& findings, const SendCost& cost);
// All of the above but instances and send modes.
void print_summary(std::ostream& out, const Report& report, const SummaryStyle& style);

// Words of a text in lines of at most `width`, each behind `indent` blanks, with a final newline.
std::string wrapped(const std::string& text, unsigned width, unsigned indent);

}  // namespace kojak::expert
