#include "merge/complete/sync.h"

#include "epilog/format/field_values.h"

namespace kojak::merge {

bool decode_sync(const RawRecord& record, const Dialect& dialect, MpiRole role,
                 std::uint32_t assertion, Sync& sync) {
  sync = {};
  const auto take = [&]<class R>(R r) {
    if (decode(record, dialect, r) != nullptr) return false;
    sync.kind = epoch_move(r, role);
    sync.window = raw(r.wid);
    if constexpr (kLeaves<R>) sync.unknown_role = role == MpiRole::kOther;
    if constexpr (std::is_same_v<R, MpiWinCollExit>) {
      sync.no_succeed = (assertion & kAssertNoSucceed) != 0;
    }
    if constexpr (requires { r.cid; }) sync.comm = raw(r.cid);
    if constexpr (requires { r.llid; }) sync.target = raw(r.llid);
    if constexpr (requires { r.ltype; }) sync.exclusive = raw(r.ltype) != 0;
    if constexpr (requires { r.local; }) {
      sync.target = raw(r.tlid);
      sync.gets_only = raw(r.local) != 0;
    }
    if constexpr (requires { r.rmaid; }) sync.rmaid = raw(r.rmaid);
    if constexpr (requires { r.open; }) sync.open = raw(r.open);
    if constexpr (requires { r.fences; }) {
      if (raw(r.fences) == kCountLost) return false;  // counts no fences; none is recorded any more
      sync.first = raw(r.fences);
    }
    if constexpr (requires { r.exposure; }) {
      sync.target = raw(r.plid);
      sync.first = raw(r.access);
      sync.second = raw(r.exposure);
    }
    return sync.kind != EpochMove::kNone && sync.kind != EpochMove::kCreate;
  };
  bool moves = false;
  dispatch_record(record.type, [&]<class R>() {
    if constexpr (kMovesEpoch<R>) moves = take(R{});
  });
  return moves;
}

bool decode_context(const RawRecord& record, const Dialect& dialect, ContextUse& use) {
  use = {};
  const auto take = [&]<class R>(R r) {
    if (decode(record, dialect, r) != nullptr) return false;
    use.quiet = std::is_same_v<R, ShmemQuiet>;
    if (!use.quiet) use.window = context_window(0);
    if constexpr (std::is_same_v<R, ShmemQuiet>) {
      if ((raw(r.kind) & kQuietOne) != 0) use.target = raw(r.dlid);
      use.puts = (raw(r.kind) & kQuietLocal) == 0;
      use.gets = (raw(r.kind) & kQuietPuts) == 0;
    }
    if constexpr (requires { r.ctx; }) {
      if (!is_absent(r.ctx)) use.window = context_window(raw(r.ctx));
    }
    return true;
  };
  switch (static_cast<RecordType>(record.type)) {
    case RecordType::kShmemPlace:
      return take(ShmemPlace{});
    case RecordType::kShmemQuiet:
      return take(ShmemQuiet{});
    case RecordType::kShmemRmaCall:
      return take(ShmemRmaCall{});
    case RecordType::kPut1teRemote:
      return take(Put1teRemote{});
    default:
      return false;
  }
}

void apply_sync(WindowEpochs& window, const Sync& sync, std::span<const std::uint32_t> members,
                bool survey) {
  switch (sync.kind) {
    case EpochMove::kFence:
      window.fence(survey, sync.no_succeed);
      break;
    case EpochMove::kFree:
      window.free(survey);
      break;
    case EpochMove::kStart:
      window.start(members);
      break;
    case EpochMove::kPost:
      window.post(members);
      break;
    case EpochMove::kComplete:
      window.complete(survey, members);
      break;
    case EpochMove::kWait:
      window.wait(survey, members);
      break;
    case EpochMove::kLock:
      window.lock(sync.target, sync.exclusive ? kOpenExclusive : kOpenShared);
      break;
    case EpochMove::kLockAll:
      window.lock_all();
      break;
    case EpochMove::kUnlock:
      window.completion(survey, sync.target, false);
      window.unlock(sync.target);
      break;
    case EpochMove::kUnlockAll:
      window.completion(survey, kAbsent, false);
      window.unlock_all();
      break;
    case EpochMove::kFlush:
      window.completion(survey, sync.target, sync.gets_only);
      break;
    case EpochMove::kWindowState:
      window.state(sync.first, sync.open);
      break;
    case EpochMove::kPeerState:
      if (sync.target != kAbsent) {
        window.peer_state(sync.target, sync.first, sync.second, sync.open);
      }
      break;
    case EpochMove::kRequestDone:
      if (survey) window.request_done(sync.rmaid);
      break;
    case EpochMove::kNone:
    case EpochMove::kCreate:
      break;
  }
}

}  // namespace kojak::merge
