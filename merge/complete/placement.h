// Decides where each transfer of the extended model ends, and holds its end until then.
//
// begin() is called for every operation when its start is read. What a completing record releases
// is collected by released_by(), just before that record is written and before the state moves on.
// Only epochs and their ordinals (epochs.h) decide, never times; times only decide which records
// have been read already.
// Owns the held ends; the epochs belong to the survey. Errors: held().error().
// Source: docs/merge.md.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "merge/complete/held_ends.h"
#include "merge/complete/survey.h"
#include "merge/complete/sync.h"

namespace kojak::merge {

// What placement knows of one location: among it the ends that wait for its next exit, or its last.
struct LocationEnds {
  std::uint32_t rank = 0;
  bool ended = false;
  std::vector<ListId> next_exit, last_exit;
};

class Placement {
 public:
  // `ranks`: of the process of each location.
  Placement(Survey& survey, FileCache& files, std::span<const std::uint32_t> ranks,
            std::size_t pool);

  // An operation is issued. `end` goes where it belongs, unless the result is a mark other than
  // kNone: then it stays where the basic model has it, under that mark.
  [[gnu::always_inline]] Mark begin(std::uint32_t stream, bool put, std::uint32_t target,
                                    std::uint32_t window_id, const HeldEnd& end) {
    if (window_id == kAbsent) [[unlikely]]
      return Mark::kNoEpoch;
    WindowEpochs& window = this->window(stream, window_id);
    if (window.standing.only_fences()) {
      if (!put) {
        if (remembered(window.fence_gets, window, stream)) [[likely]] {
          held_.append(window.fence_gets.list, end);
          return Mark::kNone;
        }
        return place(stream, put, target, window_id, window, nullptr,
                     {EpochKind::kFence, true, window.standing.fences + 1}, end);
      }
      if (mail(window, target, window_id, end)) [[likely]]
        return Mark::kNone;
    }
    PeerEpochs& peer = window.peer(target);
    const ListMemo& memo = peer.memo[put ? 0 : 1];
    if (remembered(memo, window, stream)) [[likely]] {
      held_.append(memo.list, end);
      return Mark::kNone;
    }
    return place(stream, put, target, window_id, window, &peer, window.classify(peer), end);
  }
  // Places an end in two steps, where its own record is read only later.
  OpEpoch epoch_of(std::uint32_t stream, std::uint32_t target, std::uint32_t window_id);
  Mark begin_later(std::uint32_t stream, bool put, std::uint32_t target, std::uint32_t window_id,
                   const OpEpoch& epoch, const HeldEnd& end);

  // Collects the lists and the mail that a record of this location releases, before it is applied.
  // `closing`: these ends have no completing record, the window is freed.
  void released_by(std::uint32_t stream, const Sync& sync, std::span<const std::uint32_t> members,
                   std::vector<ListId>& lists, Mail& mail, bool& closing);
  bool several_threads(std::uint32_t stream) const {
    return recent_[stream].epochs->several_threads();
  }
  // A call of this location begins that may quiet contexts; what that completes then.
  std::uint64_t begin_quiet(std::uint32_t stream) { return recent_[stream].epochs->begin_quiet(); }
  // The count under which an operation is issued in a context now, and the same as begin() for one
  // that was issued under that count.
  std::uint64_t quiets_begun(std::uint32_t stream) const {
    return recent_[stream].epochs->quiets_begun();
  }
  Mark begin_in_context(std::uint32_t stream, bool put, std::uint32_t target, std::uint32_t context,
                        std::uint64_t quiets_begun, const HeldEnd& end);
  // Collects what a quiet of one context releases: what was issued up to that count.
  void released_by_quiet(std::uint32_t stream, std::uint32_t context, std::uint64_t up_to,
                         const ContextUse& quiet, std::vector<ListId>& lists);
  // What the mail of a process on a window is.
  static ListInfo mail_info(std::uint32_t rank, std::uint32_t window_id) {
    ListInfo info;
    info.origin = kAbsent;
    info.target = rank;
    info.window = window_id;
    info.put = info.at_target = true;
    return info;
  }
  // f(ListInfo) for what is left in mailboxes, of one process and window at a time, in `mail`.
  template <class F>
  void rest_of_mail(Mail& mail, F&& f) {
    for (std::uint32_t rank = 0; rank < survey_.processes.size(); ++rank) {
      if (!survey_.processes[rank]) continue;
      survey_.processes[rank]->each_window([&](std::uint32_t id, WindowEpochs& window) {
        mail.clear();
        collect(window, PeerEpochs::kNever, mail);
        if (!mail.empty()) f(mail_info(rank, id));
      });
    }
  }
  // A request-based operation is issued, or found complete. The end of a get comes back.
  void note_request(std::uint32_t stream, bool put, std::uint32_t window_id, std::uint32_t target,
                    std::uint32_t rmaid);
  struct Completed {
    ListInfo info;
    HeldEnd end;
  };
  std::optional<Completed> request_complete(std::uint32_t stream, std::uint32_t window_id,
                                            std::uint32_t rmaid);

