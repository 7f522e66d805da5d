// Where each process stands on each window, and which epoch an operation belongs to.
//
// Both passes drive the same state with the same records, so they agree on every ordinal. Pass 1
// surveys: it also notes which completing exits were recorded at all, and which passive operations
// never find a completing record. Pass 2 starts again with only that knowledge. Ordinals
// come from the latest native state record plus what follows it. Epochs, locks and ordinals belong
// to the process, whichever of its threads makes the calls. Owns all its state: memory grows with
// processes, windows and the peers they really use. Nothing fails; records that contradict the
// state are taken as they come. Source: docs/merge.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "epilog/format/record/records.h"
#include "epilog/model/ordinals.h"
#include "epilog/model/window_standing.h"
#include "merge/complete/end_chunks.h"

namespace kojak::merge {

// Lists of held ends (held_ends.h), by number.
using ListId = std::uint32_t;
inline constexpr ListId kNoList = 0xFFFFFFFFu;

// A context of SHMEM is followed like a window whose members are all locked for good, and quiet
// like a flush of all. Its number stands above those of windows. Where a process has several
// threads, what one of them issues while another is in a quiet belongs to the next one: there the
// count moves where a quiet begins, and a quiet completes what was issued under that count or a
// lower one.
inline constexpr std::uint32_t kFirstContext = 0x80000000u;
constexpr bool is_context(std::uint32_t window) {
  return window >= kFirstContext && window != kAbsent;
}
// A quiet completes whatever there is: a process with one thread issues nothing meanwhile.
inline constexpr std::uint64_t kAllIssued = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t context_window(std::uint32_t context) {
  const std::uint32_t window = kFirstContext | context;
  return window != kAbsent ? window : kAbsent - 1;
}

// The epoch of one operation.
struct OpEpoch {
  EpochKind kind = EpochKind::kFence;
  bool named = true;          // false: no open epoch names the target; it falls to the fence epoch
  std::uint64_t ordinal = 0;  // fence: of the closing fence; access: of the epoch; passive: how
                              // many completing records the window had seen
  bool passive() const { return kind == EpochKind::kLock || kind == EpochKind::kLockAll; }
};

// The list that the last operation of one location and direction went to, so that the next one of
// the same epoch needs no decision. Stale when the list's serial or the window's epoch_version has
// moved on.
struct ListMemo {
  ListId list = kNoList;
  std::uint32_t serial = 0;
  std::uint32_t stream = kAbsent;
  bool alone = false;  // decide about each operation
  std::uint64_t epoch_version = 0;
};

// Passive operations of the counts from[direction] to `to` were completed while recording was off.
struct LostOperations {
  std::uint64_t from[2] = {1, 1};
  std::uint64_t to = 0;
  bool none() const { return to + 1 <= (from[0] < from[1] ? from[0] : from[1]); }
  bool contains(bool get, std::uint64_t count) const { return count >= from[get] && count <= to; }
};

// What a process knows of one peer on one window.
struct alignas(64) PeerEpochs {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  PeerEpochs(std::uint32_t peer, std::uint64_t completions) : rank(peer), born(completions) {}
  // What each operation asks for, in one cache line.
  std::uint32_t rank;
  ListMemo memo[2];             // pass 2: puts, gets; not of gets in fence epochs
  PeerEpochs* after = nullptr;  // of the window's peers: who was asked for next, the last time

  PeerStanding standing;
  std::uint64_t born;  // pass 1: the window's count when the peer was first heard of

  // Pass 1 finds out:
  model::Ordinals access_ended, exposure_ended;  // whose completing exit was recorded
  // The completed count of the window just before the last record that completed operations
  // towards this peer alone; [0] puts, [1] gets.
  std::uint64_t last_complete[2] = {kNever, kNever};
  std::vector<LostOperations> lost;
  std::uint64_t last_access = 0, last_exposure = 0;  // the highest ordinals known of
  std::uint64_t lost_access = 0;  // an access epoch up to this one ended while recording was off
  LostOperations candidate;  // likewise, unless the state after the gap says that the lock is held

  // Pass 2 holds:
  std::vector<ListMemo> other_memos[2];  // of the process's other threads
  std::uint64_t exposures_ended = 0;     // the highest ordinal that ended
  std::vector<ListId> passive[2];        // puts, gets, of lock epochs
  // Puts of this peer by our exposure epoch, ascending; those before `exposed_begin` are released.
  // An origin far ahead has very many of them.
  std::vector<std::pair<std::uint64_t, ListId>> exposed;
  std::size_t exposed_begin = 0;

  // What pass 1 has of it.
  template <class Archive>
  void visit(Archive& archive) {
    archive(standing, born, access_ended, exposure_ended, last_complete, lost, last_access,
            last_exposure, lost_access, candidate);
  }
};

class alignas(64) WindowEpochs {
 public:
  // What others ask of us when they put in a fence epoch, in one cache line.
  WindowStanding standing;
  Mailbox mail;  // puts to us that one of our fences ends: the fence that was asked for last

