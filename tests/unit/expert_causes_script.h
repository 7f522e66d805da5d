// Hand-made runs for the tests of root causes, and what the analysis finds of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "expert/causes/cause_metrics.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/group_words.h"
#include "expert/findings/step_words.h"
#include "expert/findings/trace_findings.h"
#include "expert/findings/verdict.h"
#include "expert/output/terminal.h"
#include "expert/output/verdict_lines.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/efficiency.h"
#include "tests/unit/equal_words.h"
#include "tests/unit/expert_script.h"

namespace kojak::expert {

// Events of several processes, in any order.
class CauseScript {
 public:
  explicit CauseScript(int processes, double first = 0) : processes_(processes) {
    for (int p = 0; p < processes; ++p) add(p, first, "ENTER", "region=main");
  }
  void add(int process, double time, const std::string& event, const std::string& rest = {}) {
    std::ostringstream line;
    line.precision(17);
    line << event << " lid=" << process << " time=" << time << ' ' << rest << '\n';
    lines_.push_back({time, line.str()});
  }
  // A definition, before all events.
  void define(const std::string& line) { definitions_ += line + '\n'; }
  // A call with what it records.
  struct Record {
    double time;
    std::string event, rest;
  };
  void call(int process, double enter, double exit, const std::string& region,
            const std::vector<Record>& records = {}) {
    add(process, enter, "ENTER", "region=" + region);
    for (const Record& r : records) add(process, r.time, r.event, r.rest);
    add(process, exit, "EXIT");
  }
  // Post, start, complete and wait leave with a record of their own.
  void epoch_call(int process, double enter, double exit, const std::string& region, int other,
                  bool ends) {
    add(process, enter, "ENTER", "region=" + region);
    add(process, exit, "MPI_WINEXIT",
        "wid=0 group=[" + std::to_string(other) + "] synex=" + (ends ? "1" : "0"));
  }
  void lock(int process, double enter, double exit, int target, bool exclusive) {
    call(process, enter, exit, "MPI_Win_lock",
         {{exit, "MPI_WIN_LOCK",
           "llid=" + std::to_string(target) + " wid=0 ltype=" + (exclusive ? "1" : "0")}});
  }
  void unlock(int process, double time, int target) {
    call(process, time, time, "MPI_Win_unlock",
         {{time, "MPI_WIN_UNLOCK", "llid=" + std::to_string(target) + " wid=0"}});
  }
  void put(int process, double enter, double exit, int target) {
    call(process, enter, exit, "MPI_Put",
         {{enter, "MPI_PUT_1TS", "dlid=" + std::to_string(target) + " wid=0 rmaid=0 sent=8"}});
  }
  void barrier(const std::vector<double>& enters, double exit) {
    for (std::size_t p = 0; p < enters.size(); ++p) {
      add(static_cast<int>(p), enters[p], "ENTER", "region=MPI_Barrier");
      add(static_cast<int>(p), exit, "MPI_COLLEXIT");
    }
  }
  void fence(const std::vector<double>& enters, double exit) {
    for (std::size_t p = 0; p < enters.size(); ++p) {
      add(static_cast<int>(p), enters[p], "ENTER", "region=MPI_Win_fence");
      add(static_cast<int>(p), exit, "MPI_WINCOLLEXIT", "wid=0");
    }
  }
  // The send ends at once.
  void message(int from, double sent, int to, double asked, double received) {
    call(from, sent, sent, "MPI_Send",
         {{sent, "MPI_SEND", "dlid=" + std::to_string(to) + " tag=0 sent=8"}});
    call(to, asked, received, "MPI_Recv",
         {{received, "MPI_RECV", "slid=" + std::to_string(from) + " tag=0 recvd=8"}});
  }

