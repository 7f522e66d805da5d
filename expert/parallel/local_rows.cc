#include "expert/parallel/local_rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "epilog/format/service.h"
#include "expert/parallel/archive.h"
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
    merge::Slice::Window told{id, w.standing.fences, w.completions, w.standing.fence_open, {}};
    for (const merge::PeerEpochs& peer : w.peers()) {
      const PeerStanding& p = peer.standing;
      if (p.access != 0 || p.exposure != 0) told.peers.push_back({peer.rank, p.access, p.exposure});
    }
    if (told.fences != 0 || told.completions != 0 || !told.peers.empty()) {
      windows.push_back(std::move(told));
    }
  });
  return windows;
}

}  // namespace

class LocalRows::Watch final : public merge::TraceWatch {
 public:
  Watch(const merge::LocalTrace& trace, std::size_t most_rows, std::size_t most_bytes)
      : kept{.rows = RowTable(most_rows)},
        most_bytes_(most_bytes),
        rank_(trace.rank),
        dialect_(trace.dialect) {
    maker_.emplace(
        trace.rank, trace.run_size, trace.dialect, [this](const Row& row) { add(row); },
        [this](const MeetingKey& key) { return kept.rows.keeps(key); });
  }
  // Of a trace that was read before.
  explicit Watch(TraceRows rows) : kept(std::move(rows)) {}

  TraceRows kept;
  // All is read.
  void finish() {
    if (!maker_) return;
    kept.alone = maker_->why_alone(rank_);
    kept.locks = maker_->locks();
    maker_.reset();
  }

  void take(const RawRecord& record, merge::ProcessEpochs* epochs) override {
    epochs_ = epochs;
    if (is_event(record.type) && record.length >= 12) {
      if (kept.not_added.empty()) [[likely]]
        note_not_added(record.type);
      if (record.type == static_cast<std::uint8_t>(RecordType::kProcessor)) {
        Processor r;
        if (decode(record, dialect_, r) == nullptr) processor_ = r;
      }
    }
    maker_->take(record);
  }
  void over(std::vector<compact::BlockPlace> blocks, std::vector<std::uint32_t> windows) override {
    blocks_ = std::move(blocks);
    windows_ = std::move(windows);
    whole_ = true;
  }

  bool whole() const { return whole_; }
  const std::vector<compact::BlockPlace>& blocks() const { return blocks_; }
  const std::vector<std::uint32_t>& windows() const { return windows_; }
  // Where it stands at rows that are not kept any more.
  void forget() {
    std::map<std::uint64_t, StandingRow> standings;
    bytes_ = 0;
    for (const Row& row : kept.rows.rows()) {
      const auto at = standings.insert(kept.standings.extract(row.ends)).position;
      bytes_ += size_of(at->second);
    }
    kept.standings.swap(standings);
  }

 private:
  void note_not_added(std::uint8_t type) {
    if (const char* const what = parallel::not_added(type)) kept.not_added = what;
  }
  void add(const Row& row) {
    RowTable& rows = kept.rows;
    rows.add(row);
    if (rows.rows().empty() || rows.rows().back().ends != row.ends) return;  // thinned out
    StandingRow standing{row, maker_->around(), {}, processor_};
    if (epochs_ != nullptr) standing.windows = windows_of(*epochs_);
    bytes_ += size_of(standing);
    kept.standings.emplace(row.ends, std::move(standing));
    if (kept.standings.size() > 2 * rows.rows().size() + 64 || bytes_ > most_bytes_) forget();
    while (bytes_ > most_bytes_ && rows.rows().size() > 1) {
      rows.thin(rows.bits() + 1);
      forget();
    }
  }

  std::size_t most_bytes_ = 0, bytes_ = 0;
  std::uint32_t rank_ = 0;
  Dialect dialect_;
  std::optional<RowMaker> maker_;  // while it is read
  merge::ProcessEpochs* epochs_ = nullptr;
  std::optional<Processor> processor_;
  bool whole_ = false;
  std::vector<compact::BlockPlace> blocks_;
  std::vector<std::uint32_t> windows_;
};

LocalRows::LocalRows() = default;
LocalRows::LocalRows(LocalRows&&) noexcept = default;
LocalRows::~LocalRows() = default;

void LocalRows::forget() {
  passes_.reset();
  watches_.clear();
  found_ = {};
}

void SurveyPart::add(const SurveyPart& next) {
  found.insert(found.end(), next.found.begin(), next.found.end());
  rows.insert(rows.end(), next.rows.begin(), next.rows.end());
}

Result<LocalRows> LocalRows::open(const merge::MergeOptions& options, std::size_t most_rows) {
  auto passes = merge::TwoPasses::open(options);
  if (!passes) return passes.error();
  LocalRows rows;
  rows.most_rows_ = most_rows;
  rows.passes_ = std::move(*passes);
  rows.watches_.resize(rows.passes_->traces().size());
  return rows;
}

Result<LocalRows> LocalRows::of(const merge::MergeOptions& options, std::size_t most_rows) {
  auto rows = open(options, most_rows);
  if (!rows) return rows;
  if (Status status = rows->read(); !status) return status.error();
  return rows;
}

merge::Watches LocalRows::watches() {
  return [this](std::size_t number, const merge::LocalTrace& trace) -> merge::TraceWatch* {
    const std::size_t bytes =
        std::max(kStandings / std::max<std::size_t>(trace.run_size, 1), kLeastStandings);
    if (!watches_[number]) watches_[number] = std::make_unique<Watch>(trace, most_rows_, bytes);
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
    const std::unique_ptr<Watch> watch = std::move(watches_[next++]);
    watch->finish();
    watch->forget();
    found(trace);
    rows(watch->kept);
  });
  return {found.take(), rows.take(), {}};
}

