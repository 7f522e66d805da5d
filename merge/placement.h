// Decides where each transfer of the extended model ends, and holds its end until then.
//
// begin() is called for every operation when its start is read. What a completing record releases
// is collected by released_by(), just before that record is written and before the state moves on.
// Everything is a matter of epochs and their ordinals (epochs.h), never of time; time only decides
// what has been read already.
// Owns the held ends; the epochs belong to the survey. Not thread-safe. Errors: held().error().
// Source: specification of the merge, extended model and "what goes wrong".
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "merge/held_ends.h"
#include "merge/survey.h"
#include "merge/sync.h"

namespace kojak::merge {

// What placement knows of one location.
struct LocationDuties {
  std::uint32_t rank = 0;
  bool ended = false;
  std::vector<ListId> next_exit, last_exit;
};

class Placement {
 public:
  Placement(Survey& survey, FileCache& files, std::vector<HeldSource> sources, std::size_t pool);

  // An operation is issued. `end` goes where it belongs, unless the result is a mark other than
  // kNone: then it stays where the basic model has it, under that mark.
  [[gnu::always_inline]] Mark begin(std::uint32_t stream, bool put, std::uint32_t target,
                                    std::uint32_t window_id, const HeldEnd& end,
                                    std::uint64_t position) {
    if (window_id == kAbsent) [[unlikely]]
      return Mark::kNoEpoch;
    WindowEpochs& window = this->window(stream, window_id);
    PeerEpochs& peer = window.peer(target);
    const ListMemo& memo = peer.memo[put ? 0 : 1];
    if (memo.stamp == window.stamp && memo.stream == stream &&
        held_.serial(memo.list) == memo.serial) [[likely]] {
      held_.append(memo.list, end, position, true);
      return Mark::kNone;
    }
    return place(stream, put, window_id, window, peer, window.classify(peer), end, position);
  }
  // The same in two steps, where the end's own record is read only later.
  OpEpoch epoch_of(std::uint32_t stream, std::uint32_t target, std::uint32_t window_id);
  Mark begin_later(std::uint32_t stream, bool put, std::uint32_t target, std::uint32_t window_id,
                   const OpEpoch& epoch, const HeldEnd& end, std::uint64_t position);

  // Collects the lists that a record of this location releases, before it is applied. `closing`:
  // these ends have no completing record, the window is freed.
  void released_by(std::uint32_t stream, const Sync& sync, std::span<const std::uint32_t> members,
                   std::vector<ListId>& lists, bool& closing);
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
  void pause(std::uint32_t stream) { recent_[stream].epochs->pause(); }
  LocationDuties& duties(std::uint32_t stream) { return duties_[stream]; }
  // Whether ends wait for an exit of this location. Asked at each exit: a byte for each location.
  bool any_duties(std::uint32_t stream) const { return any_duties_[stream] != 0; }
  void set_any_duties(std::uint32_t stream, bool any) { any_duties_[stream] = any ? 1 : 0; }
  HeldEnds& held() { return held_; }

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
    std::uint32_t stream, window_id;
    WindowEpochs* window;
    PeerEpochs* peer;
    bool put;
    std::uint32_t rmaid;
    OpEpoch epoch;
  };
  [[gnu::noinline]] Mark place(std::uint32_t stream, bool put, std::uint32_t window_id,
                               WindowEpochs& window, PeerEpochs& peer, const OpEpoch& epoch,
                               const HeldEnd& end, std::uint64_t position);
  // What decides: a place with its mark, or a mark only (no list: the basic place).
  struct Decision {
    bool basic = false;
    Place place = Place::kTargetFence;
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
  WindowEpochs* target_window(const Operation& op) {
    Known& known = targets_[op.peer->rank];
    if (known.id == op.window_id) [[likely]]
      return known.window;
    return find_target_window(op, known);
  }
  void hand_over(const Operation& op, const Decision& decision, ListId list);
  void take_passive(PeerEpochs& peer, bool gets_only, std::vector<ListId>& lists);
  void take_all_passive(WindowEpochs& window, bool gets_only, std::vector<ListId>& lists);
  void take_exposed(PeerEpochs& peer, std::uint64_t up_to, std::vector<ListId>& lists);
  WindowEpochs* find_target_window(const Operation& op, Known& known);
  static void take(std::vector<ListId>& from, std::vector<ListId>& lists);

  Survey& survey_;
  HeldEnds held_;
  std::vector<Recent> recent_;
  std::vector<Known> targets_;  // by rank
  std::vector<LocationDuties> duties_;
  std::vector<std::uint8_t> any_duties_;
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
