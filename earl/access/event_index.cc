#include "earl/access/event_index.h"

#include <algorithm>

#include "earl/access/event_cursor.h"

namespace kojak::earl {
namespace {

std::uint32_t narrow(std::uint64_t pos) {
  return pos == kNoEvent ? EventIndex::kNull : static_cast<std::uint32_t>(pos);
}

// Room that is left over because the trace did not say how many events it has, or not rightly.
template <class T>
void shrink(std::vector<T>& list) {
  if (list.capacity() > list.size() + list.size() / 64) list.shrink_to_fit();
}

// What ends the events before the end of the file.
Error damage_at(const Trace& trace, const MappedFile& file, std::uint64_t offset) {
  if (file.damage()) return *file.damage();
  return Error{ExitCode::kBadInput, trace.path(), trace.place(offset), "", "",
               kEndsInsideRecord,   kCutOffRemedy};
}

// A file that ends with a whole record, but not where it should.
std::optional<Error> wrong_end(const Trace& trace, const EventCursor& cursor) {
  Error error{ExitCode::kBadInput, trace.path(), trace.place(cursor.offset()), "", "", "",
              kCutOffRemedy};
  if (const auto announced = trace.declared_events()) {
    error.reason = wrong_number_of_events(cursor.pos(), *announced);
  }
  if (error.reason.empty() && cursor.late_definition()) {
    error.offset = trace.place(*cursor.late_definition());
    error.reason = kDefinitionsBehind;
  }
  if (error.reason.empty()) return std::nullopt;
  return error;
}

}  // namespace

Result<EventIndex> EventIndex::build(const Trace& trace, const MappedFile& file,
                                     const RecordBlocks& records) {
  EventIndex index(trace);
  if (const auto declared = trace.declared_events()) {
    // The file cannot hold more events than it has bytes for.
    const std::size_t least = trace.dialect().compact() ? 1 : 14;
    const std::uint64_t expected = std::min<std::uint64_t>(*declared, file.bytes().size() / least);
    index.enter_.reserve(expected);
    index.link_.reserve(expected);
    index.blocks_.reserve(expected / kBlock + 1);
  }
  sequence::State state(trace);
  state.record(index.columns_);
  EventCursor cursor(trace, records, trace.offset(), 0);
  Event event;
  while (true) {
    const std::uint64_t offset = cursor.offset();
    const EventCursor::Step step = cursor.step(event);
    if (step == EventCursor::Step::kDamaged) index.damage_ = damage_at(trace, file, offset);
    if (step == EventCursor::Step::kEnd) {
      index.damage_ = records.damage(trace.path());
      if (file.damage()) index.damage_ = file.damage();
      if (!index.damage_) index.damage_ = wrong_end(trace, cursor);
    }
    if (step == EventCursor::Step::kEnd || step == EventCursor::Step::kDamaged) break;
    if (event.pos >= kNull) {
      return Error{ExitCode::kBadInput,
                   trace.path(),
                   offset,
                   "",
                   "",
                   "random access holds 4294967294 events at most",
                   "stream this trace instead"};
    }
    if (event.pos % kBlock == 0) index.blocks_.push_back(offset);
    if (step == EventCursor::Step::kUndecoded) {
      index.enter_.push_back(kNull);
      index.link_.push_back(kNull);
      continue;
    }
    state.apply(event);
    index.add(event, state);
  }
  shrink(index.enter_);
  shrink(index.link_);
  shrink(index.blocks_);
  shrink(index.posted_);
  shrink(index.late_);
  state.end_record(index.size());
  index.depart(state.messages.feed(), kNoEvent);
  StateColumns::each(index.columns_, [](auto& column) { column.finish(); });
  const CallTree& tree = state.paths.tree();
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const CallPath& path = tree[static_cast<CallPathId>(i)];
    index.paths_.push_back(
        {raw(path.parent), raw(path.region), raw(path.csite), narrow(path.first_enter)});
  }
  index.rebuild_tree();
  return index;
}