Status LocalRows::put_together(SurveyPart all) {
  found_ = std::move(all.found);
  Unpacker found(found_), rows(all.rows);
  for (std::unique_ptr<Watch>& watch : watches_) {
    TraceRows kept;
    rows(kept);
    watch = std::make_unique<Watch>(std::move(kept));
  }
  merge::Surveyed surveyed{[&](std::size_t) {
                             auto trace = std::make_unique<merge::FoundInTrace>();
                             found(*trace);
                             return trace;
                           },
                           std::move(all.names)};
  if (Status status = passes_->finish(watches(), &surveyed); !status) return status;
  if (!found.good() || !rows.good()) {
    return Error{.code = ExitCode::kOutputFailed,
                 .reason = "what another process tells of the local traces cannot be read"};
  }
  finish();
  return {};
}

void LocalRows::finish() {
  for (const auto& watch : watches_) watch->finish();
  alone_ = why_alone();
  unsigned bits = 0;
  for (const auto& watch : watches_) {
    bits = std::max(bits, watch->kept.rows.bits());
    if (not_added_.empty() && !watch->kept.not_added.empty())
      not_added_ = watch->kept.not_added + " cannot be added up yet";
  }
  for (const auto& watch : watches_) watch->kept.rows.thin(bits);
}

SurveyPart LocalRows::chosen(const std::vector<Meeting>& meetings) {
  std::set<MeetingKey> keys;
  for (const Meeting& meeting : meetings) keys.insert(meeting.key);
  Packer rows;
  for (const auto& watch : watches_) {
    watch->kept.rows.keep([&](const MeetingKey& key) { return keys.contains(key); });
    watch->forget();
    rows(watch->kept);
  }
  return {std::exchange(found_, {}), rows.take(), passes_->survey().definitions.code_names.found()};
}

bool LocalRows::together() const {
  return why_alone_by_files().empty() && !passes_->copied();
}

std::vector<merge::TraceRange> LocalRows::shares(std::size_t processes) const {
  std::vector<merge::TraceRange> shares;
  std::uint64_t all = 0, before = 0;
  for (const merge::LocalTrace& trace : passes_->traces()) all += trace.size;
  std::size_t first = 0, end = 0;
  for (std::size_t k = 1; k <= processes; ++k) {
    // Up to the trace whose midst is beyond.
    const double wanted =
        static_cast<double>(all) * static_cast<double>(k) / static_cast<double>(processes);
    for (; end < watches_.size(); ++end) {
      const std::uint64_t size = passes_->traces()[end].size;
      if (k != processes && static_cast<double>(before + size / 2) > wanted) break;
      before += size;
    }
    shares.push_back({std::exchange(first, end), end});
  }
  return shares;
}

std::string LocalRows::why_alone_by_files() const {
  // (Of a process with several threads no trace is followed to its end as that of one is.)
  const std::vector<merge::LocalTrace>& traces = passes_->traces();
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!traces[i].dialect.native()) return "the traces are classic ones";
    if (i != 0 && traces[i].rank == traces[i - 1].rank)
      return "rank " + std::to_string(traces[i].rank) + " has several threads";
  }
  return "";
}

std::string LocalRows::why_alone() const {
  const std::vector<merge::LocalTrace>& traces = passes_->traces();
  if (std::string why = why_alone_by_files(); !why.empty()) return why;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!watches_[i]->kept.alone.empty()) return watches_[i]->kept.alone;
    if (!watches_[i]->whole())
      return "the trace of rank " + std::to_string(traces[i].rank) + " contradicts itself";
  }
  if (traces.size() != traces.front().run_size) return "traces of some processes are missing";
  return "";
}

std::vector<Meeting> LocalRows::meetings(bool held) const {
  MeetingTable table;
  bool locks = !held;
  if (!alone_.empty()) return {};
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    table.add(watches_[i]->kept.rows.rows(), passes_->clocks()[i]);
    locks = locks || watches_[i]->kept.locks;
  }
  return table.finish(locks);
}

std::uint64_t LocalRows::bytes() const {
  std::uint64_t bytes = 0;
  for (const merge::TraceFacts& facts : passes_->survey().traces) bytes += facts.end;
  return bytes;
}

const StandingRow& LocalRows::at(std::size_t trace, std::uint64_t ends) const {
  return watches_[trace]->kept.standings.at(ends);
}

compact::BlockPlace LocalRows::block_before(std::size_t trace, std::uint64_t offset) const {
  if (!passes_->traces()[trace].dialect.compact()) return {offset, offset};
  const std::vector<compact::BlockPlace>& blocks = watches_[trace]->blocks();
  auto at = std::upper_bound(
      blocks.begin(), blocks.end(), offset,
      [](std::uint64_t o, const compact::BlockPlace& block) { return o < block.records; });
  return at == blocks.begin() ? merge::Unpacker::kFirst : *--at;
}

std::uint32_t LocalRows::window(std::size_t trace, std::uint32_t number) const {
  return watches_[trace]->windows()[number];
}

Result<Meetings> find_meetings(const std::string& folder, std::size_t most_rows) {
  merge::MergeOptions options;
  options.inputs = {folder};
  options.output.clear();
  options.format = merge::Format::kCompact;
  auto rows = LocalRows::of(options, most_rows);
  if (!rows) return rows.error();
  Meetings found{rows->alone(), rows->meetings(true), 0};
  for (const merge::TraceFacts& facts : rows->merge().survey().traces) found.events += facts.events;
  return found;
}

}  // namespace kojak::parallel
