#include "expert/parallel/parts.h"

#include <numeric>
#include <utility>
#include <vector>

#include "expert/causes/cause_part.h"
#include "expert/causes/cause_solver.h"
#include "expert/parallel/archive.h"
#include "expert/parallel/children.h"

namespace kojak::parallel {
namespace {

Error not_understood(std::size_t k) {
  return {.code = ExitCode::kOutputFailed,
          .reason = "what the process of part " + std::to_string(k + 1) + " tells cannot be read"};
}

// What another one tells of its part.
struct PartRead {
  std::string why;  // not empty: one process has to do it
  std::uint64_t events = 0;
  expert::PassiveEvidence evidence;
  template <class Archive>
  void visit(Archive& archive) {
    archive(why, events, evidence);
  }
};
struct PartSums {
  std::string why;
  expert::PartSums sums;
  template <class Archive>
  void visit(Archive& archive) {
    archive(why);
    if (why.empty()) archive(sums);
  }
};

}  // namespace

// What another process is asked for: a part, of a run that is cut there; the sums of that part;
// then, where causes are looked for, what its waits cost.
struct Parts::Request {
  enum class Kind : std::uint8_t { kRead, kSums, kCauses, kForget } kind{};
  std::vector<std::size_t> cuts;
  expert::PassiveEvidence evidence;
  expert::CauseRequest causes;
  template <class Archive>
  void visit(Archive& archive) {
    archive(kind, cuts, evidence, causes);
  }
};

// The processes that do the other parts: children, or a team, whose members wait until what they
// tell is received, and for what they are asked next.
class Parts::Others {
 public:
  Others(Team* team, std::size_t parts) : team_(team), asked_(parts) {}
  // Asks for their parts.
  Status start(const Children::Work& work, const std::vector<std::size_t>& cuts) {
    if (team_ == nullptr) return children_.start(asked_.size(), work);
    ask({.kind = Request::Kind::kRead, .cuts = cuts});
    return {};
  }
  // All of them; one, who has answered.
  void ask(const Request& request) {
    for (std::size_t k = 0; k < asked_.size(); ++k) ask(k, request);
  }
  void ask(std::size_t k, const Request& request) {
    const std::vector<std::byte> bytes = packed(request);
    if (team_ == nullptr) return children_.tell(k, bytes);
    asked_[k] = true;
    team_->ask(static_cast<int>(k) + 1, bytes);
  }
  Bytes hear(std::size_t k) {
    if (team_ == nullptr) return children_.hear(k);
    asked_[k] = false;
    return team_->answer_of(static_cast<int>(k) + 1);
  }
  // (Who was asked waits until its answer is taken.)
  ~Others() {
    if (team_ == nullptr) return;
    const auto hear_all = [&] {
      for (std::size_t k = 0; k < asked_.size(); ++k) {
        if (asked_[k]) (void)hear(k);
      }
    };
    const auto rest = guarded([&]() -> Bytes {
      hear_all();
      ask({.kind = Request::Kind::kForget});
      hear_all();
      return std::vector<std::byte>();
    });
    if (!rest) team_->abort();  // they would wait for ever
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

 private:
  Team* team_;
  std::vector<bool> asked_;
  Children children_;
};

// Who know what the waits of the other parts cost.
class Parts::CauseParts final : public expert::CauseParts {
 public:
  CauseParts(Others& others, std::size_t parts) : others_(others), parts_(parts) {}
  std::size_t others() const override { return parts_; }
  void ask(std::size_t part, const expert::CauseRequest& request) override {
    others_.ask(part, {.kind = Request::Kind::kCauses, .causes = request});
  }
  bool hear(std::size_t part, expert::CauseAnswer& answer) override {
    const Bytes bytes = others_.hear(part);
    if (bytes && unpack(*bytes, answer)) return true;
    failed = bytes ? not_understood(part) : bytes.error();
    return false;
  }
  expert::CallPathIndex path(std::size_t part, expert::CallPathIndex path) const override {
    return paths[part][path];
  }
  void give_up(const std::string& reason) override { why = reason; }

