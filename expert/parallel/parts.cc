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

constexpr const char* kLate = "the whole run decides which of its waits count";

}  // namespace

std::string too_much(const expert::AnalysisOptions& wanted) {
  if (wanted.root_causes) return "root causes cannot be added up yet (--causes=never leaves them)";
  if (wanted.page != nullptr) return "a page cannot be drawn in parts yet (--html)";
  if (wanted.waits != nullptr) return "lists of waits cannot be joined yet";
  return "";
}

Result<bool> Parts::cut(const Options& options) {
  file_ = options.file;
  if (options.merge != nullptr) {
    auto slices = LocalSlices::of(*options.merge);
    if (!slices) return slices.error();
    local_ = &**slices;
    slices_ = std::move(*slices);
  } else {
    auto slices = slices_of_trace(options.file);
    if (!slices) return slices.error();
    slices_ = std::move(*slices);
  }
  alone_ = slices_->alone();
  if (alone_.empty()) {
    alone_ =
        options.at.empty() ? slices_->cut_evenly(options.processes) : slices_->cut_at(options.at);
  }
  if (!alone_.empty()) return false;
  const std::size_t parts = slices_->size();
  if (options.at.empty() && parts < options.processes && options.note) {
    options.note(std::to_string(parts) + " parts, the longest has " +
                 std::to_string(slices_->percent_of_longest()) +
                 " % of the trace: " + std::to_string(parts) + " of " +
                 std::to_string(options.processes) + " processes analyse");
  }
  return true;
}

Result<std::unique_ptr<expert::PartAnalysis>> Parts::part(std::size_t number,
                                                          const expert::AnalysisOptions& wanted) {
  auto records = slices_->records(number, gate_);
  if (!records) return records.error();
  auto trace = earl::Trace::from(std::move(*records), file_);
  if (!trace) return trace.error();
  trace_.emplace(std::move(*trace));
  const expert::TracePart part{&*trace_, slices_->standing(number), &gate_};
  auto analysis =
      std::make_unique<expert::PartAnalysis>(part, wanted, number + 1 == slices_->size());
  alone_ = analysis->why();
  auto read = slices_->finish();
  if (!read) return read.error();
  if (alone_.empty()) alone_ = std::move(*read);
  return analysis;
}

Result<std::optional<expert::Report>> Parts::analyse(const expert::AnalysisOptions& wanted) {
  const auto by_one = [&](const std::string& why) {
    alone_ = why;
    if (wanted.send_modes != nullptr) *wanted.send_modes = wanted.send_modes->fresh();
    return std::optional<expert::Report>();
  };
  const std::size_t parts = slices_->size();
  expert::AnalysisOptions quietly = wanted;
  quietly.progress = nullptr;
  Children children;
  const auto work = [&](std::size_t k) -> Result<std::vector<std::byte>> {
    auto analysis = part(k, quietly);
    if (!analysis) return analysis.error();
    FromChild told{alone_, slices_->own_events(k, trace_->events_read()), (*analysis)->take_sums()};
    if (told.why.empty() && told.sums.late) told.why = kLate;
    Packer packer;
    packer(told);
    return packer.bytes();
  };
  if (Status status = children.start(parts - 1, work); !status) return status.error();
  auto last = part(parts - 1, wanted);
  if (!last) return last.error();
  if (!alone_.empty()) return by_one(alone_);
  expert::PartSums of_last = (*last)->take_sums();
  events_ = slices_->own_events(parts - 1, trace_->events_read());
  std::optional<expert::PartSums> all;
  for (std::size_t k = 0; k + 1 < parts; ++k) {
    auto bytes = children.take(k);
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
  if (all->late) return by_one(kLate);
  analysis_ = std::move(*last);
  return std::optional<expert::Report>(analysis_->report(std::move(*all)));
}

}  // namespace kojak::parallel
