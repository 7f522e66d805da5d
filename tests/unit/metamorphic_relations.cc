#include "tests/unit/metamorphic_relations.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/cube/writer.h"
#include "expert/patterns/catalogue.h"
#include "expert/sums/processors.h"
#include "tests/support/cross_checks.h"
#include "tests/support/kept_runs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_parts.h"

namespace kojak::metamorphic {
namespace {

using expert::Metric;
using Key = Outcome::Key;

// Rounding of times and of sums in another order; times of the traces are below 10^4 s.
constexpr double kRounding = 1e-9;

const Metric* described(const std::string& name) {
  for (const Metric& m : expert::all_metrics()) {
    if (m.name == name) return &m;
  }
  return nullptr;  // a hardware counter
}
bool is_pattern(const std::string& name) {
  const Metric* m = described(name);
  return m != nullptr && m->kind == Metric::Kind::kPattern && m->unit == expert::Unit::kSeconds;
}
bool is_below(const std::string& name, std::string_view ancestor) {
  for (const Metric* m = described(name); m != nullptr; m = described(std::string(m->parent))) {
    if (m->name == ancestor) return true;
  }
  return false;
}
// Waits, pairs and bytes of one-sided communication: what a window is the reason of.
bool is_of_windows(const std::string& name) {
  const bool wait = is_pattern(name) && (is_below(name, "mpi_rma_communication") ||
                                         is_below(name, "mpi_rma_synchronization"));
  return wait || is_below(name, "bytes_rma") || is_below(name, "mpi_rma_pairsync_count");
}

std::string words(const Key& key) {
  const auto& [metric, path, rank, thread] = key;
  return metric + " at " + path + " of " + std::to_string(rank) + "." + std::to_string(thread);
}

template <class Keep>
Outcome only(const Outcome& all, Keep&& keep) {
  Outcome part;
  for (const auto& [key, value] : all.values) {
    if (keep(std::get<0>(key))) part.values[key] = value;
  }
  return part;
}

class Relations {
 public:
  Relations(const TraceBytes& trace, std::uint64_t seed, Tally& tally)
      : trace_(trace),
        seed_(seed),
        tally_(tally),
        whole_(analysed(trace, "seed-" + std::to_string(seed))) {
    note("", whole_.broken);
  }
  std::vector<std::string> run() {
    shifted();
    scaled();
    hold("identifiers", support::with_other_identifiers(trace_, seed_), whole_);
    constexpr std::uint32_t kFar = 4'000'000'000;
    hold("far identifiers", support::with_other_identifiers(trace_, seed_, kFar), whole_);
    ranks();
    if (!support::order_of_members_matters(trace_)) {
      hold("members", support::with_members_reordered(trace_, seed_), whole_);
    }
    idle();
    ties();
    windows();
    ends_back();
    return std::move(wrong_);
  }

