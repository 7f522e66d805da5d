// What a call that may wait is about, noted where it outlives the process.
//
// So are transfers, and calls that begin something: they are not meant to wait, but some
// implementations let them (a put waits for the post, a send for room).
//
// A program that hangs and is killed leaves the ENTER of the call that each process was in: the
// records that tell communicator, window and partner are written when a call ends. So these stand
// in the buffer's note as MPI_OPEN_CALL and MPI_AWAITS while the call lasts (recorded() in call.h);
// of a transfer, or a call that begins something, with its ENTER. Only handles that are known
// already are looked up; MPI is asked about nothing but groups that are known to be there, so that
// wrong arguments reach MPI as they are. For the outermost call of a thread; nothing fails: what is
// not known is absent.
#pragma once

#include <type_traits>

#include "epilog/format/awaited.h"
#include "epilog/mpi/define.h"
#include "epilog/mpi/request.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

// Group handles that stand for groups, and how often each was given out.
extern HashMap<std::uint32_t> live_groups;
void group_given(MPI_Group group);
void group_freed(Word key);

template <class A>
concept OnComm = requires(const A& a) {
  requires std::is_same_v<decltype(a.comm), MPI_Comm>;
};
template <class A>
concept OnWindow = requires(const A& a) {
  requires std::is_same_v<decltype(a.win), MPI_Win>;
};
// (Handles of different kinds have one type in MPICH.)
template <class H>
concept FreesWindow = requires(H& hook) {
  requires std::is_same_v<decltype(hook.window), Window*>;
  hook.handle;
};
template <class H>
concept WaitsForOne = requires(H& hook) {
  requires std::is_same_v<decltype(hook.claimed), Claimed>;
};
template <class H>
concept WaitsForSeveral = requires(H& hook) {
  requires std::is_same_v<decltype(hook.array), ArrayCall*>;
};
// Calls of a sequence that a communicator has for itself: what is made of it, files.
template <class H>
concept IsNumbered = requires(H& hook) {
  requires std::is_same_v<decltype(hook.parent_comm), Comm*>;
  hook.ordinal;
};
template <class A, class H>
concept Notable = OnComm<A> || IsNumbered<H> || OnWindow<A> || FreesWindow<H> || WaitsForOne<H> ||
    WaitsForSeveral<H>;

// The note of a call, but for its time: written before that is taken. `again`: what stands there is
// the note of the thread's last call that left one, and that was one from the same place.
template <class A, class H>
class OpenCall {
 public:
  KOJAK_INLINED OpenCall(const A& a, const H& hook, Recorder& r, std::byte* to, bool again)
      : hook_(hook), begin_(to) {
    const BookkeepingLock lock;
    note_.lid = r.lid;
    note_.time = Seconds{0};
    note_.cid = absent<CommId>();
    note_.wid = absent<WindowId>();
    note_.dlid = note_.slid = absent<PeerId>();
    note_.tag = absent<Tag>();
    note_.ordinal = Count64{0};
    note_.awaited = Count{0};
    if constexpr (IsNumbered<H>) {
      if (hook.parent_comm != nullptr) name(*hook.parent_comm, r);
      note_.ordinal = Count64{hook.ordinal};
    } else if constexpr (OnComm<A>) {
      look_at_comm(a, r);
    }
    if constexpr (OnWindow<A>) {
      look_at_window(a, remembered_window<find_window>(r, a.win), r);
    } else if constexpr (FreesWindow<H>) {
      look_at_window(a, hook.window, r);
    }
    if constexpr (WaitsForSeveral<H>) {
      if (hook.array != nullptr)
        note_.awaited = Count{static_cast<std::uint32_t>(hook.array->count)};
    } else if constexpr (WaitsForOne<H>) {
      note_.awaited = Count{1};
    } else if constexpr (std::is_same_v<A, args::WinStart>) {
      look_at_group(a.group);
    }
    if (kTransfer && again) [[likely]] {
      put_changes();
    } else {
      end_ = put_noted(begin_, note_);
    }
    awaited_ = end_;
    if constexpr (WaitsForSeveral<H>) {
      if (hook_.array != nullptr) put_requests(r, *hook_.array);
    } else if constexpr (WaitsForOne<H>) {
      put_request(r, hook_.claimed.request);
    } else if constexpr (std::is_same_v<A, args::WinStart>) {
      for (std::uint32_t i = 0; group_ != nullptr && i < group_->count && i < kMostAwaited; ++i) {
        put_awaited(Awaited::kMember, group_->ranks[i], absent<CommId>(), kAbsent);
      }
    }
  }

  // The end of the record, which has got its time.
  KOJAK_INLINED std::byte* entered(Ticks at) {
    set_time(begin_, at);
    if constexpr (kAwaits) {
      for (std::byte* p = awaited_; p != end_; p += noted_size(p)) {
        set_time(p, at);
      }
    }
    return end_;
  }

 private:
  static constexpr bool kAwaits =
      WaitsForSeveral<H> || WaitsForOne<H> || std::is_same_v<A, args::WinStart>;

