#include "tools/otf2elg/converter.h"

namespace kojak::otf2 {
namespace {

constexpr std::uint8_t kPut = 1, kGet = 2, kGetAndPut = 3;
constexpr std::uint64_t kOwnCreation = 1, kFinalize = 2;  // keys of MPI_GROUP_CALL

bool is_request_completion(MpiRole role) {
  return role >= MpiRole::kWait && role <= MpiRole::kRequestFree;
}
bool is_flush(MpiRole role) {
  return role >= MpiRole::kWinFlush && role <= MpiRole::kWinFlushLocalAll;
}

}  // namespace

void Converter::write_enter() {
  if (!enter_is_due_) return;
  enter_is_due_ = false;
  const Frame& frame = stack_.back();
  out_.write(Enter{out_.lid(), frame.enter, frame.region->id, {}});
}

void Converter::enter(Seconds time, OTF2_RegionRef ref, CallSiteId site) {
  write_enter();
  Frame frame;
  frame.ref = ref;
  frame.region = &out_.region(ref);
  frame.enter = time;
  stack_.push_back(frame);
  if (is_absent(site)) {
    enter_is_due_ = true;
  } else {
    out_.write(EnterCs{out_.lid(), time, site, {}});
  }
}

void Converter::leave(Seconds time) {
  if (stack_.empty()) {
    ++left_out_["LEAVE of a region that was not entered"];
    return;
  }
  Frame frame = stack_.back();
  const MpiRole called = role();
  if (is_flush(called) && frame.lock == Frame::Lock::kNone) guess_flush(frame);
  if (called == MpiRole::kFinalize) {
    const CommId world = out_.world();
    write(MpiGroupCall{out_.lid(), time, world, Count64{kFinalize}, Count64{0}});
  }
  if (frame.created) {
    write(MpiGroupCall{out_.lid(), time, frame.comm, Count64{kOwnCreation},
                       Count64{creations_[frame.comm]++}});
    frame.leaves = Leaves::kPlain;
  }
  if (frame.transfer != 0) {
    write_transfer(frame, time);
  } else if (enter_is_due_ && frame.leaves == Leaves::kPlain && frame.lock == Frame::Lock::kNone) {
    out_.write(MpiCall{out_.lid(), frame.enter, time, frame.region->id});
  } else {
    write_enter();
    write_lock(frame, time);
    write_leaving(frame, time);
  }
  enter_is_due_ = false;
  stack_.pop_back();
}

void Converter::write_transfer(const Frame& frame, Seconds time) {
  if (enter_is_due_) {
    out_.write(MpiRmaCall{out_.lid(), frame.enter, time, frame.region->id, PeerId{frame.target},
                          frame.window, RmaId{frame.operation}, Bytes64{frame.sent},
                          Bytes64{frame.received}, Byte{frame.transfer}});
    return;
  }
  // Something else stands in the call: the transfer is a moment at its end.
  out_.write(Exit{out_.lid(), time, {}});
  out_.write(MpiRmaCall{out_.lid(), time, time, frame.region->id, PeerId{frame.target},
                        frame.window, RmaId{frame.operation}, Bytes64{frame.sent},
                        Bytes64{frame.received}, Byte{frame.transfer}});
}

void Converter::write_lock(const Frame& frame, Seconds time) {
  const PeerId target{frame.target};
  switch (frame.lock) {
    case Frame::Lock::kNone:
      return;
    case Frame::Lock::kLock:
      out_.write(MpiWinLock{out_.lid(), time, target, frame.window, Byte{frame.exclusive}});
      return;
    case Frame::Lock::kLockAll:
      out_.write(MpiWinLockAll{out_.lid(), time, frame.window});
      return;
    case Frame::Lock::kUnlock:
      out_.write(MpiWinUnlock{out_.lid(), time, target, frame.window});
      return;
    case Frame::Lock::kUnlockAll:
      out_.write(MpiWinUnlockAll{out_.lid(), time, frame.window});
      return;
    case Frame::Lock::kFlush: {
      const MpiRole role = frame.region->function->role;
      const bool local = role == MpiRole::kWinFlushLocal || role == MpiRole::kWinFlushLocalAll;
      out_.write(MpiWinFlush{out_.lid(), time, target, frame.window, Byte{local}});
      return;
    }
  }
}

void Converter::write_leaving(const Frame& frame, Seconds time) {
  switch (frame.leaves) {
    case Leaves::kPlain:
      out_.write(Exit{out_.lid(), time, {}});
      return;
    case Leaves::kCollective: {
      const Bytes sent = bytes_field(kAttrBytesSent, frame.sent);
      const Bytes received = bytes_field(kAttrBytesReceived, frame.received);
      out_.write(MpiCollExit{out_.lid(), time, {}, PeerId{frame.root}, frame.comm, sent, received});
      return;
    }
    case Leaves::kWindowCollective:
      out_.write(MpiWinCollExit{out_.lid(), time, {}, frame.window});
      return;
    case Leaves::kEpoch:
      out_.write(
          MpiWinExit{out_.lid(), time, {}, frame.window, frame.comm, Byte{frame.ends_epoch}});
      return;
    case Leaves::kTeam:
      out_.write(OmpCollExit{out_.lid(), time, {}});
      return;
  }
}

Bytes Converter::bytes_field(Byte kind, std::uint64_t bytes) {
  if (bytes < kAbsent) return static_cast<Bytes>(bytes);
  out_.write(AttrUi8{kind, Count64{bytes}});
  return absent<Bytes>();
}

RequestId Converter::request(std::uint64_t number) {
  const auto [it, added] = requests_.try_emplace(number, RequestId{process_.requests});
  if (added) ++process_.requests;
  return it->second;
}

void Converter::transfer(OTF2_RmaWinRef window, std::uint32_t remote, std::uint8_t kind,
                         std::uint64_t bytes, std::uint64_t got, std::uint64_t matching) {
  Frame& frame = call();
  const WindowId wid = out_.window(window);
  const std::uint32_t target = out_.window_peer(window, remote);
  if (frame.transfer + kind == kGetAndPut && frame.transfer != 0 && frame.window == wid &&
      frame.target == target) {
    // The other half of an atomic operation.
    frame.received = kind == kGet ? bytes : frame.sent;
    if (kind == kPut) frame.sent = bytes;
    frame.transfer = kGetAndPut;
    ++process_.operations;
    return;
  }
  if (is_absent(wid) || target == kNobody || frame.region == nullptr || frame.transfer != 0) {
    ++left_out_["one-sided operation whose window, target or call is not known"];
    return;
  }
  frame.window = wid;
  frame.target = target;
  frame.transfer = kind;
  frame.sent = bytes;
  frame.received = got;
  frame.operation = process_.operations;
  process_.operations += kind == kGetAndPut ? 2 : 1;
  pending_[Numbered{window, matching}] = {target, frame.operation,
                                          role() == MpiRole::kRequestTransfer};
}

void Converter::flush_is_known(OTF2_RmaWinRef window, std::uint32_t target) {
  Frame& frame = call();
  const MpiRole called = role();
  frame.lock = Frame::Lock::kFlush;
  frame.window = out_.window(window);
  const bool all = called == MpiRole::kWinFlushAll || called == MpiRole::kWinFlushLocalAll;
  frame.target = all ? kAbsent : target;
}

void Converter::completed(Seconds time, OTF2_RmaWinRef window, std::uint64_t matching) {
  const auto known = pending_.find(Numbered{window, matching});
  if (known == pending_.end()) return;
  const Pending pending = known->second;
  const MpiRole called = role();
  if (is_flush(called)) {
    flush_is_known(window, pending.target);
    // What is complete here only, a later flush completes at the target, under the same number.
    if (called == MpiRole::kWinFlushLocal || called == MpiRole::kWinFlushLocalAll) return;
  } else if (pending.by_request) {
    if (!is_request_completion(called)) return;
    const WindowId wid = out_.window(window);
    write(MpiRmaComplete{out_.lid(), time, wid, RmaId{pending.operation}});
  } else if (is_request_completion(called)) {
    return;  // another operation of this number may be meant
  }
  pending_.erase(known);
}

// A flush that completed nothing that the archive names: its window and target are known where only
// one lock is held.
void Converter::guess_flush(Frame& frame) {
  const MpiRole called = role();
  const bool all = called == MpiRole::kWinFlushAll || called == MpiRole::kWinFlushLocalAll;
  if (held_.size() != 1 || (!all && held_.front().target == kAbsent)) {
    ++left_out_["flush whose window or target is not known"];
    return;
  }
  frame.lock = Frame::Lock::kFlush;
  frame.window = out_.window(held_.front().window);
  frame.target = all ? kAbsent : held_.front().target;
}

void Converter::finish() {
  if (!posted_.empty()) left_out_["receive that was posted and never completed"] += posted_.size();
  // Operations of a communicator are numbered as they were begun; which one they are of, the
  // archive says where they end.
  std::map<CommId, std::uint64_t> ordinals;
  for (Begun& begun : begun_) {
    if (!begun.complete) {
      ++left_out_["non-blocking collective operation that was never completed"];
      continue;
    }
    begun.record.ordinal = Count64{ordinals[begun.record.cid]++};
    out_.replace(begun.offset, begun.record);
  }
}

}  // namespace kojak::otf2
