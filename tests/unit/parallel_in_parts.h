// A run analysed whole and in slices, by this process alone, and all that its report and its page
// hold.
#pragma once

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "epilog/format/archive.h"
#include "expert/analysis.h"
#include "expert/causes/cause_solver.h"
#include "expert/cube/writer.h"
#include "expert/output/json_report.h"
#include "expert/output/terminal.h"
#include "expert/page/trace_part.h"
#include "expert/parallel/local_slices.h"
#include "expert/parallel/parts.h"
#include "expert/profile/from_analysis.h"
#include "tests/support/merged_slices.h"

namespace kojak::test {

inline expert::AnalysisOptions wanted() {
  return {.root_causes = true};
}

// Of a page: where there is more, some is left out.
inline constexpr html::TraceLimits kFew{.boxes = 150,
                                        .waits = 20,
                                        .arrows = 12,
                                        .bands = 12,
                                        .stripes = 4,
                                        .cells = 400,
                                        .pairs = 12,
                                        .fence_members = 24};

// All that a report holds, as it is written and printed, and what a page shows of the trace.
inline std::string words_of(const expert::Report& report, const std::string& file,
                            std::optional<html::TraceContent> content = {}) {
  std::ostringstream out;
  if (!expert::write_cube(report, file, {.doc_url = "pages"})) throw std::runtime_error(file);
  out << std::ifstream(file).rdbuf();
  if (!expert::write_json(report, {.trace = "run"}, file)) throw std::runtime_error(file);
  out << std::ifstream(file).rdbuf();
  expert::print_summary(out, report, {});
  expert::print_instances(out, report, {});
  if (!content) return out.str();
  content->file.clear();
  cube::Report profile = expert::profile_of(report);
  expert::add_severities(report, profile);
  const auto packed = html::trace_part(report, std::move(*content), profile, 10'000'000).packed;
  out << packed.json << '\n';
  for (const auto byte : packed.data) out << static_cast<int>(byte) << ' ';
  return out.str();
}

inline std::string analysed_whole(earl::Trace trace, const std::string& file,
                                  const html::TraceLimits& limits) {
  html::TimelineReader page(limits);
  expert::AnalysisOptions options = wanted();
  options.page = &page;
  const expert::Report report = expert::analyse(trace, options);
  return words_of(report, file, page.finish());
}
inline std::string analysed_whole(merge::MergeOptions options, const std::string& file,
                                  const html::TraceLimits& limits) {
  options.output.clear();
  merge::MergedStream stream(options);
  auto trace = earl::Trace::from(stream.source(), "run");
  if (!trace) throw std::runtime_error(trace.error().message());
  std::string words = analysed_whole(std::move(*trace), file, limits);
  if (!stream.finish()) throw std::runtime_error("not merged");
  return words;
}

// Analyses the slices of a run that is cut at these meetings, one after the other.
class InParts {
 public:
  // `with`: changes what is wanted of a part.
  using With = std::function<void(const earl::Trace&, expert::AnalysisOptions&)>;
  InParts(parallel::Slices& slices, const std::string& at, const html::TraceLimits& limits = {},
          With with = {})
      : with_(std::move(with)), limits_(limits), why_(slices.alone()) {
    if (why_.empty()) why_ = slices.cut_at(at);
    for (std::size_t k = 0; k < slices.size() && why_.empty(); ++k) read(slices, k);
    if (of_run_.crowded() && why_.empty()) why_ = "too many calls";
    if (why_.empty()) add_up();
  }
  // At how many of its cuts a process held a lock of all.
  std::size_t held() const { return held_; }
  // Why it was not cut; empty if it was.
  const std::string& why() const { return why_; }
  std::size_t parts() const { return parts_.size(); }
  const expert::Report& report() const { return *report_; }
  // One of these, once: what a page shows, and all words.
  html::TraceContent content() const { return parts_.back()->page.finish(events_); }
  std::string words(const std::string& file) const { return words_of(*report_, file, content()); }

