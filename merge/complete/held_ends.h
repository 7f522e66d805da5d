// Ends of transfers that wait for the record that completes them.
//
// A list holds the ends of one origin location towards one target or all, of one direction and one
// epoch, in program order. The first ones lie in a pool of bounded size; once a list has used its
// share, or the pool is empty, later ends go to the spill file, in blocks of which the last is in
// memory. Memory is bounded by the pool plus one block for each list, however many operations
// an epoch has. Owns the pool and the lists; the spill file belongs to the FileCache. Errors: what
// cannot be written or read again ends a list early; error() tells. Source: docs/merge.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "merge/complete/end_chunks.h"
#include "merge/complete/epochs.h"
#include "merge/input/file_cache.h"

namespace kojak::merge {

// Why an end does not stand where its epoch ends; as in RMA_MARK.
enum class Mark : std::uint8_t {
  kNone = 0,
  kTargetExitLost = 1,
  kBothExitsLost = 2,
  kLateStart = 3,
  kNoEpoch = 4,
};

// Where the ends of a list go.
enum class EndPlace : std::uint8_t {
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
  EndPlace place = EndPlace::kTargetFence;
  std::uint64_t ordinal = 0;  // of the fence or epoch

  bool operator==(const ListInfo&) const = default;
};

inline std::uint32_t origin_of(const ListInfo& info, const HeldEnd& end) {
  return info.put ? end.peer : info.origin;
}

class HeldEnds {
  using Chunk = EndChunk;
  static constexpr std::uint32_t kChunkEnds = Chunk::kEnds;
  static constexpr std::uint32_t kRemoved = kAbsent;  // instead of the rmaid

 public:
  // `pool` is the memory for ends, in bytes.
  HeldEnds(FileCache& files, std::size_t pool);
  HeldEnds(const HeldEnds&) = delete;
  HeldEnds& operator=(const HeldEnds&) = delete;

  ListId open(const ListInfo& info);
  std::uint32_t serial(ListId list) const { return lists_[list].serial; }
  const ListInfo& info(ListId list) const { return lists_[list].info; }
  bool empty(ListId list) const { return lists_[list].size == 0; }
  // Fetches what open() and the first append() will write to.
  [[gnu::always_inline]] void prefetch_next() const {
    if (!free_.empty()) prefetch(free_.back());
    pool_.prefetch_next();
  }
  // Fetches what a Reader of the list needs first, then what it needs next.
  [[gnu::always_inline]] void prefetch(ListId list) const {
    const auto* p = reinterpret_cast<const std::byte*>(&lists_[list]);
    __builtin_prefetch(p);
    __builtin_prefetch(p + 64);
  }
  [[gnu::always_inline]] void prefetch_ends(ListId list) const {
    __builtin_prefetch(lists_[list].head);
  }
  [[gnu::always_inline]] void prefetch_tail(ListId list) const {
    const List& l = lists_[list];
    if (l.tail != nullptr && l.tail_used < kChunkEnds) {
      __builtin_prefetch(l.tail->ends + l.tail_used, 1);
    }
  }
  [[gnu::always_inline]] void append(ListId id, const HeldEnd& end) {
    List& list = lists_[id];
    ++list.size;
    if (list.tail_used < kChunkEnds) [[likely]] {
      list.tail->ends[list.tail_used++] = end;
      return;
    }
    append_slow(list, end);
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
      return spilled_ != nullptr && next_spilled(end);
    }

   private:
    bool next_chunk();
    bool next_spilled(HeldEnd& end);
    const Chunk* chunk_;
    const Chunk* tail_;
    std::uint32_t at_, stop_, tail_used_;
    std::unique_ptr<class SpilledReader> spilled_;
  };

  // Ends that did not fit into memory, each time one was read.
  std::uint64_t reread() const { return reread_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  friend class SpilledReader;
  // A part of a list in the spill file.
  struct SpillBlock {
    static constexpr std::uint32_t kEnds = 85;  // 2 KB: each spilled list holds one
    std::uint64_t next;                         // where the next one is
    HeldEnd ends[kEnds];
  };
  // The part of a list that is not in chunks: a chain of blocks, of which the last is here.
  struct Spilled {
    SpillBlock last;
    std::uint64_t first_place = 0, last_place = 0;  // in the spill file
    std::uint64_t blocks = 1;
    std::uint32_t used = 0;   // of the last block
    std::uint32_t taken = 0;  // ends before it in the first block are gone
    // Taken out behind those: first number to last number. Few, because requests complete about in
    // order.
    std::map<std::uint32_t, std::uint32_t> removed;

    bool is_removed(std::uint32_t rmaid) const {
      if (removed.empty()) return false;
      const auto it = removed.upper_bound(rmaid);
      return it != removed.begin() && rmaid <= std::prev(it)->second;
    }
    void remove(std::uint32_t rmaid);
  };
  // Blocks of the spill file that are free again.
  struct FreeBlocks {
    std::uint64_t first, count;
  };
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
    std::unique_ptr<Spilled> spilled;  // what follows the chunks
  };
  void append_slow(List& list, const HeldEnd& end);
  bool add_chunk(List& list);
  void spill(Spilled& spilled, const HeldEnd& end);
  std::uint64_t take_block();
  void empty(List& list);  // gives back all that it holds
  void compact(List& list);
  std::optional<HeldEnd> extract_spilled(List& list, std::uint32_t rmaid);
  void fail(const Error& error) {
    if (!error_) error_ = error;
  }

  FileCache& files_;
  std::vector<List> lists_;
  std::vector<ListId> free_;
  std::vector<FreeBlocks> free_blocks_;
  ChunkPool pool_;
  std::uint32_t share_;  // chunks that one list or mailbox may have
  std::uint64_t reread_ = 0;
  std::optional<Error> error_;
};

}  // namespace kojak::merge
