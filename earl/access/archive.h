// A trace opened for random access: any event, its pointer attributes, and the state after it, at a
// cost that does not grow with the trace: of a state it is what the state holds.
//
//   auto archive = earl::Archive::open("a.elg");
//   for (std::uint64_t i = 0; i < archive->size(); ++i) {
//     const Event e = (*archive)[i];
//     if (is_recv(e.type)) use(archive->enterptr(archive->sendptr(i)));
//   }
//
// open() makes one indexing pass, or takes the index from the file beside the trace if asked for.
// The archive owns everything; positions must be below size(). Pointers go to earlier events only,
// kNoEvent is null. const members may be called from several threads at once. open() fails as
// Trace::open() does, and for 2^32 events or more; damage ends the events early (damage()).
// Source: docs/earl.md.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "earl/access/event_cursor.h"
#include "earl/access/event_index.h"
#include "earl/aspects/polls.h"

namespace kojak::earl {

class Archive {
 public:
  struct Options {
    // Use the index kept in <trace>.earl if it is there and fits; else keep it there. Not of pipes.
    bool cache = false;
  };
  static Result<Archive> open(const std::string& path, Options options);
  static Result<Archive> open(const std::string& path) { return open(path, Options()); }
  static Result<Archive> from(std::vector<std::byte> bytes, const std::string& name);

  // Definitions and locations; its events have not been read.
  const Trace& trace() const { return *trace_; }
  const Definitions& definitions() const { return trace_->definitions(); }
  std::uint64_t size() const { return index_.size(); }
  const std::optional<Error>& damage() const { return index_.damage(); }
  // Why the index could not be kept, if that was asked for.
  const std::optional<Error>& cache_error() const { return cache_error_; }
  bool from_cache() const { return from_cache_; }
  const EventIndex& index() const { return index_; }

  // With region and enterptr filled in. A record that is too short or unknown has its type only:
  // its location is absent. metv is empty: values() has what it would point to.
  Event operator[](std::uint64_t pos) const;
  // Values of its counters, in the order of the METRIC definitions.
  std::vector<std::uint64_t> values(std::uint64_t pos) const;

  // ---- pointer attributes; kNoEvent for events that do not have them. By number, or, faster, of
  // an event at hand.
  std::uint64_t enterptr(std::uint64_t pos) const { return index_.enterptr(pos); }
#define KOJAK_EARL_POINTER(name)                 \
  std::uint64_t name(std::uint64_t pos) const {  \
    return name(pos, type(pos));                 \
  }                                              \
  std::uint64_t name(const Event& event) const { \
    return name(event.pos, event.type);          \
  }
  KOJAK_EARL_POINTER(sendptr)     // RECV
  KOJAK_EARL_POINTER(requestptr)  // RECV, SEND_COMPLETE
  KOJAK_EARL_POINTER(startptr)    // PUT_1TE, GET_1TE
  KOJAK_EARL_POINTER(originptr)   // GET_1TS; with lock grants PUT_1TS
  KOJAK_EARL_POINTER(lockptr)     // ALOCK, RLOCK, WLOCK, WUNLOCK
  KOJAK_EARL_POINTER(forkptr)     // JOIN
  KOJAK_EARL_POINTER(placeptr)    // of SHMEM: PUT_1TS, GET_1TO: its SHMEM_PLACE
  KOJAK_EARL_POINTER(writeptr)    // SHMEM_WAIT, MPI_VALUE: the PUT_1TS that ended the waiting
  KOJAK_EARL_POINTER(holderptr)   // MPI_VALUE: that of the swap which had taken the lock
  KOJAK_EARL_POINTER(cnodeptr)    // any event inside a region
#undef KOJAK_EARL_POINTER
  // The MPI_POLLED of the call that the event lies in, if it stands before the event.
  std::uint64_t pollptr(std::uint64_t pos) const;
  // What a MPI_POLLED and its members tell; nothing of another event.
  std::optional<PolledSeries> series(std::uint64_t polled) const;
  // The call path of an event; absent outside any region.
  CallPathId call_path(std::uint64_t pos) const {
    return call_path(pos, type(pos));
  }
  CallPathId call_path(const Event& event) const {
    return call_path(event.pos, event.type);
  }
  const CallTree& call_tree() const {
    return index_.call_tree();
  }