  std::vector<std::vector<expert::CallPathIndex>> paths;  // of each part: numbers in the run
  std::optional<Error> failed;
  std::string why;  // one process has to do it

 private:
  Others& others_;
  std::size_t parts_;
};

// (What stays at a limit depends on the order.)
std::string too_much(const expert::PartSums& sums) {
  if (sums.late) return "the whole run decides which of its waits count";
  return sums.severities.limited() != 0 ? "a sum is beyond what a cell holds" : "";
}
std::string too_much(const expert::AnalysisOptions& wanted) {
  if (wanted.page != nullptr) return "a page cannot be drawn in parts yet (--html)";
  if (wanted.waits != nullptr) return "lists of waits cannot be joined yet";
  return "";
}

Result<bool> Parts::cut(const Options& options) {
  file_ = options.file;
  team_ = options.team;
  if (options.merge != nullptr) {
    auto slices = LocalSlices::of(*options.merge, team_);
    if (!slices) return slices.error();
    local_ = &**slices;
    slices_ = std::move(*slices);
  } else {
    auto slices = slices_of_trace(options.file);
    if (!slices) return slices.error();
    slices_ = std::move(*slices);
  }
  alone_ = slices_->alone();
  if (alone_.empty() && slices_->cuts().empty()) {
    alone_ =
        options.at.empty() ? slices_->cut_evenly(options.processes) : slices_->cut_at(options.at);
  }
  if (alone_.empty() && team_ != nullptr &&
      slices_->size() > static_cast<std::size_t>(team_->size())) {
    alone_ = "it is cut into more parts than there are processes";
  }
  if (!alone_.empty()) {
    local_ = nullptr;
    slices_.reset();
    return false;
  }
  const std::size_t parts = slices_->size();
  if (options.at.empty() && parts < options.processes && options.note) {
    options.note(std::to_string(parts) + " parts, the longest has " +
                 std::to_string(slices_->percent_of_longest()) +
                 " % of the trace: " + std::to_string(parts) + " of " +
                 std::to_string(options.processes) + " processes analyse");
  }
  if (team_ != nullptr && team_->leads() && local_ != nullptr) {
    if (Status told = local_->tell_cuts(*team_); !told) return told.error();
  }
  return true;
}

Result<std::unique_ptr<expert::PartAnalysis>> Parts::part(std::size_t number,
                                                          const expert::AnalysisOptions& wanted) {
  auto records = slices_->records(number, gate_);
  if (!records) return records.error();
  auto trace = earl::Trace::from(std::move(*records), file_);
  if (!trace) {
    auto read = slices_->finish();  // which knows why there is none, if it is not the trace
    return read ? trace.error() : read.error();
  }
  trace_.emplace(std::move(*trace));
  const expert::TracePart part{&*trace_, slices_->standing(number), &gate_};
  auto analysis =
      std::make_unique<expert::PartAnalysis>(part, wanted, number + 1 == slices_->size());
  auto read = slices_->finish();
  if (!read) return read.error();
  alone_ = read->empty() ? analysis->why() : std::move(*read);
  return analysis;
}

Bytes Parts::told_part(std::size_t number, const expert::AnalysisOptions& wanted) {
  expert::AnalysisOptions quietly = wanted;
  quietly.progress = nullptr;
  auto analysis = part(number, quietly);
  if (!analysis) return analysis.error();
  PartRead told{alone_, slices_->own_events(number, trace_->events_read()),
                (*analysis)->evidence()};
  if (told.why.empty()) analysis_ = std::move(*analysis);
  return packed(std::move(told));
}

Bytes Parts::told_sums(const expert::PassiveEvidence& of_run) {
  PartSums told{{}, analysis_->take_sums(of_run)};
  told.why = too_much(told.sums);
  if (analysis_->causes() == nullptr) analysis_.reset();
  return packed(std::move(told));
}

Bytes Parts::answer(const Request& request, std::size_t number,
                    const expert::AnalysisOptions& wanted) {
  switch (request.kind) {
    case Request::Kind::kRead:
      if (request.cuts == slices_->cuts()) return told_part(number, wanted);
      break;
    case Request::Kind::kSums:
      if (analysis_ != nullptr) return told_sums(request.evidence);
      break;
    case Request::Kind::kCauses:
      if (analysis_ != nullptr) return packed(analysis_->causes()->answer(request.causes));
      break;
    case Request::Kind::kForget:
      analysis_.reset();
      return std::vector<std::byte>();
  }
  return Error{.code = ExitCode::kOutputFailed,
               .reason = "it sees other traces than the first process",
               .remedy = "the run's folder must be the same for all processes"};
}

void Parts::serve(const expert::AnalysisOptions& wanted) {
  if (!too_much(wanted).empty()) return;
  const auto number = static_cast<std::size_t>(team_->rank() - 1);
  while (const auto work = team_->next_work()) {
    team_->answer(guarded([&]() -> Bytes {
      Request request;
      return unpack(*work, request) ? answer(request, number, wanted) : cannot_be_read();
    }));
  }
}

Result<std::optional<expert::Report>> Parts::analyse(const expert::AnalysisOptions& wanted) {
  auto report = add_up(wanted);
  if (report && !*report) {
    trace_.reset();
    slices_->forget();
  }
  return report;
}

Result<std::optional<expert::Report>> Parts::add_up(const expert::AnalysisOptions& wanted) {
  const auto by_one = [&](const std::string& why) {
    alone_ = why;
    if (wanted.send_modes != nullptr) *wanted.send_modes = wanted.send_modes->fresh();
    return std::optional<expert::Report>();
  };
  const std::size_t parts = slices_->size();
  Others others(team_, parts - 1);
  const auto work = [&](std::size_t k, const Children::Ask& ask) -> Bytes {
    Bytes told = told_part(k, wanted);
    Request request;
    while (told && unpack(ask(std::move(told)), request)) told = answer(request, k, wanted);
    return told ? cannot_be_read() : told;
  };
  if (Status status = others.start(work, slices_->cuts()); !status) return status.error();
  auto last = part(parts - 1, wanted);
  if (!last) return last.error();
  if (!alone_.empty()) return by_one(alone_);
  events_ = slices_->own_events(parts - 1, trace_->events_read());
  const auto hear = [&](std::size_t k, auto& told) -> Status {
    const Bytes bytes = others.hear(k);
    if (!bytes) return bytes.error();
    if (unpack(*bytes, told)) return {};
    return not_understood(k);
  };
  expert::PassiveEvidence of_run = (*last)->evidence();
  for (std::size_t k = 0; k + 1 < parts; ++k) {
    PartRead told;
    if (Status status = hear(k, told); !status) return status.error();
    if (!told.why.empty()) return by_one(told.why);
    events_ += told.events;
    of_run.add(told.evidence);
  }
  if (of_run.crowded()) return by_one("so many calls may have waited that some are left out");
  others.ask({.kind = Request::Kind::kSums, .evidence = of_run});
  expert::PartSums of_last = (*last)->take_sums(of_run);
  std::optional<expert::PartSums> all;
  CauseParts causes(others, parts - 1);
  const auto add = [&](expert::PartSums& sums) {
    if (all) {
      causes.paths.push_back(all->add(sums));
    } else {
      all.emplace(std::move(sums));
      causes.paths.emplace_back(all->paths.size());
      std::iota(causes.paths[0].begin(), causes.paths[0].end(), expert::CallPathIndex{0});
    }
  };
  for (std::size_t k = 0; k + 1 < parts; ++k) {
    PartSums told{{}, (*last)->no_sums()};
    if (Status status = hear(k, told); !status) return status.error();
    if (!told.why.empty()) return by_one(told.why);
    add(told.sums);
  }
  add(of_last);
  if (const std::string why = too_much(*all); !why.empty()) return by_one(why);
  analysis_ = std::move(*last);
  expert::Report report = analysis_->report(std::move(*all), &causes);
  if (!causes.why.empty()) return by_one(causes.why);
  if (causes.failed) return *causes.failed;
  return std::optional<expert::Report>(std::move(report));
}

}  // namespace kojak::parallel