  WindowEpochs& window(std::uint32_t stream, std::uint32_t id) {
    Recent& recent = recent_[stream];
    const ProcessEpochs& epochs = *recent.epochs;
    if (recent.window != nullptr && recent.id == id && recent.window->gap == epochs.gap())
        [[likely]] {
      return *recent.window;
    }
    recent.id = id;
    recent.window = &recent.epochs->window(id, false);
    return *recent.window;
  }
  // Fetches what an operation of this location asks for first.
  [[gnu::always_inline]] void prefetch(std::uint32_t stream) const {
    if (const WindowEpochs* window = recent_[stream].window) {
      __builtin_prefetch(window);
      __builtin_prefetch(&window->epoch_version);
      __builtin_prefetch(window->last_peer);
    }
  }
  // Fetches that for many locations, in steps, each of which finds what the one before has fetched.
  // `target`: of a transfer that comes next, or anything.
  template <int kStep>
  [[gnu::always_inline]] void fetch(std::uint32_t stream, std::uint32_t target = kAbsent) const {
    if constexpr (kStep == 0) return __builtin_prefetch(&recent_[stream]);
    const WindowEpochs* const window = recent_[stream].window;
    if (window == nullptr) return;
    if constexpr (kStep == 1) {
      __builtin_prefetch(window);
      __builtin_prefetch(&window->epoch_version);
    }
    if constexpr (kStep >= 2) {
      if (target >= targets_.size()) return;
      if (window->standing.only_fences()) {
        const WindowEpochs* const to = targets_[target].window;
        if (to == nullptr) return;
        if constexpr (kStep == 2) __builtin_prefetch(to, 1);
        if constexpr (kStep == 3) {
          if (to->mail.tail != nullptr) __builtin_prefetch(to->mail.tail->ends + to->mail.used, 1);
        }
        return;
      }
      const PeerEpochs* const peer = window->last_peer;
      if (peer == nullptr) return;
      if constexpr (kStep == 2) __builtin_prefetch(peer);
      if constexpr (kStep == 3) {
        if (peer->memo[0].list != kNoList) held_.prefetch(peer->memo[0].list);
      }
      if constexpr (kStep == 4) {
        if (peer->memo[0].list != kNoList) held_.prefetch_tail(peer->memo[0].list);
      }
    }
  }
  // The contexts of SHMEM that its process used.
  std::vector<std::uint32_t> contexts(std::uint32_t stream) const {
    return recent_[stream].epochs->contexts();
  }
  void pause(std::uint32_t stream) { recent_[stream].epochs->pause(); }
  LocationEnds& location_ends(std::uint32_t stream) { return location_ends_[stream]; }
  // Whether ends wait for an exit of this location. Asked at each exit: a byte for each location.
  bool any_at_exit(std::uint32_t stream) const { return any_at_exit_[stream] != 0; }
  void set_any_at_exit(std::uint32_t stream, bool any) { any_at_exit_[stream] = any ? 1 : 0; }
  HeldEnds& held() { return held_; }
  const HeldEnds& held() const { return held_; }