 private:
  void note(const std::string& relation, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) wrong_.push_back(relation + ": " + line);
  }
  void hold(const std::string& relation, const TraceBytes& changed, const Outcome& expected,
            double tolerance = kRounding) {
    hold_found(relation, analysed(changed), expected, tolerance);
  }
  // What is not explained depends on how long and how many the calls of a function are: for
  // relations that change that.
  void hold_apart_from_unexplained(const std::string& relation, const TraceBytes& changed,
                                   const Outcome& expected, double tolerance = kRounding) {
    hold_apart_from(relation, changed, expected, tolerance, [](const std::string& metric) {
      return metric == "mpi_unexplained" || metric.starts_with("mpi_polling") ||
             metric == "upc_late_notification";  // of reads that take less than 1 ms
    });
  }
  template <class F>
  void hold_apart_from(const std::string& relation, const TraceBytes& changed, Outcome expected,
                       double tolerance, F&& left_out) {
    Outcome found = analysed(changed);
    for (Outcome* outcome : {&expected, &found}) {
      std::erase_if(outcome->values,
                    [&](const auto& entry) { return left_out(std::get<0>(entry.first)); });
    }
    hold_found(relation, found, expected, tolerance);
  }
  // What is added is rounded to a whole tick of 2^-40 s, by half a tick at most, before a change
  // and after it. A cell has as many of these as it has visits, and that of a wait no more.
  static double roundings(const Outcome& outcome) {
    double visits = 0;
    for (const auto& [key, value] : outcome.values) {
      if (std::get<0>(key) == "visits") visits = std::max(visits, value);
    }
    return visits * 0x1p-41;
  }
  // A region's own time is what its moments leave and those of the regions that end in it. Each is
  // cut to a whole tick, by less than one: two for each visit of a location.
  static double cuts_of_moments(const Outcome& outcome) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> visits;
    double most = 0;
    for (const auto& [key, value] : outcome.values) {
      if (std::get<0>(key) != "visits") continue;
      double& of_location = visits[{std::get<2>(key), std::get<3>(key)}];
      most = std::max(most, of_location += value);
    }
    return 2 * most * 0x1p-40;
  }
  void hold_found(const std::string& relation, const Outcome& found, const Outcome& expected,
                  double tolerance) {
    note(relation, found.broken);
    note(relation,
         differences(expected, found, tolerance + roundings(expected) + roundings(found)));
    tally_.add(relation, whole_.waits());
  }
  void shifted() { hold("shifted", support::with_times_shifted(trace_, 1024), whole_); }
  void scaled() {
    // By powers of two nothing is rounded but what is added, whole nanoseconds apart.
    const double factor = seed_ % 2 == 0 && !support::has_processor_times(trace_) ? 0.125 : 16;
    Outcome expected = whole_;
    for (auto& [key, value] : expected.values) {
      const Metric* metric = described(std::get<0>(key));
      const bool seconds = metric != nullptr ? metric->unit == expert::Unit::kSeconds
                                             : std::get<0>(key) == expert::kNoProcessorMetric;
      if (seconds) value *= factor;
    }
    hold_apart_from_unexplained(
        "scaled", support::with_times_scaled(trace_, factor), expected,
        std::max(1.0, factor) * roundings(whole_) + (factor + 1) * cuts_of_moments(whole_));
  }
  void ranks() {
    const support::Renumbered other = support::with_ranks_renumbered(trace_, seed_);
    hold("ranks", other.trace, moved(whole_, other.location));
  }
  static Outcome moved(const Outcome& from, const std::vector<std::uint32_t>& location) {
    Outcome to;
    to.findings = from.findings;
    for (const auto& [key, value] : from.values) {
      const auto& [metric, path, rank, thread] = key;
      to.values[{metric, path, location.at(rank), thread}] = value;
    }
    return to;
  }
  void idle() {
    const support::WithIdle more = support::with_idle_process(trace_, seed_);
    Outcome expected = moved(whole_, more.location);
    // 0.5 s each in MPI_Init and MPI_Finalize, the rest in `idle`.
    const auto add = [&](const char* metric, const char* path, double value) {
      expected.values[{metric, path, more.idle, 0}] = value;
    };
    for (const char* metric : {"time", "execution"}) add(metric, "idle", more.seconds - 1);
    for (const char* path : {"idle/MPI_Init", "idle/MPI_Finalize"}) {
      for (const char* metric : {"time", "execution", "mpi", "mpi_init_exit"}) {
        add(metric, path, 0.5);
      }
    }
    for (const char* path : {"idle", "idle/MPI_Init", "idle/MPI_Finalize"}) add("visits", path, 1);
    // What is hot, and who is a master, is told by the mean of all and by the time of all.
    hold_apart_from("idle", more.trace, expected, kRounding, [](const std::string& metric) {
      return metric == "mpi_unexplained" || metric.starts_with("mpi_polling") ||
             metric.starts_with("upc_hot_") || metric.starts_with("upc_master_");
    });
  }
  void ties() {
    support::Reordered other;
    for (std::uint64_t i = 0; other.moved == 0 && i < 8; ++i) {
      other = support::with_ties_reordered(trace_, 8 * seed_ + i);
    }
    if (other.moved != 0) hold("ties", other.trace, whole_);
  }
  void windows() {
    const std::vector<std::uint32_t> used = support::windows_used(trace_);
    // What is written through one window may be read through another.
    if (used.size() < 2 || support::windows_share_memory(trace_)) return;
    const bool meet = support::windows_meet(trace_);
    const auto other_waits = [](const std::string& m) {
      return is_pattern(m) && !is_of_windows(m);
    };
    const Outcome whole = only(whole_, is_of_windows), others = only(whole_, other_waits);
    Outcome sum;
    for (const std::uint32_t window : used) {
      const Outcome part = analysed(support::only_window(trace_, window));
      note("windows", part.broken);
      note("windows", differences(others, only(part, other_waits), kRounding));
      for (const auto& [key, value] : only(part, is_of_windows).values) sum.values[key] += value;
    }
    if (meet) {
      // A wait for operations on two windows waits once for both: the parts have it twice.
      for (auto& [key, value] : sum.values) {
        const auto it = whole.values.find(key);
        const double once = it == whole.values.end() ? 0 : it->second;
        const std::string& path = std::get<1>(key);
        if (path.find("MPI_Wait") != std::string::npos && value > once) value = once;
      }
      std::erase_if(sum.values, [](const auto& entry) { return entry.second == 0; });
    }
    note("windows", differences(whole, sum, kRounding));
    std::set<std::string> waits = whole.waits();
    tally_.add("windows", waits);
  }

