#include "expert/parallel/local_rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "epilog/format/archive.h"
#include "epilog/format/service.h"
#include "expert/parallel/not_added.h"

namespace kojak::parallel {
namespace {

// Memory for where the processes stand at their rows, of all together.
constexpr std::size_t kStandings = std::size_t{256} << 20;
constexpr std::size_t kLeastStandings = 64 * 1024;  // of each

std::size_t size_of(const StandingRow& row) {
  std::size_t size = sizeof row + row.open.size() * sizeof row.open[0];
  for (const merge::Slice::Window& window : row.windows) {
    size += sizeof window + window.peers.size() * sizeof window.peers[0];
  }
  return size;
}

// Where a process stands on its windows.
std::vector<merge::Slice::Window> windows_of(merge::ProcessEpochs& epochs) {
  std::vector<merge::Slice::Window> windows;
  epochs.each_window([&](std::uint32_t id, merge::WindowEpochs& w) {
    if (w.freed) return;
    const WindowStanding& at = w.standing;
    merge::Slice::Window told{id, at.fences, w.completions, at.fence_open, at.all, {}};
    for (const merge::PeerEpochs& peer : w.peers()) {
      const PeerStanding& p = peer.standing;
      if (p.access != 0 || p.exposure != 0) told.peers.push_back({peer.rank, p.access, p.exposure});
    }
    if (told.fences != 0 || told.completions != 0 || told.all != 0 || !told.peers.empty()) {
      windows.push_back(std::move(told));
    }
  });
  return windows;
}

}  // namespace

// Fills what is kept of a trace while that is read.
class LocalRows::Watch final : public merge::TraceWatch {
 public:
  Watch(const merge::LocalTrace& trace, TraceRows& kept, std::size_t most_bytes)
      : kept_(kept),
        most_bytes_(most_bytes),
        rank_(trace.rank),
        dialect_(trace.dialect),
        maker_(
            trace.rank, trace.run_size, trace.dialect, [this](const Row& row) { add(row); },
            [this](const MeetingKey& key) { return kept_.rows.keeps(key); }) {}
  ~Watch() override {
    kept_.alone = maker_.why_alone(rank_);
    kept_.locks = maker_.locks();
    kept_.began = maker_.began();
  }

  void take(const RawRecord& record, merge::ProcessEpochs* epochs) override {
    epochs_ = epochs;
    if (is_event(record.type) && record.length >= 12) {
      if (kept_.not_added.empty()) note_not_added(record.type);
      if (record.type == static_cast<std::uint8_t>(RecordType::kProcessor)) {
        Processor r;
        if (decode(record, dialect_, r) == nullptr) processor_ = r;
      }
    }
    maker_.take(record);
  }

 private:
  void note_not_added(std::uint8_t type) {
    if (const char* const what = parallel::not_added(type)) kept_.not_added = what;
  }
  void add(const Row& row) {
    RowTable& rows = kept_.rows;
    rows.add(row);
    if (rows.rows().empty() || rows.rows().back().ends != row.ends) return;  // thinned out
    StandingRow standing{row, maker_.around(), {}, processor_, maker_.received()};
    if (epochs_ != nullptr) standing.windows = windows_of(*epochs_);
    bytes_ += size_of(standing);
    kept_.standings.emplace(row.ends, std::move(standing));
    if (kept_.standings.size() > 2 * rows.rows().size() + 64 || bytes_ > most_bytes_) forget();
    while (bytes_ > most_bytes_ && rows.rows().size() > 1) {
      rows.thin(rows.bits() + 1);
      forget();
    }
  }
  void forget() {
    kept_.forget();
    bytes_ = 0;
    for (const auto& [ends, standing] : kept_.standings) bytes_ += size_of(standing);
  }