 private:
  struct Recent {
    ProcessEpochs* epochs = nullptr;
    WindowEpochs* window = nullptr;
    std::uint32_t id = kAbsent;
  };
  // The window of a process that was asked for last; never forgotten in pass 2.
  struct Known {
    WindowEpochs* window = nullptr;
    std::uint32_t id = kAbsent;
  };
  // One operation on its way to a list.
  struct Operation {
    std::uint32_t stream, target, window_id;
    WindowEpochs* window;
    PeerEpochs* peer;  // null for a get in a fence epoch, which does not depend on its target
    bool put;
    std::uint32_t rmaid;
    OpEpoch epoch;
  };
  bool remembered(const ListMemo& memo, const WindowEpochs& window, std::uint32_t stream) const {
    return memo.epoch_version == window.epoch_version && memo.stream == stream && !memo.alone &&
           held_.serial(memo.list) == memo.serial;
  }
  // A put in a fence epoch, if its target's mailbox takes it.
  [[gnu::always_inline]] bool mail(const WindowEpochs& window, std::uint32_t target,
                                   std::uint32_t window_id, const HeldEnd& end) {
    WindowEpochs* const to = target_window(target, window_id);
    const std::uint64_t ordinal = window.standing.fences + 1;
    if (to == nullptr || to->standing.fences >= ordinal) [[unlikely]]
      return false;
    if (to->mail.ordinal != ordinal && !to->open_mail(ordinal)) [[unlikely]]
      return false;
    return held_.post(to->mail, end);
  }
  [[gnu::noinline]] Mark place(std::uint32_t stream, bool put, std::uint32_t target,
                               std::uint32_t window_id, WindowEpochs& window, PeerEpochs* peer,
                               const OpEpoch& epoch, const HeldEnd& end);
  static ListMemo& memo_of(const Operation& op);
  // The decision: a place with its mark, or only a mark (no list: the place of the basic model).
  struct Decision {
    bool basic = false;
    EndPlace place = EndPlace::kTargetFence;
    Mark mark = Mark::kNone;
    std::uint32_t stream = 0;  // kNextExit: whose exit
    bool alone = false;        // holds for this operation only
  };
  Decision decide(const Operation& op);
  Decision decide_fence(const Operation& op);
  Decision decide_access(const Operation& op);
  Decision decide_passive(const Operation& op);
  Decision origin_fence(const Operation& op, Mark mark);
  Decision origin_access(const Operation& op, Mark mark);
  Decision late(const Operation& op, const WindowEpochs& target);
  Decision nowhere(const Operation& op) const;
  WindowEpochs* target_window(std::uint32_t target, std::uint32_t window_id) {
    Known& known = targets_[target];
    if (known.id == window_id) [[likely]]
      return known.window;
    return find_target_window(target, window_id, known);
  }
  WindowEpochs* target_window(const Operation& op) {
    return target_window(op.target, op.window_id);
  }
  void give_to_releaser(const Operation& op, const Decision& decision, ListId list);
  void take_passive(PeerEpochs& peer, bool gets_only, std::vector<ListId>& lists);
  void take_all_passive(WindowEpochs& window, bool gets_only, std::vector<ListId>& lists);
  void expose(PeerEpochs& peer, std::uint64_t ordinal, ListId list);
  void take_exposed(PeerEpochs& peer, std::uint64_t up_to, std::vector<ListId>& lists);
  WindowEpochs* find_target_window(std::uint32_t target, std::uint32_t window_id, Known& known);
  void collect(WindowEpochs& window, std::uint64_t up_to, Mail& mail);
  static void take_fence_puts(WindowEpochs& window, std::uint64_t up_to,
                              std::vector<ListId>& lists);
  static void take(std::vector<ListId>& from, std::vector<ListId>& lists);

  Survey& survey_;
  HeldEnds held_;
  std::vector<Recent> recent_;
  std::vector<Known> targets_;  // by rank
  std::vector<LocationEnds> location_ends_;
  std::vector<std::uint8_t> any_at_exit_;
  std::vector<std::uint32_t> first_stream_, stream_count_;  // by rank
  // Request-based operations issued last, by process: the operation's number modulo the size.
  struct Request {
    std::uint32_t rmaid = kAbsent, window = 0, target = 0;
    bool put = false;
  };
  static constexpr std::uint32_t kRequests = 256;
  std::vector<std::unique_ptr<Request[]>> requests_;
};

}  // namespace kojak::merge
