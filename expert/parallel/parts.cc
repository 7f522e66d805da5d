#include "expert/parallel/parts.h"

#include <utility>
#include <vector>

#include "expert/parallel/archive.h"
#include "expert/parallel/children.h"

namespace kojak::parallel {
namespace {

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

// What the leader of a team asks for: a part, of a run that is cut there; or the sums of that part.
struct Request {
  enum class Kind : std::uint8_t { kRead, kSums, kForget } kind{};
  std::vector<std::size_t> cuts;
  expert::PassiveEvidence evidence;
  template <class Archive>
  void visit(Archive& archive) {
    archive(kind, cuts, evidence);
  }
};

// The processes that do the other parts: children, or a team, whose members wait until what they
// tell is received, and for what they are asked next.
class Others {
 public:
  Others(Team* team, std::size_t parts) : team_(team), parts_(parts) {}
  Status start(const Children::Work& work, std::vector<std::size_t> cuts) {
    if (team_ == nullptr) return children_.start(parts_, work);
    ask({.kind = Request::Kind::kRead, .cuts = std::move(cuts)});
    return {};
  }
  // Of the next part, each in turn.
  Bytes hear() {
    const std::size_t k = heard_++;
    if (team_ != nullptr) return team_->answer_of(static_cast<int>(k) + 1);
    return told_ ? children_.take(k) : children_.hear(k);
  }
  // When all were heard: asks for their sums.
  void tell(const expert::PassiveEvidence& evidence) {
    if (team_ != nullptr) {
      ask({.kind = Request::Kind::kSums, .evidence = evidence});
    } else {
      heard_ = 0;
      const std::vector<std::byte> bytes = packed(evidence);
      for (std::size_t k = 0; k < parts_; ++k) children_.tell(k, bytes);
    }
    told_ = true;
  }
  ~Others() {
    if (team_ == nullptr) return;
    const auto rest = guarded([&]() -> Bytes {
      while (heard_ < asked_) (void)hear();
      if (!told_) ask({.kind = Request::Kind::kForget});
      while (heard_ < asked_) (void)hear();
      return std::vector<std::byte>();
    });
    if (!rest) team_->abort();  // they would wait for ever
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

 private:
  void ask(const Request& request) {
    const std::vector<std::byte> bytes = packed(request);
    for (heard_ = asked_ = 0; asked_ < parts_; ++asked_) {
      team_->ask(static_cast<int>(asked_) + 1, bytes);
    }
  }
  Team* team_;
  std::size_t parts_, asked_ = 0, heard_ = 0;
  bool told_ = false;
  Children children_;
};

}  // namespace

// (What stays at a limit depends on the order.)
std::string too_much(const expert::PartSums& sums) {
  if (sums.late) return "the whole run decides which of its waits count";
  return sums.severities.limited() != 0 ? "a sum is beyond what a cell holds" : "";
}
std::string too_much(const expert::AnalysisOptions& wanted) {
  if (wanted.root_causes) return "root causes cannot be added up yet (--causes=never leaves them)";
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
  const auto analysis = std::move(analysis_);
  PartSums told{{}, analysis->take_sums(of_run)};
  told.why = too_much(told.sums);
  return packed(std::move(told));
}

void Parts::serve(const expert::AnalysisOptions& wanted) {
  if (!too_much(wanted).empty()) return;
  while (const auto work = team_->next_work()) {
    Request request;
    const bool good = unpack(*work, request);
    const bool sums = request.kind == Request::Kind::kSums;
    if (request.kind == Request::Kind::kForget) {
      analysis_.reset();
      team_->answer(std::vector<std::byte>());
    } else if (!good || (sums ? analysis_ == nullptr : request.cuts != slices_->cuts())) {
      team_->answer(Error{.code = ExitCode::kOutputFailed,
                          .reason = "it sees other traces than the first process",
                          .remedy = "the run's folder must be the same for all processes"});
    } else {
      const auto number = static_cast<std::size_t>(team_->rank() - 1);
      team_->answer(
          guarded([&] { return sums ? told_sums(request.evidence) : told_part(number, wanted); }));
    }
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
    if (!told) return told;
    expert::PassiveEvidence of_run;
    if (!unpack(ask(std::move(told)), of_run)) return cannot_be_read();
    return told_sums(of_run);
  };
  if (Status status = others.start(work, slices_->cuts()); !status) return status.error();
  auto last = part(parts - 1, wanted);
  if (!last) return last.error();
  if (!alone_.empty()) return by_one(alone_);
  events_ = slices_->own_events(parts - 1, trace_->events_read());
  const auto hear = [&](std::size_t k, auto& told) -> Status {
    const Bytes bytes = others.hear();
    if (!bytes) return bytes.error();
    if (unpack(*bytes, told)) return {};
    return Error{
        .code = ExitCode::kOutputFailed,
        .reason = "what the process of part " + std::to_string(k + 1) + " tells cannot be read"};
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
  others.tell(of_run);
  expert::PartSums of_last = (*last)->take_sums(of_run);
  std::optional<expert::PartSums> all;
  for (std::size_t k = 0; k + 1 < parts; ++k) {
    PartSums told{{}, (*last)->no_sums()};
    if (Status status = hear(k, told); !status) return status.error();
    if (!told.why.empty()) return by_one(told.why);
    all ? all->add(told.sums) : void(all.emplace(std::move(told.sums)));
  }
  all->add(of_last);
  if (const std::string why = too_much(*all); !why.empty()) return by_one(why);
  analysis_ = std::move(*last);
  return std::optional<expert::Report>(analysis_->report(std::move(*all)));
}

}  // namespace kojak::parallel
