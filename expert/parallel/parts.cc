#include "expert/parallel/parts.h"

#include <utility>
#include <vector>

#include "epilog/format/archive.h"
#include "expert/causes/cause_part.h"
#include "expert/causes/cause_solver.h"
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
    archive(kind, cuts, evidence);
    if (kind == Kind::kCauses) archive(causes);
  }
};

namespace {

// Of an answer that is kept.
std::string name_of(bool sums, std::size_t part) {
  return (sums ? "sums-" : "part-") + std::to_string(part);
}

}  // namespace

// The processes that do the other parts: children, or a team, whose members wait until what they
// tell is received, and for what they are asked next.
class Parts::Others {
 public:
  Others(Team* team, std::size_t parts, Patience patience)
      : team_(team), asked_(parts), children_(std::move(patience)) {}
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
  if (wanted.waits != nullptr) return "lists of waits cannot be joined yet";
  return "";
}

Result<bool> Parts::cut(const Options& options) {
  file_ = options.file;
  team_ = options.team;
  kept_ = options.kept;
  note_ = options.note;
  auto slices = LocalSlices::of(*options.merge, team_, kept_);
  if (!slices) return slices.error();
  slices_ = std::move(*slices);
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
    slices_.reset();
    return false;
  }
  const std::size_t parts = slices_->size();
  if (options.at.empty() && parts < options.processes && note_) {
    note_(std::to_string(parts) + " parts, the longest has " +
          std::to_string(slices_->percent_of_longest()) +
          " % of the trace: " + std::to_string(parts) + " of " + std::to_string(options.processes) +
          " processes analyse");
  }
  if (team_ != nullptr && team_->leads()) {
    if (Status told = slices_->tell_cuts(*team_); !told) return told.error();
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

Status Parts::read_part(std::size_t number, const expert::AnalysisOptions& wanted) {
  if (analysis_ != nullptr && !summed_) return {};
  expert::AnalysisOptions quietly = wanted;
  quietly.progress = nullptr;
  if (wanted.send_modes != nullptr) *wanted.send_modes = wanted.send_modes->fresh();
  summed_ = false;
  auto analysis = part(number, quietly);
  if (!analysis) return analysis.error();
  analysis_ = std::move(*analysis);
  return {};
}

Bytes Parts::told_part(std::size_t number, const expert::AnalysisOptions& wanted) {
  if (Status status = read_part(number, wanted); !status) return status.error();
  PartRead told{alone_, slices_->own_events(number, trace_->events_read()), analysis_->evidence()};
  if (!told.why.empty()) {
    analysis_.reset();
  } else if (kept_ && analysis_->decided()) {
    // Its sums are what they are whatever the others show: the part need not be read for them
    // again.
    const Bytes sums = told_sums(number, wanted, told.evidence);
    if (!sums) return sums;
    Status status = kept_.keep(name_of(true, number), {}, *sums);
    if (!status) return status.error();
  }
  return packed(std::move(told));
}

Bytes Parts::told_sums(std::size_t number, const expert::AnalysisOptions& wanted,
                       const expert::PassiveEvidence& of_run) {
  if (Status status = read_part(number, wanted); !status) return status.error();
  PartSums told{alone_, alone_.empty() ? analysis_->take_sums(of_run) : analysis_->no_sums()};
  if (told.why.empty()) told.why = too_much(told.sums);
  summed_ = true;
  if (analysis_->causes() == nullptr) analysis_.reset();
  return packed(std::move(told));
}

// (Where its sums were kept, it may not have been read.)
Bytes Parts::told_causes(std::size_t number, const expert::AnalysisOptions& wanted,
                         const expert::CauseRequest& request) {
  if (analysis_ == nullptr || !summed_) {
    if (const Bytes sums = told_sums(number, wanted, of_run_); !sums) return sums;
  }
  if (analysis_ == nullptr || !alone_.empty()) return cannot_be_read();
  return packed(analysis_->causes()->answer(request));
}

Bytes Parts::answer(const std::vector<std::byte>& asked, std::size_t number,
                    const expert::AnalysisOptions& wanted) {
  Request request;
  if (!unpack(asked, request)) return cannot_be_read();
  const bool sums = request.kind == Request::Kind::kSums;
  if (sums) of_run_ = request.evidence;
  if (request.kind == Request::Kind::kCauses) return told_causes(number, wanted, request.causes);
  if (request.kind == Request::Kind::kForget) {
    analysis_.reset();
    return std::vector<std::byte>();
  }
  return kept_or(kept_, name_of(sums, number), asked, [&]() -> Bytes {
    if (sums) return told_sums(number, wanted, request.evidence);
    if (request.cuts == slices_->cuts()) return told_part(number, wanted);
    return Error{.code = ExitCode::kOutputFailed,
                 .reason = "it sees other traces than the first process",
                 .remedy = "the run's folder must be the same for all processes"};
  });
}

void Parts::serve(const expert::AnalysisOptions& wanted) {
  if (!too_much(wanted).empty()) return;
  const auto number = static_cast<std::size_t>(team_->rank() - 1);
  while (const auto work = team_->next_work())
    team_->answer(guarded([&] { return answer(*work, number, wanted); }));
}

void Parts::say_what_is_there() const {
  std::size_t there = 0;
  for (std::size_t k = 0; k + 1 < slices_->size(); ++k) {
    there += kept_.has(name_of(false, k)) && kept_.has(name_of(true, k));
  }
  if (there == 0 || !note_) return;
  note_(std::to_string(there) + " of " + std::to_string(slices_->size()) + " parts were there");
}

Result<std::optional<expert::Report>> Parts::analyse(const expert::AnalysisOptions& wanted) {
  auto report = add_up(wanted);
  if (report && !*report) {
    analysis_.reset();
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
  say_what_is_there();
  Others others(team_, parts - 1, Patience(note_));
  const auto work = [&](std::size_t k, const Children::Ask& ask) -> Bytes {
    Bytes told =
        answer(packed(Request{.kind = Request::Kind::kRead, .cuts = slices_->cuts()}), k, wanted);
    while (told) told = answer(ask(std::move(told)), k, wanted);
    return told;
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
  for (std::size_t k = 0; k + 1 < parts; ++k) {
    PartSums told{{}, (*last)->no_sums()};
    if (Status status = hear(k, told); !status) return status.error();
    if (!told.why.empty()) return by_one(told.why);
    causes.paths.push_back(add_part(all, told.sums));
  }
  causes.paths.push_back(add_part(all, of_last));
  if (const std::string why = too_much(*all); !why.empty()) return by_one(why);
  analysis_ = std::move(*last);
  expert::Report report = analysis_->report(std::move(*all), &causes);
  if (!causes.why.empty()) return by_one(causes.why);
  if (causes.failed) return *causes.failed;
  return std::optional<expert::Report>(std::move(report));
}

}  // namespace kojak::parallel
