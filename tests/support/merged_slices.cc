#include "tests/support/merged_slices.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "epilog/format/field_values.h"
#include "expert/parallel/not_added.h"

namespace kojak::test {
using namespace parallel;  // NOLINT: this is one more kind of its slices
namespace {

// Rows of all locations together that are kept.
constexpr std::size_t kRowsOfAll = std::size_t{1} << 20;

// What is told of one location beside its row.
class Counts {
 public:
  // `role`: of the region that is innermost.
  void take(const RawRecord& record, const Dialect& dialect, MpiRole role) {
    if (Processor r; decode_as(record, dialect, r)) {
      processor_ = {
          r.time, {raw(r.ran), raw(r.wanted), raw(r.preempted), blocked_kind(raw(r.blocked_kind))}};
    }
    if (MpiWinLockAll r; decode_as(record, dialect, r)) held_.insert(r.wid);
    if (MpiWinUnlockAll r; decode_as(record, dialect, r)) held_.erase(r.wid);
    MpiWinCollExit r;
    if (!decode_as(record, dialect, r)) return;
    if (role == MpiRole::kWinFence) ++fences_[r.wid];
    if (role == MpiRole::kWinFree) {
      fences_.erase(r.wid);
      held_.erase(r.wid);
    }
  }
  void tell(earl::Standing::Location& l) const {
    l.processor = processor_;
    for (const auto& [window, fences] : fences_) l.fenced.push_back({window, fences});
    l.held.assign(held_.begin(), held_.end());
  }

 private:
  template <class R>
  static bool decode_as(const RawRecord& record, const Dialect& dialect, R& r) {
    return record.type == static_cast<std::uint8_t>(R::kType) &&
           decode(record, dialect, r) == nullptr;
  }
  std::map<WindowId, std::uint64_t> fences_;  // left so far
  std::set<WindowId> held_;                   // locks of all
  std::optional<earl::Standing::Processor> processor_;
};

void append(std::vector<std::byte>& to, const RawRecord& record) {
  to.insert(to.end(), record.body - 2, record.body + record.length);
}

// How many events there are is not told.
template <class R>
void append(std::vector<std::byte>& to, const R& record, const Dialect& dialect) {
  std::byte bytes[kMaxRecord];
  to.insert(to.end(), bytes, bytes + encode(record, dialect, bytes));
}

// Of the transfer whose start or end a record is: its origin and number.
using Transfer = std::pair<std::uint32_t, std::uint32_t>;
struct Ends {
  std::optional<Transfer> begins, ends;
};
template <class R, class Id>
std::optional<Transfer> transfer_in(const RawRecord& record, const Dialect& dialect,
                                    Id R::*origin) {
  R r;
  if (decode(record, dialect, r) != nullptr) return std::nullopt;
  return Transfer{raw(r.*origin), raw(r.rmaid)};
}
Ends transfer_of(const RawRecord& record, const Dialect& dialect) {
  Ends ends;
  dispatch_record(record.type, [&]<class R>() {
    if constexpr (std::is_same_v<R, MpiPut1ts> || std::is_same_v<R, MpiGet1to> ||
                  std::is_same_v<R, MpiPut1to>) {
      ends.begins = transfer_in(record, dialect, &R::lid);
    } else if constexpr (std::is_same_v<R, MpiPut1te>) {
      ends.ends = transfer_in(record, dialect, &R::slid);
    } else if constexpr (std::is_same_v<R, RmaMark>) {
      ends.ends = transfer_in(record, dialect, &R::olid);
    } else if constexpr (std::is_same_v<R, MpiGet1ts>) {
      ends.ends = transfer_in(record, dialect, &R::dlid);
    } else if constexpr (std::is_same_v<R, MpiGet1te>) {
      ends.ends = transfer_in(record, dialect, &R::lid);
    }
  });
  return ends;
}

std::uint32_t location_of(const RawRecord& record, bool swapped) {
  std::uint32_t lid = kAbsent;
  if (record.length >= 4) std::memcpy(&lid, record.body, 4);
  return swapped ? byte_swapped(lid) : lid;
}

// What is kept of one location.
struct Place {
  explicit Place(std::size_t most) : rows(most) {}
  RowTable rows;
  std::unique_ptr<RowMaker> maker;
  Counts counts;
  std::map<std::uint64_t, earl::Standing::Location> standings;  // by Row::ends