  struct Found {
    RootCauses causes;
    std::optional<Efficiency> efficiency;
    std::vector<std::string> words, effects, chains;  // of each cause
    // Call paths of their own that computing has, and the functions that have one, by name.
    struct Node {
      std::string parent;
      std::vector<double> time, cost, on_path;  // by rank
    };
    std::map<std::string, Node> nodes;
    std::string summary, instances;  // for the terminal
    std::string verdict;
    std::map<unsigned, std::string> lines;  // the twelve, by width
    Bar bar;
    double time = 0;        // of all
    std::size_t worst = 0;  // instances of the report, and the worst of places
    std::vector<std::string> findings;
    std::vector<std::string> asked;  // the chains of the longest waits of the worst instances
    std::vector<std::string> steps;  // of the chain of the first group's largest cause
    // What a process's computing cost the others; all of it.
    double computing(LocationIndex location) const {
      return of(location, Stretch::Kind::kComputing);
    }
    double of(LocationIndex location, Stretch::Kind kind) const {
      double sum = 0;
      for (const RootCause& c : causes.causes) {
        if (c.location == location && c.stretch.kind == kind) sum += c.seconds;
      }
      return sum;
    }
    double direct(LocationIndex location) const {
      double sum = 0;
      for (const WaitsAt& w : causes.waits_at) sum += w.location == location ? w.direct : 0;
      return sum;
    }
    double indirect(LocationIndex location) const {
      double sum = 0;
      for (const WaitsAt& w : causes.waits_at) sum += w.location == location ? w.indirect : 0;
      return sum;
    }
    double gain(LocationIndex location) const {
      double most = -1;
      for (const RootCause& c : causes.causes) {
        if (c.location == location && c.gain) most = std::max(most, *c.gain);
      }
      return most;
    }
    double long_term(LocationIndex location) const {
      double sum = 0;
      for (const RootCause& c : causes.causes) {
        for (const CostOfPattern& p : c.patterns) {
          if (c.location == location) sum += p.long_term;
        }
      }
      return sum;
    }
  };
  // All of it, with the ends of the outermost regions.
  std::string until(double last) {
    for (int p = 0; p < processes_; ++p) add(p, last, "EXIT");
    return definitions_ + in_order_of_time(lines_);
  }
  // As if no more waits, operations or dependencies could be numbered.
  void number_at_most(std::size_t most) { most_ = most; }
  Found analyse_until(double last) {
    const std::string text = until(last);
    AnalysisOptions options;
    options.root_causes = true;
    if (most_ != 0) options.most_of_root_causes = most_;
    std::optional<earl::Trace> trace;
    const Report report = analyse_script(text, trace, options);
    EXPECT_FALSE(any_suspect(report.findings())) << suspects(report.findings());
    Found found{*report.root_causes(), efficiency_of(report)};
    double sum = found.causes.unexplained;
    for (const RootCause& c : found.causes.causes) {
      found.words.push_back(cause_words(report, c));
      found.effects.push_back(effect_words(report, c));
      found.chains.push_back(chain_words(report, c.chain));
      sum += c.seconds;
    }
    std::ostringstream summary, instances;
    print_summary(summary, report, {});
    print_instances(instances, report, {});
    found.summary = summary.str();
    found.instances = instances.str();
    found.verdict = text_of(verdict_of(report));
    found.bar = bar_of(report);
    expect_of_groups(report);
    if (const CauseGroups& groups = report.root_causes()->groups; !groups.listed.empty()) {
      const RootCause* const most = most_costly(report, groups.listed.front());
      for (const StepWords& step : step_words(report, most->chain, groups.listed.front())) {
        found.steps.push_back(step.lead + ' ' + step.rest);
      }
    }
    for (const unsigned width : {46u, 60u, 80u, 120u, 200u}) {
      std::ostringstream lines;
      print_verdict(lines, report, {.width = width},
                    {"run.elg", "everything: expert --full run.elg"});
      found.lines[width] = lines.str();
    }
    for (const Finding& f : report.findings()) found.findings.push_back(f.what);
    found.time = report.total(report.find_metric("time"));
    const auto values = [&](const char* metric, std::size_t path) {
      std::vector<double> of(report.threads());
      report.row(report.find_metric(metric), path, of);
      return of;
    };
    for (std::size_t p = 0; p < report.call_paths().size(); ++p) {
      const CallPathNode& node = report.call_paths()[p];
      const std::string above =
          node.parent == kNone ? "" : report.region_name(report.call_paths()[node.parent].region);
      if (above.empty() || report.is_stretch(node.region)) {
        found.nodes[report.region_name(node.region)] = {
            above, values("time", p), values("delay", p), values("critical_path", p)};
      }
    }
    found.worst = report.waits().worst.size() + report.waits().of_places.size();
    for (const Chain& c : found.causes.asked) {
      found.asked.push_back(chain_words(report, c));
    }
    EXPECT_NEAR(sum, found.causes.waits,
                1e-9);  // whatever waits has a cause, or is said to have none
    return found;
  }

 private:
  // The metric has the gains, and no two groups say the same.
  static void expect_of_groups(const Report& report) {
    double gains = 0;
    for (const CauseGroup& g : report.root_causes()->groups.listed) {
      if (!g.causes.empty()) gains += in_seconds(g.gain.value_or(0));
    }
    EXPECT_NEAR(report.total(report.find_metric(kGainMetric)), gains, 1e-9);
    EXPECT_EQ(equal_words(report), std::vector<std::string>());
  }

  int processes_;
  std::size_t most_ = 0;  // 0: as many as can be
  std::string definitions_;
  std::vector<std::pair<double, std::string>> lines_;
};

}  // namespace kojak::expert
