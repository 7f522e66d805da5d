// Long because all that the terminal shows stands here, a part after the other.
#include "expert/output/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <ostream>
#include <sstream>

#include "epilog/format/text/counts.h"
#include "epilog/format/text/printable.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/failed_call_words.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/efficiency.h"
#include "expert/profile/run_time.h"
#include "expert/profile/store_places.h"

namespace kojak::expert {
namespace {

// Below this share of all time, waiting is not worth a look; below the other one, not worth a line.
constexpr double kWorthLooking = 0.01;
constexpr double kWorthListing = 0.0005;

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
std::string grouped(double count) {
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

// What shares are of (run_time.h), and of each metric the part that lies in it.
struct Shares {
  RunTime time;
  std::vector<double> start;     // seconds of each metric that lie in it
  std::vector<bool> other_tree;  // those of other trees, which may have some of the start or none

  explicit Shares(const Report& report)
      : time(RunTime::of([&](std::string_view name) {
          const std::size_t m = report.find_metric(name);
          return m == kNone ? 0.0 : report.total(m);
        })),
        start(report.metrics().size()),
        other_tree(report.metrics().size()) {
    const std::size_t all = report.find_metric(Time::kMetric.name);
    for (std::size_t m = 0; m < other_tree.size(); ++m) {
      const std::size_t parent = report.metrics()[m].parent;
      other_tree[m] = parent == kNone ? m != all : other_tree[parent];
    }
    if (!(time.left_out > 0)) return;
    for (const auto& [name, seconds] : {std::pair(InitExit::kMetric.name, time.mpi),
                                        std::pair(ShmemInitExit::kMetric.name, time.shmem)}) {
      for (std::size_t m = report.find_metric(name); m != kNone; m = report.metrics()[m].parent)
        start[m] += seconds;
    }
  }
  // Of a metric's total: without the start, if that is a part of it.
  double part(const Report& report, std::size_t m) const {
    if (!other_tree[m] || time.left_out == 0) {
      return report.total(m) - start[m];
    }
    double sum = 0;
    std::vector<double> values(report.threads());
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (is_start(report, c) || !report.row(m, c, values)) continue;
      sum = std::accumulate(values.begin(), values.end(), sum);
    }
    return sum;
  }
  static bool is_start(const Report& report, std::size_t call_path) {
    return starts_or_ends_library(report.region_name(report.call_paths()[call_path].region));
  }
};

double whole_time(const Report& report) {
  return Shares(report).time.whole;
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

std::vector<PlaceWait> waits_of(const Report& report) {
  std::vector<PlaceWait> waits;
  std::vector<double> values(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    if (!report.is_wait(m)) continue;
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(m, c, values)) continue;
      PlaceWait wait{m, c};
      for (std::size_t t = 0; t < values.size(); ++t) {
        wait.seconds += values[t];
        if (values[t] > wait.worst_seconds) {
          wait.worst_seconds = values[t];
          wait.worst_thread = t;
        }
      }
      if (wait.seconds > 0) waits.push_back(wait);
    }
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const PlaceWait& a, const PlaceWait& b) { return a.seconds > b.seconds; });
  return waits;
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
    const bool has_share = node.metric.name != kNoProcessor;
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
    counts += right(node.metric.fractions ? fixed(total, 3) : grouped(total), narrow ? 18 : 22) +
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
  if (report.tasks().empty()) return;
  struct Row {
    const CreatedTasks* tasks;
    std::uint64_t count = 0;
    TimeSum sum;
  };
  std::vector<Row> rows;
  for (const CreatedTasks& tasks : report.tasks()) {
    Row& row = rows.emplace_back(Row{&tasks});
    for (const CreatedTasks::Share& share : tasks.shares) {
      row.count += share.count;
      row.sum += share.sum;
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.sum > b.sum; });
  const StorePlaces places(report);
  const auto thread = [&](LocationIndex location) {
    const std::size_t found = places.thread(location);
    return found == kNone ? std::string("another thread") : report.thread_name(found);
  };
  out << '\n'
      << Paint(style.colours).bold("Tasks") << '\n'
      << right("seconds", 12) << right("count", 10) << "  created by; executed by\n";
  for (std::size_t i = 0; i < rows.size() && i < style.worst; ++i) {
    const CreatedTasks& tasks = *rows[i].tasks;
    std::vector<CreatedTasks::Share> shares = tasks.shares;
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    std::string words =
        thread(tasks.creator) + ", " + printable(call_name(report, places, tasks.call_path)) + ';';
    constexpr std::size_t kNamed = 4;
    for (std::size_t n = 0; n < shares.size() && n < kNamed; ++n) {
      words += std::string(n == 0 ? " " : ", ") + grouped(static_cast<double>(shares[n].count)) +
               " by " + thread(shares[n].thread);
    }
    if (shares.size() > kNamed) {
      words += " and others by " + counted(shares.size() - kNamed, "thread", "threads");
    }
    const std::string text = wrapped(words + '.', style.width, indent(style, 24));
    const std::string numbers = right(seconds(rows[i].sum.seconds()), 12) +
                                right(grouped(static_cast<double>(rows[i].count)), 10) + "  ";
    out << (indent(style, 24) == 24 ? numbers + text.substr(24) : numbers + '\n' + text);
  }
  if (rows.size() > style.worst) {
    out << std::string(indent(style, 24), ' ') << "and " << rows.size() - style.worst
        << " more in the report\n";
  }
}

