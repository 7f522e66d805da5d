// Transfers: put, get, accumulate and the atomic operations, and their request-based forms.
//
// A transfer is one compact record (MPI_RMA_CALL), written after the call returned; the merge makes
// of it ENTER, the transfer's events and EXIT. A failed call, and one towards MPI_PROC_NULL, has no
// transfer; that of one towards another world is MPI_OTHER_WORLD.
#pragma once

#include "epilog/format/field_values.h"
#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/other_world.h"
#include "epilog/mpi/reads.h"

namespace kojak::measure {

KOJAK_INLINED inline std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  if (count <= 0) return 0;
  MPI_Count size = 0;
  if (mpi::Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

enum class TransferKind : std::uint8_t {
  kPut = kCallPut,
  kGet = kCallGet,
  kGetAndPut = kCallPut | kCallGet
};

// Of an atomic operation with a result: what leaves the target's memory as it is, only reads it.
template <class A, class C>
KOJAK_INLINED inline TransferKind kind_of(const A& a, std::uint64_t bytes, std::uint64_t got,
                                          C& call) {
  if constexpr (C::kOn) {
    const bool may_keep = joins_polls() && bytes != 0 && bytes <= kMostSmall && bytes == got;
    if (may_keep && may_watch_reads(call.r) && keeps_memory(call.r, a, bytes))
      return TransferKind::kGet;
  }
  return TransferKind::kGetAndPut;
}
// It may be a poll: it leaves memory as it is, or is a swap.
template <class A>
bool reads_or_swaps(const A& a, TransferKind kind) {
  if (kind == TransferKind::kGet) return true;
  if constexpr (requires { a.compare_addr; }) {
    return true;
  } else if constexpr (kSwaps<A>) {
    return a.op == MPI_REPLACE;
  }
  return false;
}

// What the arguments say of a transfer, and the rest that all of them share. `request` is null for
// the plain forms.
template <class A, class C>
KOJAK_INLINED inline void transfer(const A& a, int result, C& call, TransferKind kind,
                                   std::uint64_t bytes, std::uint64_t got,
                                   const MPI_Request* request) {
  Recorder& r = the_recorder;
  Window* const window =
      result == MPI_SUCCESS && a.target_rank != MPI_PROC_NULL ? cached_window(r, a.win) : nullptr;
  const std::uint32_t target = window == nullptr ? kAbsent : window->peer(a.target_rank);
  if (target == kAbsent) [[unlikely]] {
    if constexpr (C::kOn) {
      ends_series(call);
      if (window == nullptr) return call.leave();
      if (!call.use(*window)) return;
      leave_other_world(call, *window, a.target_rank, static_cast<std::uint8_t>(kind), bytes, got);
    }
    return;
  }
  count_operation(*window, a.target_rank);
  const std::uint32_t id = take_rma_ids(kind == TransferKind::kGetAndPut ? 2 : 1);
  if (request != nullptr) {
    if (Request* entry = enter_request(*request, RequestKind::kTransfer)) {
      entry->id = id;
      entry->window = window->id;
      entry->peer = target;
    }
  }
  bool small = false;
  if constexpr (C::kOn) {
    if (!use_in_poll(call, *window)) return;
    small = bytes <= kMostSmall && got <= kMostSmall && bytes != 0;
    if constexpr (ReadsSmall<A>) {
      if (small && joins_polls() && reads_or_swaps(a, kind) && may_watch_reads(call.r)) {
        const PollKind poll = kind == TransferKind::kGet ? PollKind::kRead : PollKind::kSwap;
        if (read_is_held(call, a, poll, *window, target, bytes, id)) {
          call.p = call.r.cursor;
          return;
        }
      }
      ends_series(call);
    }
  }
  (kind == TransferKind::kGet ? window->reads : window->others).issue(target);
  if constexpr (C::kOn) {
    if (call.entered) [[unlikely]] {
      // Functions that MPI called back have written behind the note of this call, which therefore
      // stays: the transfer is a moment at its end.
      call.leave();
      call.enter = call.exit;
    }
    if (small) {
      call.p = put(call.r, call.p,
                   MpiRmaPlace{call.r.lid, call.enter, static_cast<PeerId>(target),
                               static_cast<WindowId>(window->id), static_cast<RmaId>(id),
                               Count64{static_cast<std::uint64_t>(a.target_disp)},
                               static_cast<Byte>(bytes), static_cast<Byte>(kind), Byte{op_of(a)}});
    }
    call.whole(MpiRmaCall{call.r.lid, call.enter, call.exit, call.region,
                          static_cast<PeerId>(target), static_cast<WindowId>(window->id),
                          static_cast<RmaId>(id), Bytes64{bytes}, Bytes64{got},
                          static_cast<Byte>(kind)});
  }
}

template <class A>
const MPI_Request* request_of(const A& a) {
  if constexpr (requires { a.request; }) {
    return a.request;
  } else {
    return nullptr;
  }
}

// Sizes are asked for only after success: with a bad type the question itself would be an error.
struct PutHook {
  template <class A, class C>
  KOJAK_INLINED void after(const A& a, int result, C& call) {
    const std::uint64_t bytes =
        result == MPI_SUCCESS && C::kOn ? bytes_of(a.origin_count, a.origin_datatype) : 0;
    transfer(a, result, call, TransferKind::kPut, bytes, 0, request_of(a));
  }
};
struct GetHook {
  template <class A, class C>
  KOJAK_INLINED void after(const A& a, int result, C& call) {
    const std::uint64_t bytes =
        result == MPI_SUCCESS && C::kOn ? bytes_of(a.target_count, a.target_datatype) : 0;
    transfer(a, result, call, TransferKind::kGet, bytes, 0, request_of(a));
  }
};
struct GetAccumulateHook {
  template <class A, class C>
  KOJAK_INLINED void after(const A& a, int result, C& call) {
    const bool only_get = a.op == MPI_NO_OP;
    std::uint64_t bytes = 0, got = 0;
    if (result == MPI_SUCCESS && C::kOn) {
      got = bytes_of(a.target_count, a.target_datatype);
      bytes = only_get ? got : bytes_of(a.origin_count, a.origin_datatype);
    }
    const TransferKind kind = only_get ? TransferKind::kGet : kind_of(a, bytes, got, call);
    transfer(a, result, call, kind, bytes, kind == TransferKind::kGet ? 0 : got, request_of(a));
  }
};

template <>
struct Hook<args::Put> : PutHook {};
template <>
struct Hook<args::Rput> : PutHook {};
template <>
struct Hook<args::Accumulate> : PutHook {};
template <>
struct Hook<args::Raccumulate> : PutHook {};
template <>
struct Hook<args::Get> : GetHook {
  static constexpr bool kReadsSmall = true;
};
template <>
struct Hook<args::Rget> : GetHook {
  static constexpr bool kReadsSmall = true;
};
template <>
struct Hook<args::GetAccumulate> : GetAccumulateHook {
  static constexpr bool kReadsSmall = true;
};
template <>
struct Hook<args::RgetAccumulate> : GetAccumulateHook {
  static constexpr bool kReadsSmall = true;
};

template <>
struct Hook<args::FetchAndOp> {
  static constexpr bool kReadsSmall = true;

  template <class C>
  void after(const args::FetchAndOp& a, int result, C& call) {
    const bool only_get = a.op == MPI_NO_OP;
    const std::uint64_t size = result == MPI_SUCCESS && C::kOn ? bytes_of(1, a.datatype) : 0;
    const TransferKind kind = only_get ? TransferKind::kGet : kind_of(a, size, size, call);
    transfer(a, result, call, kind, size, kind == TransferKind::kGet ? 0 : size, nullptr);
  }
};
template <>
struct Hook<args::CompareAndSwap> {
  static constexpr bool kReadsSmall = true;

  template <class C>
  void after(const args::CompareAndSwap& a, int result, C& call) {
    const std::uint64_t size = result == MPI_SUCCESS && C::kOn ? bytes_of(1, a.datatype) : 0;
    const TransferKind kind = kind_of(a, size, size, call);
    transfer(a, result, call, kind, size, kind == TransferKind::kGet ? 0 : size, nullptr);
  }
};

}  // namespace kojak::measure