  TraceRows& kept_;
  std::size_t most_bytes_, bytes_ = 0;
  std::uint32_t rank_;
  Dialect dialect_;
  RowMaker maker_;
  merge::ProcessEpochs* epochs_ = nullptr;
  std::optional<Processor> processor_;
};

void TraceRows::forget() {
  std::map<std::uint64_t, StandingRow> kept;
  for (const Row& row : rows.rows()) kept.insert(standings.extract(row.ends));
  standings.swap(kept);
}

LocalRows::LocalRows() = default;
LocalRows::LocalRows(LocalRows&&) noexcept = default;
LocalRows::~LocalRows() = default;

void LocalRows::forget() {
  passes_.reset();
  kept_.clear();
  found_ = {};
}

Result<LocalRows> LocalRows::open(const merge::MergeOptions& options, std::size_t most_rows) {
  auto passes = merge::TwoPasses::open(options);
  if (!passes) return passes.error();
  LocalRows rows;
  rows.passes_ = std::move(*passes);
  rows.kept_.resize(rows.passes_->traces().size(), {.rows = RowTable(most_rows)});
  return rows;
}

Result<LocalRows> LocalRows::of(const merge::MergeOptions& options, std::size_t most_rows) {
  auto rows = open(options, most_rows);
  if (!rows) return rows;
  if (Status status = rows->read(); !status) return status.error();
  return rows;
}

merge::Watches LocalRows::watches() {
  watches_.resize(kept_.size());
  return [this](std::size_t number, const merge::LocalTrace& trace) -> merge::TraceWatch* {
    const std::size_t bytes =
        std::max(kStandings / std::max<std::size_t>(trace.run_size, 1), kLeastStandings);
    watches_[number] = std::make_unique<Watch>(trace, kept_[number], bytes);
    return &*watches_[number];
  };
}

Status LocalRows::read() {
  Status status = passes_->finish(watches());
  if (status) finish();
  return status;
}

SurveyPart LocalRows::survey(merge::TraceRange range) {
  Packer found, rows;
  std::size_t next = range.first;
  passes_->survey(range, watches(), [&](merge::FoundInTrace& trace) {
    watches_[next].reset();
    found(trace);
    kept_[next].forget();
    rows(kept_[next]);
    kept_[next++] = TraceRows();
  });
  return {found.take(), rows.take(), {}};
}

Status LocalRows::put_together(SurveyPart all, bool told_on) {
  found_ = std::move(all.found);
  Unpacker found(found_), rows(all.rows);
  for (TraceRows& kept : kept_) rows(kept);
  merge::Surveyed surveyed{.names = std::move(all.names)};
  surveyed.trace = [&](std::size_t) {
    auto trace = std::make_unique<merge::FoundInTrace>();
    found(*trace);
    return trace;
  };
  Status status = passes_->finish(watches(), &surveyed);
  if (!status) return status;
  if (!found.good() || !rows.good()) return cannot_be_read();
  if (!told_on) found_ = {};
  finish();
  return status;
}

void LocalRows::finish() {
  watches_.clear();
  alone_ = why_alone();
  unsigned bits = 0;
  for (const TraceRows& kept : kept_) {
    bits = std::max(bits, kept.rows.bits());
    if (not_added_.empty() && !kept.not_added.empty())
      not_added_ = kept.not_added + " cannot be added up yet";
  }
  for (TraceRows& kept : kept_) kept.rows.thin(bits);
}

SurveyPart LocalRows::chosen(const std::vector<Meeting>& meetings) {
  std::set<MeetingKey> keys;
  for (const Meeting& meeting : meetings) keys.insert(meeting.key);
  Packer rows;
  for (TraceRows& kept : kept_) {
    kept.rows.keep([&](const MeetingKey& key) { return keys.contains(key); });
    kept.forget();
    rows(kept);
  }
  return {std::exchange(found_, {}), rows.take(), passes_->survey().definitions.code_names.found()};
}

std::string LocalRows::why_alone_by_files() const {
  // (Of a process with several threads no trace is followed to its end as that of one is.)
  const std::vector<merge::LocalTrace>& traces = passes_->traces();
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!traces[i].dialect.native()) return "the traces are classic ones";
    if (!merge::first_of_process(traces, i))
      return "rank " + std::to_string(traces[i].rank) + " has several threads";
  }
  return "";
}

std::string LocalRows::why_alone() const {
  const std::vector<merge::LocalTrace>& traces = passes_->traces();
  if (std::string why = why_alone_by_files(); !why.empty()) return why;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!kept_[i].alone.empty()) return kept_[i].alone;
    if (!passes_->survey().traces[i].whole)
      return "the trace of rank " + std::to_string(traces[i].rank) + " contradicts itself";
  }
  if (traces.size() != traces.front().run_size) return "traces of some processes are missing";
  return "";
}

std::vector<Meeting> LocalRows::meetings(bool held) const {
  MeetingTable table;
  bool locks = !held;
  if (!alone_.empty()) return {};
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    table.add(kept_[i].rows.rows(), passes_->clocks()[i]);
    locks = locks || kept_[i].locks;
  }
  return table.finish(locks);
}

std::uint64_t LocalRows::bytes() const {
  std::uint64_t bytes = 0;
  for (const merge::TraceFacts& facts : passes_->survey().traces) bytes += facts.end;
  return bytes;
}

double LocalRows::began() const {
  double began = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kept_.size(); ++i)
    began = std::min(began, passes_->clocks()[i](kept_[i].began));
  return began;
}

const StandingRow& LocalRows::at(std::size_t trace, std::uint64_t ends) const {
  return kept_[trace].standings.at(ends);
}

compact::BlockPlace LocalRows::block_before(std::size_t trace, std::uint64_t offset) const {
  if (!passes_->traces()[trace].dialect.compact()) return {offset, offset};
  const std::vector<compact::BlockPlace>& blocks = passes_->survey().traces[trace].blocks;
  auto at = std::upper_bound(
      blocks.begin(), blocks.end(), offset,
      [](std::uint64_t o, const compact::BlockPlace& block) { return o < block.records; });
  return at == blocks.begin() ? merge::Unpacker::kFirst : *--at;
}

std::uint32_t LocalRows::window(std::size_t trace, std::uint32_t number) const {
  return passes_->survey().traces[trace].windows[number];
}

Error cannot_be_read() {
  return {.code = ExitCode::kOutputFailed,
          .reason = "what another process tells of the local traces cannot be read"};
}

}  // namespace kojak::parallel
