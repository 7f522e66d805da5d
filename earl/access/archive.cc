#include "earl/access/archive.h"

#include <cmath>
#include <limits>

namespace kojak::earl {

Result<Archive> Archive::open(const std::string& path, Options options) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  const bool named = file->changed() != 0;  // no pipe, whose next contents are others
  return make(std::move(*file), path, options.cache && named ? path + ".earl" : "");
}

Result<Archive> Archive::from(std::vector<std::byte> bytes, const std::string& name) {
  return make(MappedFile::from(std::move(bytes)), name, "");
}

Result<Archive> Archive::make(MappedFile file, const std::string& name, const std::string& cache) {
  auto trace = Trace::from(memory_source(file.bytes().data(), file.bytes().size()), name);
  if (!trace) return file.damage() ? *file.damage() : trace.error();
  auto owned = std::make_unique<Trace>(std::move(*trace));
  auto kept = std::make_unique<MappedFile>(std::move(file));
  auto records = std::make_unique<RecordBlocks>(*kept, owned->dialect());
  if (!cache.empty()) {
    if (auto index = EventIndex::load(cache, *kept, *owned, *records)) {
      Archive result(std::move(kept), std::move(records), std::move(owned), std::move(*index));
      result.from_cache_ = true;
      return result;
    }
  }
  auto index = EventIndex::build(*owned, *kept, *records);
  if (!index) return index.error();
  Archive result(std::move(kept), std::move(records), std::move(owned), std::move(*index));
  if (!cache.empty()) {
    if (const Status saved = result.index_.save(cache, *result.file_, *result.records_); !saved) {
      result.cache_error_ = saved.error();
    }
  }
  return result;
}

EventCursor Archive::cursor(std::uint64_t pos) const {
  EventCursor at(*trace_, *records_, index_.block_offset(pos), pos - pos % EventIndex::kBlock);
  at.skip(pos % EventIndex::kBlock);
  return at;
}

EventType Archive::type(std::uint64_t pos) const {
  return cursor(pos).peek();
}

void Archive::fill_in(Event& e) const {
  e.enterptr = index_.enterptr(e.pos);
  if (is_enter(e.type) || e.enterptr == kNoEvent) return;
  e.reg = call_tree()[static_cast<CallPathId>(index_.raw_link(e.enterptr))].region;
}

Event Archive::operator[](std::uint64_t pos) const {
  Event event;
  if (cursor(pos).step(event) == EventCursor::Step::kEvent) {
    fill_in(event);
  } else {
    event.loc = absent<LocationId>();
  }
  event.metv = {};  // what was decoded goes with the cursor
  return event;
}

std::vector<std::uint64_t> Archive::values(std::uint64_t pos) const {
  EventCursor at = cursor(pos);
  Event event;
  std::vector<std::uint64_t> result;
  if (at.step(event) != EventCursor::Step::kEvent) return result;
  for (std::uint32_t i = 0; i < event.metv.size(); ++i) result.push_back(event.metv[i]);
  return result;
}

std::uint64_t Archive::pollptr(std::uint64_t pos) const {
  const std::uint64_t enter = is_enter(type(pos)) ? kNoEvent : index_.enterptr(pos);
  std::uint64_t polled = kNoEvent;
  if (enter == kNoEvent) return polled;
  index_.columns().polls.at(enter, [&](const IntervalColumn::Row& row) {
    if (row.begin == enter) polled = sequence::PollSeries::polling_of(row).polled;
  });
  return polled < pos ? polled : kNoEvent;
}

std::optional<PolledSeries> Archive::series(std::uint64_t polled) const {
  EventCursor at = cursor(polled);
  PolledSeries series;
  RawRecord record = at.peek_record();
  if (record.type != static_cast<std::uint8_t>(RecordType::kMpiPolled) ||
      decode(record, trace_->dialect(), series.polled) != nullptr) {
    return std::nullopt;
  }
  // Its members follow, among events of other locations at the same time.
  while (!series.whole() && at.skip(1)) {
    record = at.peek_record();
    MpiPoll member;
    if (record.body == nullptr ||
        event_time(record, trace_->dialect().swapped()) > series.polled.time)
      break;
    if (record.type == static_cast<std::uint8_t>(RecordType::kMpiPoll) &&
        decode(record, trace_->dialect(), member) == nullptr && member.lid == series.polled.lid) {
      series.members.push_back(member);
    }
  }
  return series;
}

std::uint64_t Archive::first_at(Seconds time) const {
  std::uint64_t low = 0, high = size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    Event event;
    cursor(middle).step(event);
    if (event.time < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint64_t Archive::last_at(Seconds time) const {
  const std::uint64_t after =
      first_at({std::nextafter(time.value, std::numeric_limits<double>::infinity())});
  return after == 0 ? kNoEvent : after - 1;
}

}  // namespace kojak::earl