  void ends_back() {
    // The mark of an effect before its cause may stand behind all that is known of its epoch: too
    // late to take back what its call claimed. At the call it stands early enough.
    if (support::has_clock_violations(trace_)) return;
    // Who changed a flag is found by when writes were complete, which the basic model does not
    // know.
    if (support::has_values(trace_)) return;
    const TraceBytes changed = support::with_ends_put_back(trace_);
    if (changed != trace_) hold("ends back", changed, whole_);
  }

  const TraceBytes& trace_;
  std::uint64_t seed_;
  Tally& tally_;
  const Outcome whole_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::set<std::string> Outcome::waits() const {
  std::set<std::string> names;
  for (const auto& [key, value] : values) {
    if (is_pattern(std::get<0>(key))) names.insert(std::get<0>(key));
  }
  return names;
}

Outcome analysed(const TraceBytes& bytes, const std::string& kept_as) {
  auto trace = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "trace");
  if (!trace) throw std::runtime_error(trace.error().message());
  const expert::Report report = expert::analyse(*trace);
  static const test::TempDir folder;
  const std::string path = folder.file("a.cube");
  const Status written = expert::write_cube(report, path, {.doc_url = "file:///docs/"});
  if (!written.ok()) throw std::runtime_error(written.error().message());
  if (!kept_as.empty()) support::keep_run(kept_as, bytes, path);
  const support::Cube cube = support::read_cube(path);
  Outcome outcome;
  outcome.broken = support::cross_checks(cube, bytes);
  for (const auto& [metric, rows] : cube.rows) {
    const std::string& name = cube.metrics[static_cast<std::size_t>(metric)].uniq_name;
    for (const auto& [cnode, row] : rows) {
      const support::CubeCnode& c = cube.cnodes[static_cast<std::size_t>(cnode)];
      std::string place = c.path;
      if (c.line >= 0) place += " " + c.mod + ":" + std::to_string(c.line);
      for (std::size_t t = 0; t < row.size(); ++t) {
        if (row[t] == 0) continue;
        const support::CubeThread& thread = cube.threads[t];
        outcome.values[{name, place, static_cast<std::uint32_t>(thread.process_rank),
                        static_cast<std::uint32_t>(thread.rank)}] += row[t];
      }
    }
  }
  for (const expert::Finding& f : report.findings()) {
    // Some name a location behind a comma; which one it is depends on their numbers.
    outcome.findings.push_back(std::to_string(f.count) + " x " +
                               f.what.substr(0, f.what.find(',')));
  }
  return outcome;
}

std::vector<std::string> differences(const Outcome& expected, const Outcome& found,
                                     double tolerance) {
  std::vector<std::string> wrong;
  const auto differ = [&](const Key& key, double wanted, double have) {
    if (std::abs(have - wanted) <= tolerance) return;
    std::ostringstream line;
    line.precision(17);
    line << words(key) << ": expected " << wanted << ", found " << have;
    wrong.push_back(line.str());
  };
  for (const auto& [key, value] : expected.values) {
    const auto it = found.values.find(key);
    differ(key, value, it == found.values.end() ? 0 : it->second);
  }
  for (const auto& [key, value] : found.values) {
    if (!expected.values.contains(key)) differ(key, 0, value);
  }
  const auto missing = [&](const Outcome& from, const Outcome& in, const char* what) {
    for (const std::string& f : from.findings) {
      if (std::find(in.findings.begin(), in.findings.end(), f) == in.findings.end()) {
        wrong.push_back(what + f);
      }
    }
  };
  missing(expected, found, "lost finding: ");
  missing(found, expected, "new finding: ");
  return wrong;
}

void Tally::add(const std::string& relation, const std::set<std::string>& waits) {
  Row& row = rows_[relation];
  ++row.traces;
  if (!waits.empty()) ++row.with_waits;
  for (const std::string& name : waits) ++row.waits[name];
}

std::string Tally::table() const {
  std::ostringstream text;
  for (const auto& [relation, row] : rows_) {
    text << relation << ": " << row.traces << " traces, " << row.with_waits << " with waits of "
         << row.waits.size() << " patterns\n";
  }
  return text.str();
}

std::vector<std::string> check_relations(const TraceBytes& trace, std::uint64_t seed,
                                         Tally& tally) {
  return Relations(trace, seed, tally).run();
}

}  // namespace kojak::metamorphic