namespace {

// What no pattern explains, if it is worth a word: how much, and where the largest part of it is.
std::string unexplained_sentence(const Report& report, double whole, unsigned width) {
  const std::size_t m = report.find_metric(NotExplained::kMetric.name);
  if (m == kNone) return {};
  const Shares shares(report);
  const double total = shares.part(report, m);
  if (total < kWorthLooking * whole || total == 0) return {};
  std::size_t worst = 0;
  double most = 0;
  std::vector<double> values(report.threads());
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    if (shares.time.left_out > 0 && Shares::is_start(report, c)) continue;
    if (!report.row(m, c, values)) continue;
    double sum = 0;
    for (const double value : values) sum += value;
    if (sum > most) {
      most = sum;
      worst = c;
    }
  }
  return "Long MPI calls that no pattern explains take " + percent(total, whole) +
         " of the processes' time (" + seconds(total) + " s); the largest part, " +
         percent(most, total) + ", is in " +
         printable_path(report.call_path_name(worst), width - 4) + ".";
}

// What a fence or an epoch of its kind synchronises without need.
std::string pairs_in_vain(const Report& report, std::size_t metric) {
  const std::size_t all = report.find_metric(SynchronisedPairs::kMetric.name);
  const std::size_t vain = report.find_metric(UnneededPairs::kMetric.name);
  if (all == kNone || vain == kNone) return {};
  const std::size_t parent = report.metrics()[metric].parent;
  std::vector<double> values(report.threads());
  double counts[2] = {0, 0};
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    if (!report.row(parent, c, values)) continue;  // other calls
    for (const std::size_t m : {all, vain}) {
      if (!report.row(m, c, values)) continue;
      for (const double value : values) counts[m == vain] += value;
    }
  }
  if (counts[1] == 0) return {};
  return "Of the pairs of processes that these calls synchronise, " + grouped(counts[1]) + " of " +
         grouped(counts[0]) +
         " exchange nothing in their epoch: they wait for each other without need.";
}

// Where threads of OpenMP have nothing to do because their master is in MPI, if that is worth a
// word.
std::string idle_while_master_in_mpi(const Report& report, double whole) {
  const std::size_t metric = report.find_metric(OmpIdleThreads::kMetric.name);
  if (metric == kNone) return {};
  double most = 0;
  std::size_t worst = 0;
  std::vector<double> values(report.threads()), of_worst;
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    const RegionDef* region = report.definitions().regions.find(report.call_paths()[c].region);
    if (region == nullptr || region->function == nullptr || !report.row(metric, c, values))
      continue;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (sum <= most) continue;
    most = sum;
    worst = c;
    of_worst = values;
  }
  if (most == 0 || most < kWorthLooking * whole) return {};
  std::map<ProcessId, std::size_t> idle;  // threads
  for (std::size_t i = 0; i < of_worst.size(); ++i) {
    const LocationDef* location = report.definitions().locations.find(report.thread_location(i));
    if (of_worst[i] > 0 && location != nullptr) ++idle[location->process];
  }
  std::size_t threads = 1;
  for (const auto& [process, count] : idle) threads = std::max(threads, count);
  const StorePlaces places(report);
  return counted(threads, "thread is", "threads are") + " idle while the master is in " +
         printable(call_name(report, places, report.call_paths()[worst].index)) + ": " +
         seconds(most) + " s in all, " + percent(most, whole) + '.';
}

