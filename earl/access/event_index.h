// What random access needs to know of a trace: where its events stand, their pointers, and
// bookmarks of the state. Built in one pass; save() and load() keep it beside the trace.
//
// Numbers of events are kept in 32 bits: traces of 2^32 events and more can be streamed only.
// Memory: 8.5 bytes an event, 8 more for each receive with a request, 8 more for each whose message
// was known only later, and 2 an event at most for the bookmarks: a bookmark is kept only where all
// of them fit into that, so where much is open they are farther apart. Such a receive has a SEND
// and a posted request beside it, so that is 16 bytes an event at most, and the call tree. Owns all
// it holds; any thread may read. Source: docs/earl.md.
#pragma once

#include <optional>
#include <vector>

#include "earl/access/mapped_file.h"
#include "earl/sequence/state.h"

namespace kojak::earl {

class EventIndex {
 public:
  static constexpr std::uint32_t kNull = 0xFFFFFFFFu;  // of a pointer
  static constexpr std::uint64_t kBlock = 16;          // events between two known offsets

  // From the events that begin at the trace's offset(). Damage ends the index, not the building.
  // Bookmarks are at least `distance` events apart, farther where a state takes many bytes.
  static constexpr std::uint64_t kDistance = 8192;
  static Result<EventIndex> build(const Trace& trace, const MappedFile& file,
                                  std::uint64_t distance = kDistance);

  std::uint64_t size() const { return enter_.size(); }
  // Also of a file cut between two records, which lacks events that its definitions announce.
  const std::optional<Error>& damage() const { return damage_; }
  // Offset of the first record of event `pos` - pos % kBlock.
  std::uint64_t block_offset(std::uint64_t pos) const { return blocks_[pos / kBlock]; }
  std::uint64_t enterptr(std::uint64_t pos) const { return pointer(enter_[pos]); }
  // What this is depends on the event: an ENTER's call path; of RECV the SEND, of a transfer's end
  // or GET_1TS the start or origin, of a lock or unlock the lock chain, of JOIN the FORK, of
  // SEND_COMPLETE the SEND, of a SEND the later event with which its message left the queue.
  std::uint64_t link(std::uint64_t pos) const { return pointer(link_[pos]); }
  std::uint32_t raw_link(std::uint64_t pos) const { return link_[pos]; }
  // Of a RECV with a request: the event that posted it.
  std::uint64_t posted(std::uint64_t recv) const;
  const CallTree& call_tree() const { return tree_; }
  sequence::MessageColumns messages() const { return {link_, late_}; }

  // The state before some event that is no later than `pos`: its number, and the state as bytes
  // (empty: nothing has happened yet).
  struct Bookmark {
    std::uint64_t pos = 0;
    std::span<const std::byte> state;
  };
  Bookmark bookmark(std::uint64_t pos) const;
  std::size_t bookmarks() const { return marks_.size(); }
  // Bytes that all this takes.
  std::size_t memory() const;

  // Both know by the size and time of change of `file` whether the saved index is that of the
  // trace; load() gives nothing if it is not, or damaged.
  Status save(const std::string& path, const MappedFile& file) const;
  static std::optional<EventIndex> load(const std::string& path, const MappedFile& file,
                                        const std::string& trace_name);

 private:
  static std::uint64_t pointer(std::uint32_t p) { return p == kNull ? kNoEvent : p; }
  void add(const Event& event, const sequence::State& state);
  void depart(const MessageFeed& feed, std::uint64_t pos);
  void rebuild_tree();

  struct Mark {
    std::uint64_t pos, begin;  // in blobs_
  };
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
  std::vector<Mark> marks_;  // ascending
  std::vector<std::byte> blobs_;
  std::vector<Path> paths_;
  CallTree tree_;
  std::optional<Error> damage_;
};

}  // namespace kojak::earl