  // All else of a transfer's note is the same for each call of its function.
  static constexpr bool kTransfer = OnWindow<A> && requires(const A& a) { a.target_rank; };
  KOJAK_INLINED void put_changes() {
    constexpr std::size_t kWindowAt = 3 + sizeof note_.lid + sizeof note_.time + sizeof note_.cid;
    constexpr std::size_t kTargetAt = kWindowAt + sizeof note_.wid;
    constexpr std::size_t kOrdinalAt =
        kTargetAt + sizeof note_.dlid + sizeof note_.slid + sizeof note_.tag;
    std::memcpy(begin_ + kWindowAt, &note_.wid, sizeof note_.wid);
    std::memcpy(begin_ + kTargetAt, &note_.dlid, sizeof note_.dlid);
    std::memcpy(begin_ + kOrdinalAt, &note_.ordinal, sizeof note_.ordinal);
    end_ = begin_ + kOrdinalAt + sizeof note_.ordinal + sizeof note_.awaited;
  }

  KOJAK_INLINED void name(Comm& comm, Recorder& r) {
    if (defined_here(r, comm.defined) || (fits(r, comm.group, comm.remote) && define_comm(r, comm)))
      note_.cid = CommId{comm.id};
  }
  KOJAK_INLINED void look_at_comm(const A& a, Recorder& r) {
    Comm* const comm = remembered_comm<find_comm>(r, a.comm);
    if (comm == nullptr) return;
    name(*comm, r);
    const auto peer = [comm](int rank) { return PeerId{comm->peer(rank)}; };
    if constexpr (requires { a.dest; }) {
      note_.dlid = peer(a.dest);
      if constexpr (requires { a.sendtag; }) note_.tag = tag_of(a.sendtag);
    } else if constexpr (requires { a.root; }) {
      note_.dlid = peer(a.root);
    }
    if constexpr (requires { a.source; }) {
      note_.slid = peer(a.source);
      if constexpr (requires { a.recvtag; }) note_.tag = tag_of(a.recvtag);
    }
    if constexpr (requires { a.tag; }) note_.tag = tag_of(a.tag);
    if constexpr (
        !requires { a.dest; } && !requires { a.source; }) {
      note_.ordinal = Count64{comm->collectives};
    }
  }
  KOJAK_INLINED void look_at_window(const A& a, Window* window, Recorder& r) {
    if (window == nullptr) return;
    if (defined_here(r, window->defined) || (fits(r, window->group) && define_window(r, *window)))
      note_.wid = WindowId{window->id};
    if constexpr (requires { a.rank; }) note_.dlid = PeerId{window->peer(a.rank)};
    if constexpr (requires { a.target_rank; }) note_.dlid = PeerId{window->peer(a.target_rank)};
    note_.ordinal = Count64{window->standing.fences};
  }
  void look_at_group(MPI_Group group) {
    if (live_groups.find(word(group)) == nullptr) return;
    group_ = group_of(group);
    if (group_ != nullptr) note_.awaited = Count{group_->count};
  }
  static Tag tag_of(int tag) { return tag < 0 ? absent<Tag>() : static_cast<Tag>(tag); }

  KOJAK_INLINED void put_awaited(Awaited kind, std::uint32_t peer, CommId comm, std::uint32_t tag) {
    end_ = put_noted(end_, MpiAwaits{note_.lid, Seconds{0}, Byte{static_cast<std::uint8_t>(kind)},
                                     PeerId{peer}, comm, Tag{tag}});
  }
  bool put_request(Recorder& r, const Request* request) {
    if (request == nullptr || (A::kBlocks && !request->active)) return false;
    Awaited kind = Awaited::kOther;
    switch (request->kind) {
      case RequestKind::kSend:
        kind = Awaited::kSend;
        break;
      case RequestKind::kReceive:
        kind = Awaited::kReceive;
        break;
      case RequestKind::kPartitionedReceive:
        kind = Awaited::kPartsReceived;
        break;
      case RequestKind::kPartitionedSend:
        kind = request->given < request->partitions ? Awaited::kPartsKept : Awaited::kPartsSent;
        break;
      case RequestKind::kTransfer:
        kind = Awaited::kTransfer;
        break;
      case RequestKind::kCollective:
        kind = Awaited::kCollective;
        break;
      default:
        break;
    }
    const bool known = request->comm != nullptr && defined_here(r, request->comm->defined);
    put_awaited(kind, request->peer, known ? CommId{request->comm->id} : absent<CommId>(),
                request->tag);
    return true;
  }
  void put_requests(Recorder& r, ArrayCall& array) {
    const std::uint32_t found = array.find_pending(kMostAwaited, !A::kBlocks);
    for (std::uint32_t i = 0; i < found; ++i) put_request(r, still(array.pending[i].claimed));
  }

  const H& hook_;
  std::byte* const begin_;
  std::byte* awaited_;  // records of what it waits for
  std::byte* end_;
  MpiOpenCall note_;
  Group* group_ = nullptr;
};

// A call of which there is nothing to note.
struct NoOpenCall {
  template <class A, class H>
  KOJAK_INLINED NoOpenCall(const A&, const H&, Recorder&, std::byte* to, bool) : end(to) {}
  KOJAK_INLINED std::byte* entered(Ticks) const { return end; }
  std::byte* end;
};

}  // namespace kojak::measure
