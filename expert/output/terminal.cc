#include "expert/output/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <sstream>

#include "epilog/format/text/counts.h"
#include "epilog/format/text/printable.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/failed_call_words.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/rules.h"
#include "expert/findings/statement.h"
#include "expert/findings/tasks.h"
#include "expert/findings/wait_words.h"
#include "expert/findings/waits.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/efficiency.h"
#include "expert/profile/shares.h"
#include "expert/sums/processors.h"

namespace kojak::expert {
namespace {

std::string right(std::string text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

// Characters as a terminal counts them: continuation bytes of UTF-8 take no room.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
std::string left(const std::string& text, std::size_t width) {
  const std::size_t have = columns(text);
  return have >= width ? text : text + std::string(width - have, ' ');
}

// Milliseconds for short runs, so that small waits do not all read 0.000.
std::string seconds(double value) {
  return fixed(value, 3);
}
std::string percent(double part, double whole) {
  return whole > 0 ? fixed(100 * part / whole, 1) + " %" : "-";
}
std::string rounded(double count) {
  return grouped(static_cast<std::uint64_t>(std::llround(count)));
}

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(const std::string& text) const { return wrap("\x1b[1m", text); }
  std::string red(const std::string& text) const { return wrap("\x1b[31m", text); }
  std::string dim(const std::string& text) const { return wrap("\x1b[2m", text); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return on_ ? code + text + "\x1b[0m" : text;
  }
  bool on_;
};

// Names of the program may hold anything, and call paths are long.
std::string text_of(const Statement& said, const SummaryStyle& style) {
  std::string text;
  for (const Statement::Piece& piece : said.pieces) {
    switch (piece.is) {
      case Statement::Piece::Is::kWords:
        text += piece.text;
        break;
      case Statement::Piece::Is::kNames:
        text += printable(piece.text);
        break;
      case Statement::Piece::Is::kCallPath:
        text += printable_path(piece.text, style.width - 4);
        break;
    }
  }
  return text;
}

// How far a line is moved in: less where there is little room.
unsigned indent(const SummaryStyle& style, unsigned usual) {
  return style.width < 70 ? std::min(usual, 6U) : usual;
}

// A call path on a line of its own, from column `indent`. Its names come from the program and may
// hold anything.
std::string path_line(const Report& report, std::size_t call_path, const SummaryStyle& style,
                      std::size_t indent) {
  return std::string(indent, ' ') +
         printable_path(report.call_path_name(call_path), style.width - indent) + '\n';
}

}  // namespace

std::string wrapped(const std::string& text, unsigned width, unsigned indent) {
  const std::string margin(indent, ' ');
  std::string out, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    word = printable(word);
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > width) {
      out += margin + line + '\n';
      line.clear();
    }
    line += line.empty() ? word : ' ' + word;
  }
  if (!line.empty()) out += margin + line + '\n';
  return out;
}

void print_metric_tree(std::ostream& out, const Report& report, const SummaryStyle& style) {
  const Paint paint(style.colours);
  const Shares shares(report);
  const double whole = shares.time.whole;
  constexpr unsigned kNumbers = 12 + 10 + 2;
  constexpr unsigned kName = 44;
  const bool narrow = style.width < kNumbers + 40;  // names are long, deep in the tree
  const auto numbers = [&](const std::string& value, const std::string& share) {
    return right(value, narrow ? 10 : 12) + right(share, narrow ? 8 : 10) + "  ";
  };
  out << paint.bold(numbers("seconds", "share") + "metric") << '\n';
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    const double value = report.total(m);
    if (node.metric.of_causes) continue;  // told in words
    if (node.metric.unit != Unit::kSeconds || (value == 0 && node.parent != kNone)) continue;
    std::string name =
        std::string((narrow ? 1 : 2) * node.depth, ' ') + std::string(node.metric.title);
    name = printable_name(name, narrow ? style.width - 20 : 0);
    const bool wait = node.metric.kind == Metric::Kind::kPattern;
    const double part = shares.part(report, m);
    // It is known of threads, not of calls, nor what of it lies in the start.
    const bool has_share = node.metric.name != kNoProcessorMetric;
    std::string line = numbers(seconds(value), has_share ? percent(part, whole) : "");
    const bool large = wait && whole > 0 && value >= kWorthLooking * whole;
    line += large ? paint.red(name) : name;
    if (has_share && style.bars && whole > 0 && style.width > kNumbers + kName) {
      const double room = style.width - kNumbers - kName;
      const auto eighths =
          static_cast<unsigned>(8 * room * std::clamp(part / whole, 0.0, 1.0) + 0.5);
      constexpr std::array<const char*, 8> kPart{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
      std::string bar;
      for (unsigned i = 0; i < eighths / 8; ++i) bar += "█";
      bar += kPart[eighths % 8];
      if (!bar.empty()) {
        line += std::string(kName - std::min<std::size_t>(kName, columns(name)), ' ');
        line += paint.dim(bar);
      }
    }
    out << line << '\n';
  }
  out << wrapped(shares.time.words(), style.width, 2);
  std::string counts;
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    if (node.metric.unit == Unit::kSeconds || report.total(m) == 0) continue;
    const std::string name = std::string((narrow ? 1 : 2) * node.depth, ' ') +
                             printable_name(node.metric.title, narrow ? style.width - 28 : 0);
    const double total = report.total(m);
    counts += right(node.metric.fractions ? fixed(total, 3) : rounded(total), narrow ? 18 : 22) +
              "  " + name + '\n';
  }
  if (!counts.empty())
    out << '\n' << paint.bold(right("count", narrow ? 18 : 22) + "  metric") << '\n' << counts;
}

