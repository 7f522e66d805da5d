// What random access needs to know of a trace: where its events stand, their pointers, and what was
// there from which event to which. Built in one pass; save() and load() keep it beside the trace.
//
// Numbers of events are kept in 32 bits: traces of 2^32 events and more can be streamed only.
// Memory: 8.5 bytes an event, 8 more for each receive with a request, 8 more for each whose message
// was known only later, and some bytes for each interval: 3 to 5 for a call, message, transfer or
// lock, 10 for an epoch and 5 to 8 for each operation in it. A receive has a SEND and a posted
// request beside it, a transfer four events, so that is 16 bytes an event at most, and the call
// tree. Owns all it holds; any thread may read. Source: docs/earl.md.
#pragma once

#include <optional>
#include <vector>

#include "earl/access/record_blocks.h"
#include "earl/index/state.h"

namespace kojak::earl {

class EventIndex {
 public:
  static constexpr std::uint32_t kNull = 0xFFFFFFFFu;  // of a pointer
  static constexpr std::uint64_t kBlock = 16;          // events between two known offsets

  // From the events that begin at the trace's offset(). Damage ends the index, not the building.
  static Result<EventIndex> build(const Trace& trace, const MappedFile& file,
                                  const RecordBlocks& records);

  std::uint64_t size() const { return enter_.size(); }
  // A file cut between two records is damaged, too: it lacks events that are announced.
  const std::optional<Error>& damage() const { return damage_; }
  // Offset of the first record of event `pos` - pos % kBlock.
  std::uint64_t block_offset(std::uint64_t pos) const { return blocks_[pos / kBlock]; }
  std::uint64_t enterptr(std::uint64_t pos) const { return pointer(enter_[pos]); }
  // What this is depends on the event: an ENTER's call path; of RECV the SEND, of a transfer's end
  // or GET_1TS the start or origin, of a lock or unlock the lock chain, of JOIN the FORK, of
  // SEND_COMPLETE the SEND, of MPI_VALUE the operation that changed it, of a SEND the later event
  // with which its message left the queue.
  std::uint64_t link(std::uint64_t pos) const { return pointer(link_[pos]); }
  std::uint32_t raw_link(std::uint64_t pos) const { return link_[pos]; }
  // The event that posted the receive of a RECV with a request; of MPI_VALUE the swap that had
  // taken the lock.
  std::uint64_t posted(std::uint64_t recv) const;
  const CallTree& call_tree() const { return tree_; }
  sequence::MessageColumns messages() const { return {link_, late_}; }

  const StateColumns& columns() const { return columns_; }
  // How often the location with this dense number had entered the call path up to event `pos`.
  std::uint64_t visits(CallPathId path, std::uint32_t location, std::uint64_t pos) const;
  // Bytes that all this takes.
  std::size_t memory() const;

  // Both know by the size and time of change of `file` whether the saved index is that of the
  // trace; load() gives nothing if it is not, or damaged.
  Status save(const std::string& path, const MappedFile& file, const RecordBlocks& records) const;
  static std::optional<EventIndex> load(const std::string& path, const MappedFile& file,
                                        const Trace& trace, RecordBlocks& records);

 private:
  explicit EventIndex(const Trace& trace) : columns_(trace.location_count()) {}
  static std::uint64_t pointer(std::uint32_t p) { return p == kNull ? kNoEvent : p; }
  void add(const Event& event, const sequence::State& state);
  void depart(const MessageFeed& feed, std::uint64_t pos);
  void rebuild_tree();

  struct Posted {
    std::uint32_t recv, posted;
  };
  struct Path {  // a CallPath without gaps, for the file
    std::uint32_t parent, region, csite, first_enter;
  };
  std::vector<std::uint64_t> blocks_;
  std::vector<std::uint32_t> enter_, link_;
  std::vector<Posted> posted_;  // by RECV
  std::vector<sequence::MessageColumns::Late> late_;
  StateColumns columns_;
  std::vector<Path> paths_;
  CallTree tree_;
  std::optional<Error> damage_;
};

}  // namespace kojak::earl