  void add(const Row& row) {
    rows.add(row);
    if (rows.rows().empty() || rows.rows().back().ends != row.ends) return;  // it was thinned out
    earl::Standing::Location standing;
    const Definitions& definitions = maker->definitions();
    for (const RowMaker::Around& around : maker->around()) {
      const CallSiteDef* const site =
          around.call_site ? definitions.call_sites.find(CallSiteId{around.id}) : nullptr;
      const RegionId region = site != nullptr    ? site->entered
                              : around.call_site ? absent<RegionId>()
                                                 : RegionId{around.id};
      standing.open.push_back(
          {region, around.call_site ? CallSiteId{around.id} : absent<CallSiteId>(), {around.time}});
    }
    standing.received = maker->received();
    standing.goes_on_with = earl::ticks_between(row.enter, row.exit);
    counts.tell(standing);
    standings.emplace(row.ends, std::move(standing));
    if (standings.size() <= 2 * rows.rows().size() + 64) return;
    std::map<std::uint64_t, earl::Standing::Location> kept;
    for (const Row& r : rows.rows()) kept.insert(standings.extract(r.ends));
    standings.swap(kept);
  }
};

// Slices of one file.
class TraceSlices final : public Slices {
 public:
  static Result<std::unique_ptr<Slices>> of(const std::string& file);
  const earl::Standing* standing(std::size_t number) override {
    return number == 0 ? nullptr : &standings_[cuts_[number - 1]];
  }
  Result<std::unique_ptr<ByteSource>> records(std::size_t number, expert::Gate& gate) override;
  std::uint64_t own_events(std::size_t number, std::uint64_t) const override {
    const Meeting *const begin = begin_of(number), *const end = end_of(number);
    return (end == nullptr ? length_ : end->events) - (begin == nullptr ? 0 : begin->events);
  }

 private:
  friend class SliceSource;
  static constexpr std::uint64_t kMarkEvery = 4096;
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t index_of(std::uint32_t location) const;