void print_worst(std::ostream& out, const Report& report, const SummaryStyle& style) {
  const Paint paint(style.colours);
  const double whole = whole_time(report);
  std::vector<PlaceWait> waits = waits_of(report);
  std::erase_if(waits, [&](const PlaceWait& w) { return w.seconds < kWorthListing * whole; });
  if (waits.empty()) return;
  out << '\n' << paint.bold("Worst waits") << '\n';
  for (std::size_t i = 0; i < waits.size() && i < style.worst; ++i) {
    const PlaceWait& wait = waits[i];
    const std::string title(report.metrics()[wait.metric].metric.title);
    const std::string numbers =
        right(seconds(wait.seconds), 12) + right(percent(wait.seconds, whole), 10) + "  ";
    const std::string worst = "worst: " + report.thread_name(wait.worst_thread) + ", " +
                              seconds(wait.worst_seconds) + " s";
    const std::string line = numbers + left(title, 20) + "  " + worst;
    if (columns(line) <= style.width) {
      out << line << '\n';
    } else {
      out << numbers << title << '\n' << wrapped(worst, style.width, indent(style, 24));
    }
    out << path_line(report, wait.call_path, style, indent(style, 24));
  }
  if (waits.size() > style.worst) {
    out << std::string(indent(style, 24), ' ') << "and " << waits.size() - style.worst
        << " more in the report\n";
  }
}

void print_tasks(std::ostream& out, const Report& report, const SummaryStyle& style) {
  const std::vector<TaskRow> rows = task_rows(report);
  if (rows.empty()) return;
  out << '\n'
      << Paint(style.colours).bold("Tasks") << '\n'
      << right("seconds", 12) << right("count", 10) << "  created by; executed by\n";
  for (std::size_t i = 0; i < rows.size() && i < style.worst; ++i) {
    const std::string text = wrapped(text_of(rows[i].said, style), style.width, indent(style, 24));
    const std::string numbers =
        right(seconds(rows[i].seconds), 12) + right(grouped(rows[i].count), 10) + "  ";
    out << (indent(style, 24) == 24 ? numbers + text.substr(24) : numbers + '\n' + text);
  }
  if (rows.size() > style.worst) {
    out << std::string(indent(style, 24), ' ') << "and " << rows.size() - style.worst
        << " more in the report\n";
  }
}

namespace {

// "   1  ..." over as many lines as it takes.
std::string numbered(std::size_t number, const std::string& text, unsigned width) {
  constexpr unsigned kIndent = 6;
  std::string lines = wrapped(text, width, kIndent);
  const std::string digits = right(std::to_string(number), kIndent - 2);
  return lines.replace(0, std::min<std::size_t>(digits.size(), kIndent), digits);
}

}  // namespace

void print_advice(std::ostream& out, const Report& report, const SummaryStyle& style) {
  if (report.call_paths().empty()) {
    out << '\n' << kNoEvents << '\n';
    return;
  }
  out << '\n' << Paint(style.colours).bold("What to look at first") << '\n';
  const FirstLook look = what_to_look_at_first(report);
  for (const Statement& said : look.before) out << wrapped(text_of(said, style), style.width, 2);
  if (look.caused) out << "  Who waits:\n";
  for (const Statement& said : look.waits) out << wrapped(text_of(said, style), style.width, 2);
}