// The most that a run can get shorter without a pattern: what its longest waiting thread waits.
std::string gain(const Report& report, std::size_t metric) {
  if (!report.last_calls().empty()) return {};  // how long the run would have taken is unknown
  const std::vector<double> sums = report.by_thread(metric);
  const auto most = std::max_element(sums.begin(), sums.end());
  const auto thread = static_cast<std::size_t>(most - sums.begin());
  return "Without it the run would be at most " + seconds(*most) + " s shorter, which is what " +
         report.thread_name(thread) + " waits.";
}

// Kinds of MPI calls that take much time which no pattern of waiting explains, the most first.
void print_consumers(std::ostream& out, const Report& report, const SummaryStyle& style) {
  constexpr double kLarge = 0.05;
  struct Consumer {
    std::size_t metric;
    double seconds;
  };
  const double whole = whole_time(report);
  std::vector<Consumer> consumers;
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const Metric& metric = report.metrics()[m].metric;
    if (!metric.is_call_time()) continue;
    double explained = 0;
    for (std::size_t part = m + 1; part < report.metrics().size(); ++part) {
      if (report.metrics()[part].parent == m) explained += report.total(part);
    }
    const double left = report.total(m) - explained;
    if (left > kLarge * whole) consumers.push_back({m, left});
  }
  std::stable_sort(consumers.begin(), consumers.end(),
                   [](const Consumer& a, const Consumer& b) { return a.seconds > b.seconds; });
  if (consumers.size() > 3) consumers.resize(3);
  std::vector<double> values(report.threads());
  for (const Consumer& consumer : consumers) {
    double most = 0, all = 0;
    std::size_t place = 0;
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(consumer.metric, c, values)) continue;
      double sum = 0;
      for (const double value : values) sum += value;
      all += sum;
      if (sum > most) {
        most = sum;
        place = c;
      }
    }
    const MetricNode& node = report.metrics()[consumer.metric];
    std::string title(node.metric.title);
    if (node.parent != kNone)
      title += " (" + std::string(report.metrics()[node.parent].metric.title) + ")";
    out << wrapped(title + ": " + percent(consumer.seconds, whole) + " of the processes' time (" +
                       seconds(consumer.seconds) +
                       " s) is spent in these calls, and no pattern finds a wait there; " +
                       largest_part(most, all) + " in " +
                       printable_path(report.call_path_name(place), style.width - 4) + ".",
                   style.width, 2);
  }
}

// "   1  ..." over as many lines as it takes.
std::string numbered(std::size_t number, const std::string& text, unsigned width) {
  constexpr unsigned kIndent = 6;
  std::string lines = wrapped(text, width, kIndent);
  const std::string digits = right(std::to_string(number), kIndent - 2);
  return lines.replace(0, std::min<std::size_t>(digits.size(), kIndent), digits);
}

std::string cause_sentence(const Report& report, const StorePlaces& places,
                           const RootCause& cause) {
  return printable(cause_words(report, places, cause)) + ": " +
         printable(effect_words(report, places, cause)) + '.';
}

}  // namespace