  std::string file_;
  std::vector<earl::Standing> standings_;  // at the meetings that are at rest
  std::vector<LocationId> locations_;
  std::vector<std::uint64_t> marks_;  // where every kMarkEvery-th event begins
};

}  // namespace

Result<std::unique_ptr<Slices>> slices_of_trace(const std::string& file) {
  return TraceSlices::of(file);
}

Result<std::unique_ptr<Slices>> TraceSlices::of(const std::string& file) {
  auto made = std::make_unique<TraceSlices>();
  TraceSlices& slices = *made;
  slices.file_ = file;
  auto reader = TraceReader::open(file);
  if (!reader) return reader.error();
  if (!reader->seekable()) {
    slices.alone_ = "the trace cannot be read from its midst";
    return std::unique_ptr<Slices>(std::move(made));
  }
  Definitions definitions;
  std::vector<std::vector<std::byte>> held, defined;  // attributes before an event; definitions
  std::map<std::uint32_t, Place> places;
  std::uint64_t pos = 0;
  RawRecord record;
  TraceReader::Next next{};
  const auto raw_of = [](const std::vector<std::byte>& bytes, std::uint64_t offset) {
    return RawRecord{static_cast<std::uint8_t>(bytes[1]), static_cast<std::uint8_t>(bytes[0]),
                     bytes.data() + 2, offset};
  };
  const auto begin_events = [&] {
    definitions.finish();
    if (const char* const why = parallel::why_alone(definitions, reader->dialect()))
      slices.alone_ = why;
    definitions.locations.for_each(
        [&](LocationId id, const LocationDef&) { slices.locations_.push_back(id); });
    const std::size_t most =
        std::clamp(kRowsOfAll / std::max<std::size_t>(slices.locations_.size(), 1), std::size_t{64},
                   RowTable::kMost);
    for (const LocationId id : slices.locations_) {
      Place& place = places.try_emplace(raw(id), most).first->second;
      place.maker = std::make_unique<RowMaker>(
          raw(id), static_cast<std::uint32_t>(slices.locations_.size()), reader->dialect(),
          [&place](const Row& row) { place.add(row); });
      for (const auto& bytes : defined) place.maker->take(raw_of(bytes, 0));
    }
  };
  while ((next = reader->next(record)) == TraceReader::Next::kRecord) {
    if (is_definition(record.type)) {
      (void)definitions.add(record, reader->dialect());
      defined.emplace_back(record.body - 2, record.body + record.length);
      if (definitions.last_def && places.empty()) begin_events();
      if (!slices.alone_.empty()) return std::unique_ptr<Slices>(std::move(made));
      continue;
    }
    if (held.empty() && pos % kMarkEvery == 0) slices.marks_.push_back(record.offset);
    if (is_attribute(record.type)) {
      held.emplace_back(record.body - 2, record.body + record.length);
      continue;
    }
    if (const char* const what = not_added(record.type)) {
      slices.alone_ = std::string(what) + " cannot be added up yet";
      return std::unique_ptr<Slices>(std::move(made));
    }
    const auto at = places.find(location_of(record, reader->dialect().swapped()));
    if (at != places.end()) {
      Place& place = at->second;
      for (const auto& bytes : held) place.maker->take(raw_of(bytes, pos));
      record.offset = pos;
      const MpiRole role = place.maker->role();
      place.maker->take(record);  // the row of a fence tells of those before it
      place.counts.take(record, reader->dialect(), role);
    }
    held.clear();
    ++pos;
  }
  slices.length_ = pos;
  if (next == TraceReader::Next::kDamaged) slices.alone_ = "the trace is damaged";
  unsigned bits = 0;
  bool locks = false;
  for (const auto& [id, place] : places) {
    bits = std::max(bits, place.rows.bits());
    locks = locks || place.maker->locks();
    if (const std::string why = place.maker->why_alone(id); !why.empty()) slices.alone_ = why;
  }
  MeetingTable table;
  for (auto& [id, place] : places) {
    place.rows.thin(bits);
    table.add(place.rows.rows(), [](double time) { return time; });
  }
  slices.meetings_ = table.finish(locks);
  double began = std::numeric_limits<double>::infinity();
  for (const auto& [id, place] : places) began = std::min(began, place.maker->began());
  for (Meeting& meeting : slices.meetings_) {
    meeting.done = meeting.events;
    earl::Standing& standing = slices.standings_.emplace_back();
    standing.run_began = Seconds{began};
    if (!meeting.at_rest()) continue;
    std::size_t i = 0;
    for (auto& [id, place] : places) {
      standing.locations.push_back(std::move(place.standings[meeting.ends[i++]]));
    }
  }
  return std::unique_ptr<Slices>(std::move(made));
}

namespace {

// The records of a slice, with the definitions before them. Opens and shuts the gate on the way.
class SliceSource final : public ByteSource {
 public:
  SliceSource(TraceReader reader, const TraceSlices& slices, std::size_t number, expert::Gate& gate)
      : reader_(std::move(reader)),
        slices_(slices),
        left_(slices.begin_of(number)),
        right_(slices.end_of(number)),
        gate_(gate) {
    gate_.locations = std::vector<expert::Gate::Location>(slices.locations_.size());
    if (left_ != nullptr) {
      for (expert::Gate::Location& l : gate_.locations) l.first = expert::Gate::kEnd;
    }
    bytes_.resize(kHeaderSize);
    Dialect written = reader_.dialect();
    written.major = 2;
    encode_header(written, bytes_.data());
  }

  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    if (at_ == bytes_.size() && !fill()) return error_.empty() ? 0 : -1;
    const std::size_t size = std::min(n, bytes_.size() - at_);
    std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
    return static_cast<std::ptrdiff_t>(size);
  }
  bool seekable() const override { return false; }
  bool seek(std::uint64_t) override { return false; }
  std::string error() const override { return error_; }

 private:
  static constexpr std::size_t kEnough = 64 * 1024;