void print_findings(std::ostream& out, const Report& report, const SummaryStyle& style) {
  if (report.findings().empty()) return;
  const Paint paint(style.colours);
  out << '\n' << paint.bold("Findings about the trace") << '\n';
  for (const Finding& finding : report.findings()) {
    const bool suspect = finding.severity == Finding::Severity::kSuspect;
    const std::string kind = suspect ? "suspect" : "note";
    const std::string count = grouped(finding.count);
    const unsigned margin = indent(style, 22);
    out << "  " << (suspect ? paint.red(left(kind, 8)) : left(kind, 8));
    if (margin < 22) {
      out << count << '\n' << wrapped(printable(finding.what), style.width, margin);
    } else {
      // The first line stands behind the numbers.
      out << right(count, 10) << wrapped(printable(finding.what), style.width, margin).substr(20);
    }
    out << wrapped(finding.advice, style.width, margin);
  }
}

void print_instances(std::ostream& out, const Report& report, const SummaryStyle& style) {
  constexpr std::size_t kWaiters = 3, kPartners = 2;
  const Paint paint(style.colours);
  out << '\n' << paint.bold("Most severe instances") << '\n';
  std::size_t shown = kNone;
  for (std::size_t n = 0; n < report.waits().worst.size(); ++n) {
    const Instance& i = report.waits().worst[n];
    const std::size_t metric = report.metric_at(i.metric);
    if (metric == kNone) continue;
    if (metric != shown) {
      const Metric& m = report.metrics()[metric].metric;
      out << "  " << m.title << " (" << m.name << ")\n";
      shown = metric;
    }
    const std::string object = printable(object_words(report, i.operation));
    out << right(seconds(i.waiting.seconds()), 12) << "  in [" << fixed(i.begin.value, 6) << ", "
        << fixed(i.end.value, 6) << "]" << (object.empty() ? "" : ", " + object) << '\n';
    const std::size_t listed = std::min(i.waiters.size(), kWaiters);
    for (std::size_t w = 0; w < listed; ++w) {
      const Waiter& waiter = i.waiters[w];
      out << right(seconds(waiter.waiting.seconds()), 18) << "  "
          << report.thread_name(report.thread_at(waiter.location)) << '\n'
          << path_line(report, report.path_at(waiter.call_path), style, 20);
    }
    const std::uint64_t more = i.further + (i.waiters.size() - listed);
    if (more != 0) out << std::string(20, ' ') << "and " << more << " more\n";
    const std::vector<Partner> partners = partners_of(i);
    for (std::size_t p = 0; p < std::min(partners.size(), kPartners); ++p) {
      const Partner& partner = partners[p];
      out << wrapped("until " + printable(ending(report, partner.location, partner.call_path,
                                                 partner.at_exit)),
                     style.width, 14);
    }
    if (partners.size() > kPartners) {
      out << std::string(14, ' ') << "and " << partners.size() - kPartners << " others\n";
    }
    if (i.without_processor >= kWaitWithoutProcessor * i.waiters.front().waiting.seconds() &&
        i.without_processor > 0) {
      const std::size_t thread = report.thread_at(i.waiters.front().ended_by.location);
      out << wrapped(
          had_no_processor(report.thread_name(thread), seconds(i.without_processor), false) +
              " s of the longest wait.",
          style.width, 14);
    }
    if (!report.root_causes()) continue;
    const std::string chain = printable(chain_words(report, report.root_causes()->asked[n]));
    if (!chain.empty()) out << wrapped("chain: " + chain, style.width, 14);
  }
}

void print_send_modes(std::ostream& out, const Report& report, const SummaryStyle& style,
                      const std::vector<SendModeFinding>& findings, const SendCost& cost) {
  const Paint paint(style.colours);
  out << '\n' << paint.bold("Messages by send mode") << '\n';
  for (const bool same : {true, false}) {
    const SendCost::Fit fit = cost.fit(same);
    if (fit.messages == 0 && !(fit.latency > 0) && !(fit.per_byte > 0)) continue;
    out << "  " << cost_words(fit, same) << '\n';
  }
  for (const SendModeFinding& f : findings) {
    out << right(seconds(f.total), 12) << "  " << paint.bold(std::string(title_of(f.kind))) << ", "
        << grouped(f.count) << " times, "
        << (f.locations.size() == 1 ? report.thread_name(report.thread_at(f.locations.front()))
                                    : std::to_string(f.locations.size()) + " processes or threads")
        << '\n';
    out << path_line(report, report.path_at(f.call_path), style, 14);
    out << wrapped(worst_words(report, f), style.width, 14)
        << wrapped(std::string(advice_of(f.kind)), style.width, 14);
  }
}