void print_advice(std::ostream& out, const Report& report, const SummaryStyle& style) {
  const Paint paint(style.colours);
  const double whole = whole_time(report);
  if (report.call_paths().empty()) {
    out << "\nThe trace has no events: nothing was recorded, or recording was off all the time.\n";
    return;
  }
  std::size_t worst = kNone;
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    if (report.is_wait(m) && (worst == kNone || report.total(m) > report.total(worst))) worst = m;
  }
  out << '\n' << paint.bold("What to look at first") << '\n';
  if (const std::string warning = processor_warning(report); !warning.empty()) {
    out << wrapped(printable(warning), style.width, 2);
  }
  if (worst == kNone || report.total(worst) < kWorthLooking * whole || report.total(worst) == 0) {
    const std::string unexplained = unexplained_sentence(report, whole, style.width);
    out << wrapped("No pattern of waiting takes more than 1 % of the time" +
                       std::string(report.last_calls().empty()
                                       ? "."
                                       : ", apart from the calls that did not return (above).") +
                       (unexplained.empty() ? "" : ' ' + unexplained),
                   style.width, 2);
    print_consumers(out, report, style);
    return;
  }
  if (report.root_causes() && !report.root_causes()->causes.empty()) {
    const StorePlaces places(report);
    out << wrapped(cause_sentence(report, places, report.root_causes()->causes.front()),
                   style.width, 2)
        << "  Who waits:\n";
  }
  const Metric& metric = report.metrics()[worst].metric;
  const std::vector<PlaceWait> waits = waits_of(report);
  const auto first = std::find_if(waits.begin(), waits.end(),
                                  [&](const PlaceWait& w) { return w.metric == worst; });
  out << wrapped(std::string(metric.title) + " takes " + percent(report.total(worst), whole) +
                     " of the processes' time (" + seconds(report.total(worst)) + " s), " +
                     largest_part(first->seconds, report.total(worst)) + " in " +
                     printable_path(report.call_path_name(first->call_path), style.width - 4) +
                     ", worst on " + report.thread_name(first->worst_thread) + ".",
                 style.width, 2);
  const std::vector<Partner> partners = partners_of(report, report.metrics()[worst].own.front(),
                                                    report.call_paths()[first->call_path]);
  if (!partners.empty()) {
    const StorePlaces places(report);
    const Partner& most = partners.front();
    out << wrapped(
        "There, " + largest_part(most.waited.seconds(), first->seconds) + " until " +
            printable(ending(report, places, most.location, most.call_path, most.at_exit)) + ".",
        style.width, 2);
  }
  out << wrapped(gain(report, worst), style.width, 2);
  out << wrapped(std::string(metric.meaning), style.width, 2);
  out << wrapped(std::string(metric.advice), style.width, 2);
  out << wrapped(unexplained_sentence(report, whole, style.width), style.width, 2);
  out << wrapped(pairs_in_vain(report, worst), style.width, 2);
  out << wrapped(idle_while_master_in_mpi(report, whole), style.width, 2);
  print_consumers(out, report, style);
}