  // False: there is nothing more.
  bool fill() {
    if (at_ != 0) bytes_.clear();
    at_ = 0;
    RawRecord record;
    while (bytes_.size() < kEnough && !over_) {
      const TraceReader::Next next = reader_.next(record);
      if (next != TraceReader::Next::kRecord) {
        if (next == TraceReader::Next::kDamaged) error_ = reader_.error().reason;
        over_ = true;
      } else if (is_definition(record.type)) {
        define(record);
      } else if (is_attribute(record.type)) {
        append(held_, record);
      } else {
        event(record);
        held_.clear();
        ++pos_;
      }
    }
    return !bytes_.empty();
  }
  void define(const RawRecord& record) {
    if (record.type == static_cast<std::uint8_t>(RecordType::kNumEvents)) {
      append(bytes_, NumEvents{Count{kAbsent}}, reader_.dialect());
    } else if (record.type != static_cast<std::uint8_t>(RecordType::kEventCount64)) {
      append(bytes_, record);
    }
    if (record.type != static_cast<std::uint8_t>(RecordType::kLastDef) || left_ == nullptr) return;
    const std::uint64_t first = *std::min_element(left_->begins.begin(), left_->begins.end());
    pos_ = first - first % TraceSlices::kMarkEvery;
    if (!reader_.seek(slices_.marks_[first / TraceSlices::kMarkEvery])) {
      error_ = "cannot be read from its midst";
      over_ = true;
    }
  }
  void event(const RawRecord& record) {
    const Dialect& dialect = reader_.dialect();
    const std::size_t i = slices_.index_of(location_of(record, dialect.swapped()));
    if (i == TraceSlices::kNowhere) return take(record);
    if (left_ != nullptr && pos_ < left_->begins[i]) return;
    if (right_ != nullptr && (pos_ > right_->ends[i] || !next_.empty())) {
      // A transfer that its origin has begun behind the meeting is the next slice's, also where its
      // target has not come so far.
      const Ends ends = transfer_of(record, dialect);
      const bool behind = pos_ > right_->ends[i];
      if (behind && ends.begins) next_.insert(*ends.begins);
      if (behind || (ends.ends && next_.contains(*ends.ends))) return;
    }
    if (left_ != nullptr && met_ < gate_.locations.size()) {
      // What was begun before, the meeting ends: that is the other slice's.
      const Ends ends = transfer_of(record, dialect);
      if (ends.begins) begun_.insert(*ends.begins);
      if (ends.ends && !begun_.contains(*ends.ends)) return;
    }
    if (left_ != nullptr && pos_ == left_->ends[i]) {
      gate_.locations[i].first = written_ + 1;
      if (++met_ == gate_.locations.size()) begun_.clear();
    }
    if (right_ != nullptr && pos_ == right_->ends[i]) {
      gate_.locations[i].last = written_;
      over_ = ++left_behind_ == gate_.locations.size();
    }
    take(record);
  }
  void take(const RawRecord& record) {
    bytes_.insert(bytes_.end(), held_.begin(), held_.end());
    append(bytes_, record);
    ++written_;
  }

  TraceReader reader_;
  const TraceSlices& slices_;
  const Meeting *const left_, *const right_;
  expert::Gate& gate_;
  std::vector<std::byte> bytes_, held_;
  std::size_t at_ = 0;
  std::set<Transfer> begun_, next_;
  std::uint64_t pos_ = 0, written_ = 0;
  std::size_t met_ = 0, left_behind_ = 0;  // locations that have left the one, and the other
  bool over_ = false;
  std::string error_;
};

}  // namespace

std::size_t TraceSlices::index_of(std::uint32_t location) const {
  const LocationId id{location};
  if (location < locations_.size() && locations_[location] == id) return location;
  const auto place = std::lower_bound(locations_.begin(), locations_.end(), id);
  if (place == locations_.end() || *place != id) return kNowhere;
  return static_cast<std::size_t>(place - locations_.begin());
}

Result<std::unique_ptr<ByteSource>> TraceSlices::records(std::size_t number, expert::Gate& gate) {
  auto reader = TraceReader::open(file_);
  if (!reader) return reader.error();
  return std::unique_ptr<ByteSource>(
      std::make_unique<SliceSource>(std::move(*reader), *this, number, gate));
}

}  // namespace kojak::test