  // What each of its own operations asks for, in the next line.
  alignas(64) std::uint64_t epoch_version = 1;  // moves whenever an operation may belong elsewhere
  PeerEpochs* last_peer = nullptr;              // who was asked for last
  // Pass 2.
  ListMemo fence_gets;  // of one thread, whatever the targets
  static constexpr std::uint32_t kUntouched = 0xFFFFFFFFu;
  std::uint32_t gap = kUntouched;  // of the process, when this state was last confirmed
  bool freed = false;
  std::uint64_t completions = 0;  // records so far that complete passive operations
  std::vector<std::uint32_t> access_members, exposure_members;  // of the open epochs

  // ---- what pass 1 found ----
  model::Ordinals fences_recorded;
  std::uint64_t last_fence = 0;  // the highest ordinal known of, recorded or not
  std::uint64_t last_complete_all[2] = {PeerEpochs::kNever, PeerEpochs::kNever};
  std::vector<LostOperations> lost_by_all;  // towards peers that were not heard of by then
  LostOperations candidate_by_all;
  // Numbers of request-based operations found complete since the last completion of all; those
  // before a pause or the end are kept, with the count at that time.
  model::Ordinals requests;
  std::vector<std::pair<std::uint64_t, model::Ordinals>> requests_kept;
  bool free_recorded = false;
  bool unseen_end = false;  // nothing is known of the window after the last pause

  // ---- what pass 2 holds ----
  // Keyed by our fence that ends them: an origin whose clock is not ours may be many fences
  // ahead.
  std::map<std::uint64_t, Mailbox> other_mail;
  std::map<std::uint64_t, std::vector<ListId>> fence_puts;  // to us, what did not fit into mail
  std::vector<ListMemo> other_fence_gets;                   // of the process's other threads
  std::vector<ListId> fence_ends;   // of ours: gets, and puts that their target did not record
  std::vector<ListId> access_ends;  // likewise, of the open access epoch
  std::vector<ListId> free_ends;    // closed by the freeing of the window
  std::vector<std::uint32_t> passive_peers;  // that may have lists of passive operations
  std::uint32_t last_stream = 0;             // which thread completed last

  // References stay valid.
  PeerEpochs& peer(std::uint32_t rank) {
    if (last_peer != nullptr && last_peer->rank == rank) return *last_peer;
    // A process goes through its peers in the same order again and again.
    PeerEpochs* next = last_peer != nullptr ? last_peer->after : nullptr;
    if (next == nullptr || next->rank != rank) {
      next = find_or_add(rank);
      if (last_peer != nullptr) last_peer->after = next;
    }
    return *(last_peer = next);
  }
  PeerEpochs* find_peer(std::uint32_t rank);
  std::deque<PeerEpochs>& peers() { return peers_; }

  OpEpoch classify(PeerEpochs& peer) const {
    const EpochKind kind = standing.epoch_of(peer.standing);
    if (kind == EpochKind::kFence) return {kind, standing.names_fence(), standing.fences + 1};
    return {kind, true, kind == EpochKind::kAccess ? peer.standing.access : completions};
  }
  // Whether a passive operation of that count will find a completing record, by pass 1.
  enum class Fate : std::uint8_t { kCompleted, kByRequest, kLostInGap, kNever };
  Fate passive_fate(const PeerEpochs& peer, bool get, std::uint64_t count,
                    std::uint32_t rmaid) const;

  // ---- transitions; `survey` in pass 1 ----
  void fence(bool survey, bool no_succeed);
  void start(std::span<const std::uint32_t> members);
  void post(std::span<const std::uint32_t> members);
  // `members`: those of the record if it has any, else those remembered.
  void complete(bool survey, std::span<const std::uint32_t> members);
  void wait(bool survey, std::span<const std::uint32_t> members);
  void lock(std::uint32_t target, std::uint8_t flags);
  void lock_all();
  // A record that completes operations; kAbsent is all targets.
  void completion(bool survey, std::uint32_t target, bool gets_only);
  void unlock(std::uint32_t target);
  void unlock_all();
  // Ends what a context has issued up to that count: puts, gets or both, towards one target or all.
  void quiet(bool survey, std::uint64_t up_to, std::uint32_t target = kAbsent, bool puts = true,
             bool gets = true);
  void request_done(std::uint32_t rmaid);  // pass 1
  void free(bool survey);
  void state(std::uint64_t fence_count, std::uint8_t open);
  void peer_state(std::uint32_t target, std::uint64_t access, std::uint64_t exposure,
                  std::uint8_t open);
  // Recording has paused since this state was last confirmed: it is no longer certain what is open.
  void forget_open(bool survey, std::uint32_t new_gap);
  // A context: whatever happened in a pause, it goes on, and its next quiet completes what is open.
  void keep_context(std::uint32_t now) {
    gap = now;
    if (standing.all == 0) standing.lock_all(kOpenShared);
  }
  // Pass 1 has ended, with that many pauses of the process.
  void end_of_survey(std::uint32_t gaps);
  // Forgets all but what pass 1 found.
  void restart();
  // What the end of pass 1 needs of it.
  template <class Archive>
  void visit(Archive& archive) {
    archive(standing, gap, completions, fences_recorded, last_fence, last_complete_all, lost_by_all,
            candidate_by_all, requests, requests_kept, free_recorded);
    std::vector<std::uint32_t> ranks;
    for (const PeerEpochs& peer : peers_) ranks.push_back(peer.rank);
    archive(ranks);
    for (const std::uint32_t rank : ranks) archive(*find_or_add(rank));
  }