void print_findings(std::ostream& out, const Report& report, const SummaryStyle& style) {
  if (report.findings().empty()) return;
  const Paint paint(style.colours);
  out << '\n' << paint.bold("Findings about the trace") << '\n';
  for (const Finding& finding : report.findings()) {
    const bool suspect = finding.severity == Finding::Severity::kSuspect;
    const std::string kind = suspect ? "suspect" : "note";
    const std::string count = grouped(static_cast<double>(finding.count));
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
  constexpr double kWorthAWord = 0.05;  // of the longest wait
  const Paint paint(style.colours);
  const StorePlaces places(report);
  out << '\n' << paint.bold("Most severe instances") << '\n';
  std::size_t shown = kNone;
  for (std::size_t n = 0; n < report.waits().worst.size(); ++n) {
    const Instance& i = report.waits().worst[n];
    const std::size_t metric = places.metric(i.metric);
    if (metric == kNone) continue;
    if (metric != shown) {
      const Metric& m = report.metrics()[metric].metric;
      out << "  " << m.title << " (" << m.name << ")\n";
      shown = metric;
    }
    const std::string object = printable(object_words(report, places, i.operation));
    out << right(seconds(i.waiting.seconds()), 12) << "  in [" << fixed(i.begin.value, 6) << ", "
        << fixed(i.end.value, 6) << "]" << (object.empty() ? "" : ", " + object) << '\n';
    const std::size_t listed = std::min(i.waiters.size(), kWaiters);
    for (std::size_t w = 0; w < listed; ++w) {
      const Waiter& waiter = i.waiters[w];
      out << right(seconds(waiter.waiting.seconds()), 18) << "  "
          << report.thread_name(places.thread(waiter.location)) << '\n'
          << path_line(report, places.call_path(waiter.call_path), style, 20);
    }
    const std::uint64_t more = i.further + (i.waiters.size() - listed);
    if (more != 0) out << std::string(20, ' ') << "and " << more << " more\n";
    const std::vector<Partner> partners = partners_of(i);
    for (std::size_t p = 0; p < std::min(partners.size(), kPartners); ++p) {
      const Partner& partner = partners[p];
      out << wrapped("until " + printable(ending(report, places, partner.location,
                                                 partner.call_path, partner.at_exit)),
                     style.width, 14);
    }
    if (partners.size() > kPartners) {
      out << std::string(14, ' ') << "and " << partners.size() - kPartners << " others\n";
    }
    if (i.without_processor >= kWorthAWord * i.waiters.front().waiting.seconds() &&
        i.without_processor > 0) {
      out << wrapped(report.thread_name(places.thread(i.waiters.front().ended_by.location)) +
                         " had no processor for at least " + seconds(i.without_processor) +
                         " s of the longest wait.",
                     style.width, 14);
    }
    if (!report.root_causes()) continue;
    const std::string chain =
        printable(chain_words(report, places, report.root_causes()->asked[n]));
    if (!chain.empty()) out << wrapped("chain: " + chain, style.width, 14);
  }
}

void print_send_modes(std::ostream& out, const Report& report, const SummaryStyle& style,
                      const std::vector<SendModeFinding>& findings, const SendCost& cost) {
  const Paint paint(style.colours);
  const StorePlaces places(report);
  out << '\n' << paint.bold("Messages by send mode") << '\n';
  for (const bool same : {true, false}) {
    const SendCost::Fit fit = cost.fit(same);
    if (fit.messages == 0 && !(fit.latency > 0) && !(fit.per_byte > 0)) continue;
    out << "  A message " << (same ? "within a node" : "between nodes") << " takes "
        << fixed(1e6 * fit.latency, 2) << " us + " << fixed(1e9 * fit.per_byte, 4)
        << " ns for each byte (" << grouped(static_cast<double>(fit.messages)) << " messages).\n";
  }
  for (const SendModeFinding& f : findings) {
    out << right(seconds(f.total), 12) << "  " << paint.bold(std::string(title_of(f.kind))) << ", "
        << grouped(static_cast<double>(f.count)) << " times, "
        << (f.locations.size() == 1 ? report.thread_name(places.thread(f.locations.front()))
                                    : std::to_string(f.locations.size()) + " processes or threads")
        << '\n';
    out << path_line(report, places.call_path(f.call_path), style, 14);
    std::string worst = "worst: " + seconds(f.worst.waiting.value) + " s at " +
                        fixed(f.worst.enter.value, 6) + ", " +
                        report.thread_name(places.thread(f.worst.location));
    if (f.worst.distance > 0) {
      worst += "; hidden if issued " + fixed(1e6 * f.worst.distance, 1) + " us before the Wait";
    }
    out << wrapped(worst, style.width, 14)
        << wrapped(std::string(advice_of(f.kind)), style.width, 14);
  }
}

// Of a part of the critical path that a deadlock is: which.
static std::string deadlock_share(const Report& report, const PathShare& share) {
  if (share.stretch.kind != Stretch::Kind::kCall) return {};
  const Deadlock* const in = deadlock_at(report, share.location, share.stretch.path);
  return in == nullptr ? std::string() : ", the deadlock of " + rank_list(in->ranks);
}

void print_causes(std::ostream& out, const Report& report, const SummaryStyle& style) {
  if (!report.root_causes()) return;
  const RootCauses& causes = *report.root_causes();
  constexpr std::size_t kCauses = 10, kShares = 5;
  const Paint paint(style.colours);
  const StorePlaces places(report);
  out << paint.bold("Root causes");
  if (!(causes.waits > 0)) {
    out << '\n' << wrapped("No process waited for another.", style.width, 2) << '\n';
    return;
  }
  out << " of " << seconds(causes.waits) << " s of waiting\n";
  // What is behind less than one percent, of the waiting and of the run, is worth no sentence.
  const auto matters = [&](const RootCause& cause) {
    return cause.seconds >= 0.01 * causes.waits ||
           cause.gain.value_or(0) >= 0.01 * causes.path_length;
  };
  std::size_t told = 0;
  std::string advice;
  for (const RootCause& cause : causes.causes) {
    if (told == kCauses) break;
    if (!matters(cause)) continue;
    if (advice.empty()) advice = function_advice(report, places, cause);
    out << numbered(++told, cause_sentence(report, places, cause), style.width);
    const std::string chain = printable(chain_words(report, places, cause.chain));
    if (!chain.empty()) out << wrapped("Chain: " + chain + '.', style.width, 6);
  }
  if (causes.causes.size() > told) {
    out << "      and " << causes.causes.size() - told << " more (see --json)\n";
  }
  if (!advice.empty()) out << wrapped(advice, style.width, 6);
  if (causes.unexplained > 0) {
    out << wrapped("The trace tells no cause of " + seconds(causes.unexplained) + " s, " +
                       percent(causes.unexplained, causes.waits) + " of all waiting.",
                   style.width, 6);
  }
  out << '\n' << paint.bold("Critical path") << " (" << seconds(causes.path_length) << " s)\n";
  for (std::size_t i = 0; i < std::min(causes.critical_path.size(), kShares); ++i) {
    const PathShare& share = causes.critical_path[i];
    const std::size_t thread = places.thread(share.location);
    out << right(seconds(share.seconds), 12)
        << right(percent(share.seconds, causes.path_length), 10) << "  "
        << (thread == kNone ? std::string("a process") : report.thread_name(thread)) << ":\n"
        << wrapped(printable(stretch_name(report, places, share.stretch) +
                             deadlock_share(report, share)),
                   style.width, 24);
  }
  out << '\n';
}

void print_efficiency(std::ostream& out, const Report& report, const SummaryStyle& style) {
  const std::optional<Efficiency> e = efficiency_of(report);
  if (!e) return;
  out << '\n' << Paint(style.colours).bold("Efficiency") << '\n';
  const auto line = [&](double value, const char* name) {
    const std::string text = name;
    const auto deeper = static_cast<unsigned>(text.find_first_not_of(' '));
    out << right(percent(value, 1), 12) << wrapped(text, style.width, 14 + deeper).substr(12);
  };
  line(e->parallel(), "parallel efficiency: time spent computing, of the time of all processes");
  line(e->load_balance, "  load balance: mean computing time of a process, of the longest");
  line(e->communication(),
       "  communication: computing time of the busiest process, of the run time");
  line(e->serialisation, "    serialisation: what waiting leaves of it");
  line(e->transfer, "    transfer: what other time in MPI leaves of it");
}

void print_last_calls(std::ostream& out, const Report& report, const SummaryStyle& style) {
  constexpr std::size_t kListed = 12;
  const LastCalls& last = report.last_calls();
  if (last.empty()) return;
  const Paint paint(style.colours);
  const StorePlaces places(report);
  out << paint.bold("Where the processes stood when the run was ended") << '\n';
  for (std::size_t i = 0; i < last.deadlocks.size() && i < 3; ++i) {
    const std::string words = deadlock_words(report, places, last.deadlocks[i]);
    out << paint.red(wrapped(printable(words), style.width, 2));
  }
  if (last.deadlocks.size() > 3) {
    out << "  and " << last.deadlocks.size() - 3 << " more deadlocks\n";
  }
  if (const std::string words = verdict_words(report, places); !words.empty()) {
    out << wrapped(printable(words), style.width, 2);
  }
  const std::vector<LastCallGroup> groups = last_call_groups(last);
  for (std::size_t i = 0; i < groups.size() && i < kListed; ++i) {
    out << wrapped(printable(last_call_words(report, places, groups[i])), style.width, 2);
  }
  if (groups.size() > kListed) {
    out << "  and " << groups.size() - kListed << " more places (see --json)\n";
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
    out << "  and " << groups.size() - kListed << " more (see --json)\n";
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