  // ---- states
  // After the event `pos`; kNoEvent: before the first one. It answers; no event can be applied.
  std::unique_ptr<sequence::State> state(std::uint64_t pos) const;
  // After the last event at or before this time: what every process was doing then.
  std::unique_ptr<sequence::State> state_at(Seconds time) const {
    return state(last_at(time));
  }
  // The region stack of one location, by its dense number.
  std::vector<sequence::OpenRegion> stack(std::uint64_t pos, std::uint32_t location) const;
  // Aspects of the state after the event `pos`, each alone, into a new object.
  void restore(std::uint64_t pos, sequence::RegionStacks& to) const;
  void restore(std::uint64_t pos, sequence::CallPaths& to) const;
  void restore(std::uint64_t pos, sequence::MessageQueues& to) const;
  void restore(std::uint64_t pos, sequence::TransferQueues& to) const;
  void restore(std::uint64_t pos, sequence::OriginQueues& to) const;
  void restore(std::uint64_t pos, sequence::CollectiveInstances<sequence::MpiExit>& to) const;
  void restore(std::uint64_t pos, sequence::CollectiveInstances<sequence::WindowExit>& to) const;
  void restore(std::uint64_t pos, sequence::CollectiveInstances<sequence::ShmemExit>& to) const;
  void restore(std::uint64_t pos, sequence::CollectiveInstances<sequence::OmpExit>& to) const;
  void restore(std::uint64_t pos, sequence::Epochs& to) const;
  void restore(std::uint64_t pos, sequence::WindowLocks& to) const;
  void restore(std::uint64_t pos, sequence::ThreadLocks& to) const;
  void restore(std::uint64_t pos, sequence::ShmemWaits& to) const;
  void restore(std::uint64_t pos, sequence::SymmetricMemory& to) const;
  void restore(std::uint64_t pos, sequence::ThreadTeams& to) const;
  void restore(std::uint64_t pos, sequence::PollSeries& to) const;
  void restore(std::uint64_t pos, sequence::WindowValues& to) const;

  // ---- time
  // The first event at or after this time; size() if there is none.
  std::uint64_t first_at(Seconds time) const;
  // The last event at or before this time; kNoEvent if there is none.
  std::uint64_t last_at(Seconds time) const;
  // f(const Event&) for the events [begin, end), with region and enterptr.
  template <class F>
  void for_each(std::uint64_t begin, std::uint64_t end, F&& f) const;

 private:
  Archive(std::unique_ptr<MappedFile> file, std::unique_ptr<RecordBlocks> records,
          std::unique_ptr<Trace> trace, EventIndex index)
      : file_(std::move(file)),
        records_(std::move(records)),
        trace_(std::move(trace)),
        index_(std::move(index)) {}
  static Result<Archive> make(MappedFile file, const std::string& name, const std::string& cache);
  // Applies what was there before the event, and the event, to the aspect.
  template <class Aspect>
  void apply_what_is_there(const IntervalColumn& column, std::uint64_t pos, Aspect& to) const;
  EventCursor cursor(std::uint64_t pos) const;
  EventType type(std::uint64_t pos) const;
  std::uint64_t link_if(bool has, std::uint64_t pos) const {
    return has ? index_.link(pos) : kNoEvent;
  }
  std::uint64_t sendptr(std::uint64_t pos, EventType t) const {
    return link_if(is_recv(t), pos);
  }
  std::uint64_t requestptr(std::uint64_t pos, EventType t) const {
    if (is_recv(t)) return index_.posted(pos);
    return link_if(t == EventType::kMpiSendComplete, pos);
  }
  std::uint64_t startptr(std::uint64_t pos, EventType t) const {
    return link_if(is_rma_end(t), pos);
  }
  std::uint64_t originptr(std::uint64_t pos, EventType t) const {
    return link_if(is_rma_start(t) && t != EventType::kPut1ts, pos);
  }
  std::uint64_t lockptr(std::uint64_t pos, EventType t) const {
    return link_if(is_rma_sync(t) || is_sync(t), pos);
  }
  std::uint64_t forkptr(std::uint64_t pos, EventType t) const {
    return link_if(is_join(t), pos);
  }
  std::uint64_t placeptr(std::uint64_t pos, EventType t) const {
    return link_if(t == EventType::kPut1ts || is_get_origin(t), pos);
  }
  std::uint64_t writeptr(std::uint64_t pos, EventType t) const {
    return link_if(t == EventType::kShmemWait || t == EventType::kMpiValue, pos);
  }
  std::uint64_t holderptr(std::uint64_t pos, EventType t) const {
    return t == EventType::kMpiValue ? index_.posted(pos) : kNoEvent;
  }
  CallPathId call_path(std::uint64_t pos, EventType t) const {
    const std::uint64_t enter = is_enter(t) ? pos : index_.enterptr(pos);
    if (enter == kNoEvent) return absent<CallPathId>();
    return static_cast<CallPathId>(index_.raw_link(enter));
  }
  std::uint64_t cnodeptr(std::uint64_t pos, EventType t) const {
    const CallPathId path = call_path(pos, t);
    return is_absent(path) ? kNoEvent : call_tree()[path].first_enter;
  }
  void fill_in(Event& event) const;

  std::unique_ptr<MappedFile> file_;
  std::unique_ptr<RecordBlocks> records_;
  std::unique_ptr<Trace> trace_;
  EventIndex index_;
  std::optional<Error> cache_error_;
  bool from_cache_ = false;
};

template <class F>
void Archive::for_each(std::uint64_t begin, std::uint64_t end, F&& f) const {
  if (begin >= end || begin >= size()) return;
  EventCursor at = cursor(begin);
  Event event;
  for (; begin < end && begin < size(); ++begin) {
    if (at.step(event) == EventCursor::Step::kEvent) fill_in(event);
    f(static_cast<const Event&>(event));
  }
}

}  // namespace kojak::earl