  // Pass 2: the mailbox of one of our fences, in `mail`; false if what is put in that epoch does
  // not end there, or not any more.
  bool open_mail(std::uint64_t ordinal);

 private:
  PeerEpochs* find_or_add(std::uint32_t rank);
  std::size_t slot(std::uint32_t rank) const;
  void lose_candidates();
  bool done_by_request(std::uint64_t to, std::uint32_t rmaid) const;
  void keep_requests();
  void begin(EpochSide side, std::span<const std::uint32_t> members);
  void end(EpochSide side);
  void keep_lock_all();  // it was held all the time
  static void lose(LostOperations& candidate, std::vector<LostOperations>& lost);
  bool surveyed_ = false;  // what pass 1 found stays: pass 2 may run twice

  std::deque<PeerEpochs> peers_;
  std::vector<PeerEpochs*> index_;  // open addressing by rank; a power of two, never full
};

// All windows of one process.
class ProcessEpochs {
 public:
  // The state on a window, after a pause if there was one.
  WindowEpochs& window(std::uint32_t id, bool survey) {
    WindowEpochs& w = raw_window(id);
    if (is_context(id)) [[unlikely]] {
      w.keep_context(gap_);
      if (several_threads_) w.completions = quiets_begun_;
      return w;
    }
    if (w.gap != gap_) [[unlikely]] {
      if (w.gap == WindowEpochs::kUntouched) {
        w.gap = gap_;
      } else {
        w.forget_open(survey, gap_);
      }
    }
    return w;
  }
  WindowEpochs* find(std::uint32_t id) {
    const auto it = windows_.find(id);
    return it == windows_.end() ? nullptr : it->second.get();
  }
  std::uint32_t gap() const { return gap_; }
  // f(id, WindowEpochs) for all, ascending.
  template <class F>
  void each_window(F&& f) {
    std::vector<std::uint32_t> ids;
    for (const auto& entry : windows_) ids.push_back(entry.first);
    std::sort(ids.begin(), ids.end());
    for (const std::uint32_t id : ids) f(id, *windows_[id]);
  }
  // The contexts of SHMEM that records named so far, ascending: pass 2 counts what completes a
  // context from the same record on as pass 1.
  std::vector<std::uint32_t> contexts() const {
    std::vector<std::uint32_t> ids;
    for (const auto& entry : windows_) {
      const bool named = entry.second->gap != WindowEpochs::kUntouched;
      if (is_context(entry.first) && named) ids.push_back(entry.first);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  // Windows that were numbered from 0 get these numbers, each another one.
  void number_windows(std::span<const std::uint32_t> numbers);
  // Whether threads of the process may issue operations while another one is in a quiet.
  bool several_threads() const { return several_threads_; }
  void set_several_threads() { several_threads_ = true; }
  // A call begins that may quiet contexts; up to which count it completes then.
  std::uint64_t begin_quiet();
  // The count under which an operation is issued now.
  std::uint64_t quiets_begun() const { return several_threads_ ? quiets_begun_ : kAllIssued; }
  // Recording is switched off.
  void pause() { ++gap_; }
  void end_of_survey();
  void restart();
  // What the end of pass 1 needs of those of a process with one thread.
  template <class Archive>
  void visit(Archive& archive) {
    archive(gap_);
    std::vector<std::uint32_t> ids;
    for (const auto& entry : windows_) ids.push_back(entry.first);
    archive(ids);
    for (const std::uint32_t id : ids) archive(raw_window(id));
  }

 private:
  WindowEpochs& raw_window(std::uint32_t id);
  std::unordered_map<std::uint32_t, std::unique_ptr<WindowEpochs>> windows_;
  std::uint32_t gap_ = 0;
  bool several_threads_ = false;
  std::uint64_t quiets_begun_ = 0;
};

}  // namespace kojak::merge
