#include "merge/complete/sync.h"

namespace kojak::merge {
namespace {

SyncKind kind_of(MpiRole role, bool ends) {
  switch (role) {
    case MpiRole::kWinStart:
      return SyncKind::kStart;
    case MpiRole::kWinPost:
      return SyncKind::kPost;
    case MpiRole::kWinComplete:
      return SyncKind::kComplete;
    case MpiRole::kWinWait:
      return SyncKind::kWait;
    case MpiRole::kWinTest:  // a false one opens and closes nothing
      return ends ? SyncKind::kWait : SyncKind::kNone;
    default:
      return SyncKind::kNone;
  }
}

}  // namespace

bool decode_sync(const RawRecord& record, const Dialect& dialect, MpiRole role,
                 std::uint32_t assertion, Sync& sync) {
  sync = {};
  const auto with = [&]<class R>(R r, auto&& fill) {
    if (decode(record, dialect, r) != nullptr) return false;
    sync.window = raw(r.wid);
    fill(r);
    return sync.kind != SyncKind::kNone;
  };
  switch (static_cast<RecordType>(record.type)) {
    case RecordType::kMpiWinCollExit:
      return with(MpiWinCollExit{}, [&](const auto&) {
        if (role == MpiRole::kWinFence) sync.kind = SyncKind::kFence;
        if (role == MpiRole::kWinFree) sync.kind = SyncKind::kFree;
        sync.no_succeed = (assertion & kAssertNoSucceed) != 0;
        sync.unknown_role = role == MpiRole::kOther;
      });
    case RecordType::kMpiWinExit:
      return with(MpiWinExit{}, [&](const auto& r) {
        sync.kind = kind_of(role, raw(r.synex) == 1);
        sync.comm = raw(r.cid);
        sync.unknown_role = role == MpiRole::kOther;
      });
    case RecordType::kMpiWinLock:
      return with(MpiWinLock{}, [&](const auto& r) {
        sync.kind = SyncKind::kLock;
        sync.target = raw(r.llid);
      });
    case RecordType::kMpiWinUnlock:
      return with(MpiWinUnlock{}, [&](const auto& r) {
        sync.kind = SyncKind::kUnlock;
        sync.target = raw(r.llid);
      });
    case RecordType::kMpiWinLockAll:
      return with(MpiWinLockAll{}, [&](const auto&) { sync.kind = SyncKind::kLockAll; });
    case RecordType::kMpiWinUnlockAll:
      return with(MpiWinUnlockAll{}, [&](const auto&) { sync.kind = SyncKind::kUnlockAll; });
    case RecordType::kMpiWinFlush:
      return with(MpiWinFlush{}, [&](const auto& r) {
        sync.kind = SyncKind::kFlush;
        sync.target = raw(r.tlid);
        sync.gets_only = raw(r.local) != 0;
      });
    case RecordType::kMpiRmaComplete:
      return with(MpiRmaComplete{}, [&](const auto& r) {
        sync.kind = SyncKind::kRmaComplete;
        sync.rmaid = raw(r.rmaid);
      });
    case RecordType::kWinState:
      return with(WinState{}, [&](const auto& r) {
        sync.kind = SyncKind::kWinState;
        sync.first = raw(r.fences);
        sync.open = raw(r.open);
      });
    case RecordType::kEpochState:
      return with(EpochState{}, [&](const auto& r) {
        sync.kind = SyncKind::kPeerState;
        sync.target = raw(r.plid);
        sync.first = raw(r.access);
        sync.second = raw(r.exposure);
        sync.open = raw(r.open);
      });
    default:
      return false;
  }
}

void apply_sync(WindowEpochs& window, const Sync& sync, std::span<const std::uint32_t> members,
                bool survey) {
  switch (sync.kind) {
    case SyncKind::kFence:
      window.fence(survey, sync.no_succeed);
      break;
    case SyncKind::kFree:
      window.free(survey);
      break;
    case SyncKind::kStart:
      window.start(members);
      break;
    case SyncKind::kPost:
      window.post(members);
      break;
    case SyncKind::kComplete:
      window.complete(survey, members);
      break;
    case SyncKind::kWait:
      window.wait(survey, members);
      break;
    case SyncKind::kLock:
      window.lock(sync.target);
      break;
    case SyncKind::kLockAll:
      window.set_lock_all();
      break;
    case SyncKind::kUnlock:
      window.completion(survey, sync.target, false);
      window.unlock(sync.target);
      break;
    case SyncKind::kUnlockAll:
      window.completion(survey, kAbsent, false);
      window.unlock_all();
      break;
    case SyncKind::kFlush:
      window.completion(survey, sync.target, sync.gets_only);
      break;
    case SyncKind::kWinState:
      window.state(sync.first, sync.open);
      break;
    case SyncKind::kPeerState:
      if (sync.target != kAbsent) {
        window.peer_state(sync.target, sync.first, sync.second, sync.open);
      }
      break;
    case SyncKind::kRmaComplete:
      if (survey) window.request_done(sync.rmaid);
      break;
    case SyncKind::kNone:
      break;
  }
}

}  // namespace kojak::merge