void print_causes(std::ostream& out, const Report& report, const SummaryStyle& style) {
  if (!report.root_causes()) return;
  const RootCauses& causes = *report.root_causes();
  constexpr std::size_t kShares = 5;
  const Paint paint(style.colours);
  out << paint.bold("Root causes");
  if (!(causes.waits > 0)) {
    out << '\n' << wrapped("No process waited for another.", style.width, 2) << '\n';
    return;
  }
  out << " of " << seconds(causes.waits) << " s of waiting\n";
  std::size_t told = 0;
  std::string advice;
  for (const RootCause* cause : listed_causes(causes)) {
    if (advice.empty()) advice = function_advice(report, *cause);
    out << numbered(++told, text_of(cause_statement(report, *cause), style), style.width);
    const std::string chain = printable(chain_words(report, cause->chain));
    if (!chain.empty()) out << wrapped("Chain: " + chain + '.', style.width, 6);
  }
  if (causes.causes.size() > told) {
    out << "      and " << causes.causes.size() - told << " more (expert --json FILE lists them)\n";
  }
  if (!advice.empty()) out << wrapped(advice, style.width, 6);
  if (causes.unexplained > 0) {
    out << wrapped("Not attributed: " + seconds(causes.unexplained) + " s, " +
                       percent(causes.unexplained, causes.waits) + " of all waiting.",
                   style.width, 6);
  }
  out << '\n' << paint.bold("Critical path") << " (" << seconds(causes.path_length) << " s)\n";
  for (std::size_t i = 0; i < std::min(causes.critical_path.size(), kShares); ++i) {
    const PathShare& share = causes.critical_path[i];
    const std::size_t thread = report.thread_at(share.location);
    out << right(seconds(share.seconds), 12)
        << right(percent(share.seconds, causes.path_length), 10) << "  "
        << (thread == kNone ? std::string("a process") : report.thread_name(thread)) << ":\n"
        << wrapped(printable(share_words(report, share)), style.width, 24);
  }
  out << '\n';
}

void print_efficiency(std::ostream& out, const Report& report, const SummaryStyle& style) {
  const std::optional<Efficiency> e = efficiency_of(report);
  if (!e) return;
  out << '\n' << Paint(style.colours).bold("Efficiency") << '\n';
  for (const EfficiencyRow& row : efficiency_rows(*e)) {
    std::string text(2 * row.depth, ' ');
    text.append(row.name).append(": ").append(row.words);
    out << right(percent(row.value, 1), 12)
        << wrapped(text, style.width, 14 + 2 * row.depth).substr(12);
  }
}

void print_last_calls(std::ostream& out, const Report& report, const SummaryStyle& style) {
  constexpr std::size_t kListed = 12;
  const LastCalls& last = report.last_calls();
  if (last.empty()) return;
  const Paint paint(style.colours);
  out << paint.bold("Where the processes stood when the run was ended") << '\n';
  for (std::size_t i = 0; i < last.deadlocks.size() && i < 3; ++i) {
    const std::string words = deadlock_words(report, last.deadlocks[i]);
    out << paint.red(wrapped(printable(words), style.width, 2));
  }
  if (last.deadlocks.size() > 3) {
    out << "  and " << last.deadlocks.size() - 3 << " more deadlocks\n";
  }
  if (const std::string words = verdict_words(report); !words.empty()) {
    out << wrapped(printable(words), style.width, 2);
  }
  const std::vector<LastCallGroup> groups = last_call_groups(last);
  for (std::size_t i = 0; i < groups.size() && i < kListed; ++i) {
    out << wrapped(printable(last_call_words(report, groups[i])), style.width, 2);
  }
  if (groups.size() > kListed) {
    out << "  and " << groups.size() - kListed << " more places (expert --json FILE lists them)\n";
  }
  out << '\n';
}

void print_failed_calls(std::ostream& out, const Report& report, const SummaryStyle& style) {
  constexpr std::size_t kListed = 12;
  const std::vector<FailedCallGroup> groups = failed_call_groups(report);
  if (groups.empty()) return;
  out << '\n' << Paint(style.colours).bold("Calls that failed") << '\n';
  for (std::size_t i = 0; i < groups.size() && i < kListed; ++i) {
    out << wrapped(printable(failed_call_words(groups[i])), style.width, 2);
  }
  if (groups.size() > kListed) {
    out << "  and " << groups.size() - kListed << " more (expert --json FILE lists them)\n";
  }
}

void print_summary(std::ostream& out, const Report& report, const SummaryStyle& style) {
  print_last_calls(out, report, style);
  print_causes(out, report, style);
  print_metric_tree(out, report, style);
  print_worst(out, report, style);
  print_tasks(out, report, style);
  print_advice(out, report, style);
  print_failed_calls(out, report, style);
  if (report.root_causes()) print_efficiency(out, report, style);
  print_findings(out, report, style);
}

}  // namespace kojak::expert