void EventIndex::rebuild_tree() {
  for (const Path& p : paths_) {
    tree_.add(static_cast<CallPathId>(p.parent), static_cast<RegionId>(p.region),
              static_cast<CallSiteId>(p.csite), p.first_enter);
  }
}

void EventIndex::add(const Event& e, const sequence::State& state) {
  std::uint64_t link = kNoEvent;
  if (e.type == EventType::kExit) [[likely]] {
    // it has its ENTER
  } else if (is_enter(e.type)) {
    link = raw(state.paths.current());
  } else if (is_rma_end(e.type)) {
    link = state.transfers.startptr();
  } else if (e.type == EventType::kPut1ts || is_get_origin(e.type)) {
    link = state.symmetric.placeptr();
  } else if (e.type == EventType::kShmemWait) {
    link = state.symmetric.writeptr();
  } else if (is_rma_start(e.type)) {
    link = state.origins.originptr();
  } else if (is_rma_sync(e.type)) {
    link = state.window_locks.lockptr();
  } else if (is_sync(e.type)) {
    link = state.thread_locks.lockptr();
  } else if (is_join(e.type)) {
    link = state.teams.forkptr();
  } else if (e.type == EventType::kMpiValue) {
    link = state.values.writeptr();
  } else if (e.type == EventType::kMpiSendComplete) {
    link = state.messages.feed().requestptr();
  }
  enter_.push_back(narrow(e.enterptr));
  link_.push_back(narrow(link));
  const MessageFeed& feed = state.messages.feed();
  if (is_recv(e.type) && feed.requestptr() != kNoEvent) {
    posted_.push_back({narrow(e.pos), narrow(feed.requestptr())});
  }
  if (e.type == EventType::kMpiValue && state.values.holderptr() != kNoEvent) {
    posted_.push_back({narrow(e.pos), narrow(state.values.holderptr())});
  }
  if (!feed.departed().empty()) depart(feed, e.pos);
}

// Messages that left their queues with the event `pos`; kNoEvent: after the last one.
void EventIndex::depart(const MessageFeed& feed, std::uint64_t pos) {
  for (const MessageQueue::Departure& d : feed.departed()) {
    link_[d.send] = narrow(pos);
    if (d.recv == kNoEvent) continue;
    link_[d.recv] = narrow(d.send);
    if (d.recv != pos && pos != kNoEvent) late_.push_back({narrow(pos), narrow(d.recv)});
  }
}

std::uint64_t EventIndex::posted(std::uint64_t recv) const {
  const auto it = std::lower_bound(posted_.begin(), posted_.end(), recv,
                                   [](const Posted& p, std::uint64_t r) { return p.recv < r; });
  return it != posted_.end() && it->recv == recv ? pointer(it->posted) : kNoEvent;
}

std::uint64_t EventIndex::visits(CallPathId path, std::uint32_t location, std::uint64_t pos) const {
  VisitMarks::Visits result = columns_.visits[location].before(pos, raw(path));
  // The ENTER counts for its path and those entered with it, on the way from the open region.
  const auto add = [&](const IntervalColumn::Row& row) {
    if (row.begin < result.from) return;
    const std::uint64_t caller = enterptr(row.begin);
    const auto open =
        caller == kNoEvent ? absent<CallPathId>() : static_cast<CallPathId>(link_[caller]);
    auto at = static_cast<CallPathId>(link_[row.begin]);
    while (at != open && at != path) at = tree_[at].parent;
    result.count += at != open ? 1 : 0;
  };
  columns_.calls[location].ending(result.from, pos, add);
  columns_.calls[location].at(pos, add);
  return result.count;
}

std::size_t EventIndex::memory() const {
  std::size_t columns = 0;
  StateColumns::each(columns_, [&](const auto& column) { columns += column.memory(); });
  return columns + blocks_.capacity() * sizeof(std::uint64_t) +
         (enter_.capacity() + link_.capacity()) * sizeof(std::uint32_t) +
         posted_.capacity() * sizeof(Posted) + late_.capacity() * sizeof late_[0] +
         paths_.capacity() * sizeof(Path);
}

}  // namespace kojak::earl