 private:
  struct Part {
    explicit Part(const html::TraceLimits& limits) : page(limits) {}
    expert::Gate gate;
    expert::AnalysisOptions options = wanted();
    html::TimelineReader page;
    std::optional<earl::Trace> trace;
    std::optional<expert::PartAnalysis> analysis;
  };
  void read(parallel::Slices& slices, std::size_t k) {
    Part& part = *parts_.emplace_back(std::make_unique<Part>(limits_));
    if (const earl::Standing* const standing = slices.standing(k); standing != nullptr) {
      held_ += std::any_of(standing->locations.begin(), standing->locations.end(),
                           [](const auto& location) { return !location.held.empty(); });
    }
    auto records = slices.records(k, part.gate);
    if (!records) throw std::runtime_error(records.error().message());
    auto trace = earl::Trace::from(std::move(*records), "run");
    if (!trace) throw std::runtime_error(trace.error().message());
    part.trace.emplace(std::move(*trace));
    part.options.page = &part.page;
    if (with_) with_(*part.trace, part.options);
    part.analysis.emplace(expert::TracePart{&*part.trace, slices.standing(k), &part.gate},
                          part.options, k + 1 == slices.size());
    events_ += slices.own_events(k, part.trace->events_read());
    const auto merged = slices.finish();
    if (!merged) throw std::runtime_error(merged.error().message());
    why_ = part.analysis->why().empty() ? *merged : part.analysis->why();
    of_run_.add(part.analysis->evidence());
  }
  void add_up() {
    std::optional<expert::PartSums> all;
    for (const auto& part : parts_) {
      // (Those of the last one are never packed.)
      expert::PartSums own = part->analysis->take_sums(of_run_), told = part->analysis->no_sums();
      const bool last = &part == &parts_.back();
      if (!last && !unpack(packed(std::move(own)), told))
        throw std::runtime_error("sums cannot be read");
      expert::PartSums& sums = last ? own : told;
      causes_.paths.push_back(add_part(all, sums));
    }
    why_ = parallel::too_much(*all);
    if (!why_.empty()) return;
    for (const auto& part : parts_) causes_.parts.push_back(part->analysis->causes());
    report_.emplace(parts_.back()->analysis->report(std::move(*all), &causes_));
    why_ = causes_.why;
  }

  // The parts of this process, as if others had them.
  struct CauseParts final : expert::CauseParts {
    std::size_t others() const override { return parts.size() - 1; }
    void ask(std::size_t part, const expert::CauseRequest& request) override {
      expert::CauseRequest told;
      if (!unpack(packed(request), told)) throw std::runtime_error("a request cannot be read");
      answers[part] = packed(parts[part]->answer(told));
    }
    bool hear(std::size_t part, expert::CauseAnswer& answer) override {
      return unpack(answers[part], answer);
    }
    expert::CallPathIndex path(std::size_t part, expert::CallPathIndex path) const override {
      return paths[part][path];
    }
    void give_up(const std::string& reason) override { why = reason; }
    std::vector<expert::CausePart*> parts;
    std::map<std::size_t, std::vector<std::byte>> answers;
    std::vector<std::vector<expert::CallPathIndex>> paths;
    std::string why;
  };
  CauseParts causes_;
  const With with_;
  const html::TraceLimits limits_;
  std::size_t held_ = 0;
  std::uint64_t events_ = 0;
  std::string why_;
  expert::PassiveEvidence of_run_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::optional<expert::Report> report_;
};

inline std::unique_ptr<parallel::LocalSlices> slices_of(merge::MergeOptions options) {
  options.output.clear();
  options.format = merge::Format::kCompact;
  auto slices = parallel::LocalSlices::of(options);
  if (!slices) throw std::runtime_error(slices.error().message());
  return std::move(*slices);
}

// Of the merged trace, which is written here.
inline std::unique_ptr<parallel::Slices> merged_slices_of(const merge::MergeOptions& options) {
  if (!merge::merge_traces(options)) throw std::runtime_error("not merged");
  auto slices = slices_of_trace(options.output);
  if (!slices) throw std::runtime_error(slices.error().message());
  return std::move(*slices);
}

}  // namespace kojak::test
