// Ends of transfers that wait for the record that completes them.
//
// A list holds the ends of one origin location towards one target or all, of one direction and one
// epoch, in program order. The first ones lie in a pool of bounded size; once a list has had its
// share, or the pool is empty, only references are kept: where the next operations of the list
// stand in the input, and how many. Reading the list opens a second cursor on the input there.
// Where many lists of one location overflow at once, so that each cursor would mostly skip the
// others' operations, ends go to the spill file instead. Memory is bounded by the pool plus a
// little for each list, however many operations an epoch has. Owns the pool and the lists; inputs
// and spill file belong to the FileCache. Not thread-safe. Errors: what can no longer be read or
// written ends a list early; error() tells. Source: docs/merge.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "merge/clock/correct_clocks.h"
#include "merge/complete/end_chunks.h"
#include "merge/complete/epochs.h"
#include "merge/define/definitions.h"
#include "merge/input/local_input.h"

namespace kojak::merge {

// Why an end is not where its epoch says; as in RMA_MARK.
enum class Mark : std::uint8_t {
  kNone = 0,
  kTargetExitLost = 1,
  kBothExitsLost = 2,
  kLateStart = 3,
  kNoEpoch = 4,
};

// Where the ends of a list go.
enum class Place : std::uint8_t {
  kTargetFence,     // the target's fence of that ordinal
  kTargetExposure,  // the end of the target's exposure epoch of that ordinal
  kTargetFree,      // the target's freeing of the window
  kOriginFence,
  kOriginComplete,
  kOriginFree,
  kPassive,   // the next record of the origin that completes operations
  kNextExit,  // the next exit record of a location
  kLastExit,  // its last one
  kGrant,     // starts: where their lock is granted
};

struct ListInfo {
  std::uint32_t stream = 0;  // the origin's location, as an index of the inputs
  std::uint32_t origin = 0;  // rank; of mail: any
  std::uint32_t target = 0;  // rank; kAbsent: any
  std::uint32_t window = 0;  // merged
  bool put = false;
  bool at_target = false;  // a put that ends on the location of its target's completing call
  Mark mark = Mark::kNone;
  Place place = Place::kTargetFence;
  std::uint64_t ordinal = 0;  // of the fence or epoch

  bool operator==(const ListInfo&) const = default;
};

inline std::uint32_t origin_of(const ListInfo& info, const HeldEnd& end) {
  return info.put ? end.peer : info.origin;
}

// How the ends of one input are read again.
struct HeldSource {
  const LocalTrace* trace = nullptr;
  const Translation* translation = nullptr;
  LinearClock clock;
  const CorrectedClocks* corrected = nullptr;  // beyond it
  std::size_t index = 0;                       // of the trace, for those
};

class HeldEnds {
  struct Overflow;
  using Chunk = EndChunk;
  static constexpr std::uint32_t kChunkEnds = Chunk::kEnds;
  static constexpr std::uint32_t kRemoved = kAbsent;  // instead of the rmaid

 public:
  // `pool` is the memory for ends, in bytes.
  HeldEnds(FileCache& files, std::vector<HeldSource> sources, std::size_t pool);
  ~HeldEnds();
  HeldEnds(const HeldEnds&) = delete;
  HeldEnds& operator=(const HeldEnds&) = delete;

  ListId open(const ListInfo& info);
  std::uint32_t serial(ListId list) const { return lists_[list].serial; }
  const ListInfo& info(ListId list) const { return lists_[list].info; }
  bool empty(ListId list) const { return lists_[list].size == 0; }
  // Fetches what open() and the first append() will write to.
  void prefetch_next() const {
    if (!free_.empty()) prefetch(free_.back());
    pool_.prefetch_next();
  }
  // Fetches what a Reader of the list needs first, then what it needs next.
  void prefetch(ListId list) const {
    const auto* p = reinterpret_cast<const std::byte*>(&lists_[list]);
    __builtin_prefetch(p);
    __builtin_prefetch(p + 64);
  }
  void prefetch_ends(ListId list) const { __builtin_prefetch(lists_[list].head); }
  // `position`: offset of the operation's record in its input. `consecutive`: the last operation of
  // the same location, window, target (or any) and direction went to this list, too.
  [[gnu::always_inline]] void append(ListId id, const HeldEnd& end, std::uint64_t position,
                                     bool consecutive) {
    List& list = lists_[id];
    ++list.size;
    if (list.tail_used < kChunkEnds) [[likely]] {
      list.tail->ends[list.tail_used++] = end;
      return;
    }
    append_slow(list, end, position, consecutive);
  }
  // Takes one operation out of its list, wherever it stands; nothing if it is not there.
  std::optional<HeldEnd> extract(ListId list, std::uint32_t rmaid);
  void close(ListId list);
  // One end into a mailbox; false if that is full.
  bool post(Mailbox& box, const HeldEnd& end) { return merge::post(pool_, share_, box, end); }
  void collect(Mailbox& box, Mail& mail) { merge::collect(pool_, box, mail); }
  // All lists that are still open, ascending.
  std::vector<ListId> open_lists() const;

  // Reads the ends of a list, first to last. The list must not change meanwhile.
  class Reader {
   public:
    Reader(HeldEnds& held, ListId id);
    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;
    ~Reader();
    // False at the end.
    [[gnu::always_inline]] bool next(HeldEnd& end) {
      while (chunk_ != nullptr) {
        if (at_ == stop_) {
          if (!next_chunk()) break;
          continue;
        }
        end = chunk_->ends[at_++];
        if (end.rmaid != kRemoved) [[likely]]
          return true;
      }
      return overflow_ != nullptr && next_overflow(end);
    }

   private:
    bool next_chunk();
    bool next_overflow(HeldEnd& end);
    HeldEnds* held_;
    const Chunk* chunk_;
    const Chunk* tail_;
    std::uint32_t at_, stop_, tail_used_;
    const ListInfo* info_;
    const Overflow* overflow_;
    std::unique_ptr<class OverflowReader> reader_;
  };

  std::uint64_t reread() const { return reread_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  friend class OverflowReader;
  struct List {
    ListInfo info;
    std::uint32_t serial = 0;
    Chunk* head = nullptr;
    Chunk* tail = nullptr;
    std::uint32_t head_at = 0;             // ends before it in the first chunk are gone
    std::uint32_t tail_used = kChunkEnds;  // kChunkEnds: ask for more
    std::uint64_t size = 0;                // not counting removed ones
    std::uint32_t chunks = 0;
    std::uint32_t removed = 0;  // removed ones still in chunks
    bool is_open = false;
    std::unique_ptr<Overflow> overflow;
  };
  void append_slow(List& list, const HeldEnd& end, std::uint64_t position, bool consecutive);
  bool add_chunk(List& list);
  void append_spilled(Overflow& overflow, const HeldEnd& end);
  void empty(List& list);  // gives back all that it holds
  void compact(List& list);
  std::optional<HeldEnd> extract_overflow(ListId id, std::uint32_t rmaid);
  void fail(const Error& error) {
    if (!error_) error_ = error;
  }

  FileCache& files_;
  std::vector<HeldSource> sources_;
  std::vector<std::uint32_t> references_;  // lists by reference that are open, for each source
  std::vector<List> lists_;
  std::vector<ListId> free_;
  ChunkPool pool_;
  std::uint32_t share_;  // chunks that one list or mailbox may have
  std::uint64_t reread_ = 0;
  std::optional<Error> error_;
};

}  // namespace kojak::merge
