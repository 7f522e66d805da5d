#include "expert/parallel/local_rows.h"

#include <algorithm>
#include <map>
#include <utility>

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

class LocalRows::Watch final : public merge::TraceWatch {
 public:
  Watch(const merge::LocalTrace& trace, std::size_t most_rows, std::size_t most_bytes)
      : rows_(most_rows),
        most_bytes_(most_bytes),
        dialect_(trace.dialect),
        maker_(
            trace.rank, trace.run_size, trace.dialect, [this](const Row& row) { add(row); },
            [this](const MeetingKey& key) { return rows_.keeps(key); }) {}

  void take(const RawRecord& record, merge::ProcessEpochs* epochs) override {
    epochs_ = epochs;
    if (is_event(record.type) && record.length >= 12) {
      if (not_added_ == nullptr) not_added_ = parallel::not_added(record.type);
      if (record.type == static_cast<std::uint8_t>(RecordType::kProcessor)) {
        Processor r;
        if (decode(record, dialect_, r) == nullptr) processor_ = r;
      }
    }
    maker_.take(record);
  }
  void over(std::vector<compact::BlockPlace> blocks, std::vector<std::uint32_t> windows) override {
    blocks_ = std::move(blocks);
    windows_ = std::move(windows);
    whole_ = true;
  }

  bool whole() const { return whole_; }
  const char* what_is_not_added() const { return not_added_; }
  RowMaker& maker() { return maker_; }
  RowTable& rows() { return rows_; }
  const std::map<std::uint64_t, StandingRow>& standings() const { return standings_; }
  const std::vector<compact::BlockPlace>& blocks() const { return blocks_; }
  const std::vector<std::uint32_t>& windows() const { return windows_; }

 private:
  void add(const Row& row) {
    rows_.add(row);
    if (rows_.rows().empty() || rows_.rows().back().ends != row.ends) return;  // thinned out
    StandingRow standing{row, maker_.around(), {}, processor_};
    if (epochs_ != nullptr) standing.windows = windows_of(*epochs_);
    bytes_ += size_of(standing);
    standings_.emplace(row.ends, std::move(standing));
    if (standings_.size() > 2 * rows_.rows().size() + 64 || bytes_ > most_bytes_) forget();
    while (bytes_ > most_bytes_ && rows_.rows().size() > 1) {
      rows_.thin(rows_.bits() + 1);
      forget();
    }
  }
  void forget() {
    std::map<std::uint64_t, StandingRow> kept;
    bytes_ = 0;
    for (const Row& row : rows_.rows()) {
      const auto at = kept.insert(standings_.extract(row.ends)).position;
      bytes_ += size_of(at->second);
    }
    standings_.swap(kept);
  }

  RowTable rows_;
  std::size_t most_bytes_, bytes_ = 0;
  Dialect dialect_;
  RowMaker maker_;
  merge::ProcessEpochs* epochs_ = nullptr;
  std::map<std::uint64_t, StandingRow> standings_;  // by Row::ends
  std::optional<Processor> processor_;
  bool whole_ = false;
  const char* not_added_ = nullptr;
  std::vector<compact::BlockPlace> blocks_;
  std::vector<std::uint32_t> windows_;
};

LocalRows::LocalRows() = default;
LocalRows::LocalRows(LocalRows&&) noexcept = default;
LocalRows::~LocalRows() = default;

void LocalRows::forget() {
  passes_.reset();
  watches_.clear();
}

Result<LocalRows> LocalRows::of(const merge::MergeOptions& options, std::size_t most_rows) {
  LocalRows rows;
  auto begun = merge::TwoPasses::begin(
      options, [&](std::size_t number, const merge::LocalTrace& trace) -> merge::TraceWatch* {
        rows.watches_.resize(std::max(rows.watches_.size(), number + 1));
        const std::size_t bytes =
            std::max(kStandings / std::max<std::size_t>(trace.run_size, 1), kLeastStandings);
        rows.watches_[number] = std::make_unique<Watch>(trace, most_rows, bytes);
        return &*rows.watches_[number];
      });
  if (!begun) return begun.error();
  rows.passes_ = std::move(*begun);
  rows.alone_ = rows.why_alone();
  unsigned bits = 0;
  for (const auto& watch : rows.watches_) {
    bits = std::max(bits, watch->rows().bits());
    if (rows.not_added_.empty() && watch->what_is_not_added() != nullptr)
      rows.not_added_ = std::string(watch->what_is_not_added()) + " cannot be added up yet";
  }
  for (const auto& watch : rows.watches_) watch->rows().thin(bits);
  return rows;
}

std::string LocalRows::why_alone() const {
  const std::vector<merge::LocalTrace>& traces = passes_->traces();
  const auto rank = [&](std::size_t i) { return "rank " + std::to_string(traces[i].rank); };
  // (Of a process with several threads no trace is followed to its end as that of one is.)
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!traces[i].dialect.native()) return "the traces are classic ones";
    if (i != 0 && traces[i].rank == traces[i - 1].rank) return rank(i) + " has several threads";
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (std::string why = watches_[i]->maker().why_alone(traces[i].rank); !why.empty()) return why;
    if (!watches_[i]->whole()) return "the trace of " + rank(i) + " contradicts itself";
  }
  if (traces.size() != traces.front().run_size) return "traces of some processes are missing";
  return "";
}

std::vector<Meeting> LocalRows::meetings(bool held) const {
  MeetingTable table;
  bool locks = !held;
  if (!alone_.empty()) return {};
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    table.add(watches_[i]->rows().rows(), passes_->clocks()[i]);
    locks = locks || watches_[i]->maker().locks();
  }
  return table.finish(locks);
}

std::uint64_t LocalRows::bytes() const {
  std::uint64_t bytes = 0;
  for (const merge::TraceFacts& facts : passes_->survey().traces) bytes += facts.end;
  return bytes;
}

const StandingRow& LocalRows::at(std::size_t trace, std::uint64_t ends) const {
  return watches_[trace]->standings().at(ends);
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
