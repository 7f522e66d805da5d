#include "expert/parallel/parts.h"

#include <utility>
#include <vector>

#include "expert/parallel/archive.h"
#include "expert/parallel/children.h"

namespace kojak::parallel {
namespace {

// What a child tells.
struct FromChild {
  std::string why;  // not empty: one process has to do it
  std::uint64_t events = 0;
  expert::PartSums sums;
  template <class Archive>
  void visit(Archive& archive) {
    archive(why, events);
    if (why.empty()) archive(sums);
  }
};

// The others of a team, each of which has been asked for a part; the rest of what they tell is
// received before this goes, since they wait until it is.
class Asked {
 public:
  Asked(Team& team, std::vector<std::size_t> cuts)
      : team_(team), last_(static_cast<int>(cuts.size())) {
    Packer packer;
    packer(cuts);
    for (int rank = 1; rank <= last_; ++rank) team_.ask(rank, packer.bytes());
  }
  ~Asked() {
    // (Without memory for that, the end of the team ends them.)
    (void)guarded([&]() -> Bytes {
      while (taken_ < last_) (void)take();
      return std::vector<std::byte>();
    });
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  // Of the next part.
  Bytes take() { return team_.answer_of(++taken_); }

 private:
  Team& team_;
  int last_, taken_ = 0;
};

}  // namespace

// (What stays at a limit depends on the order.)
std::string too_much(const expert::PartSums& sums) {
  if (sums.late) return "the whole run decides which of its waits count";
  return sums.severities.limited() != 0 ? "a sum is beyond what a cell holds" : "";
}
std::string too_much(const expert::AnalysisOptions& wanted) {
  if (wanted.root_causes) return "root causes cannot be added up yet (--causes=never leaves them)";
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
  FromChild told{alone_, slices_->own_events(number, trace_->events_read()),
                 (*analysis)->take_sums()};
  if (told.why.empty()) told.why = too_much(told.sums);
  Packer packer;
  packer(told);
  return packer.take();
}

void Parts::serve(const expert::AnalysisOptions& wanted) {
  if (!too_much(wanted).empty()) return;
  while (const auto work = team_->next_work()) {
    std::vector<std::size_t> cuts;
    Unpacker unpacker(*work);
    unpacker(cuts);
    if (!unpacker.good() || cuts != slices_->cuts()) {
      team_->answer(Error{.code = ExitCode::kOutputFailed,
                          .reason = "it sees other traces than the first process",
                          .remedy = "the run's folder must be the same for all processes"});
    } else {
      const auto number = static_cast<std::size_t>(team_->rank() - 1);
      team_->answer(guarded([&] { return told_part(number, wanted); }));
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
  Children children;
  if (team_ == nullptr) {
    const auto work = [&](std::size_t k) { return told_part(k, wanted); };
    if (Status status = children.start(parts - 1, work); !status) return status.error();
  }
  std::optional<Asked> asked;
  if (team_ != nullptr) asked.emplace(*team_, slices_->cuts());
  const auto take = [&](std::size_t k) { return asked ? asked->take() : children.take(k); };
  auto last = part(parts - 1, wanted);
  if (!last) return last.error();
  if (!alone_.empty()) return by_one(alone_);
  expert::PartSums of_last = (*last)->take_sums();
  events_ = slices_->own_events(parts - 1, trace_->events_read());
  std::optional<expert::PartSums> all;
  for (std::size_t k = 0; k + 1 < parts; ++k) {
    auto bytes = take(k);
    if (!bytes) return bytes.error();
    FromChild told{{}, 0, (*last)->no_sums()};
    Unpacker unpacker(*bytes);
    unpacker(told);
    if (!unpacker.good()) {
      return Error{
          .code = ExitCode::kOutputFailed,
          .reason = "what the process of part " + std::to_string(k + 1) + " tells cannot be read"};
    }
    if (!told.why.empty()) return by_one(told.why);
    events_ += told.events;
    all ? all->add(told.sums) : void(all.emplace(std::move(told.sums)));
  }
  all->add(of_last);
  if (const std::string why = too_much(*all); !why.empty()) return by_one(why);
  analysis_ = std::move(*last);
  return std::optional<expert::Report>(analysis_->report(std::move(*all)));
}

}  // namespace kojak::parallel
