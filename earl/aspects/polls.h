// A series of polls, joined: calls in turn that asked whether something has come, and found that it
// has not. docs/format.md, "Polls", says what its records mean.
//
// A value, whole with its last member; of a damaged trace members may be missing. No allocation but
// for members. Any thread.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "earl/call.h"
#include "epilog/format/field_values.h"

namespace kojak::earl {

// What reads and swaps of a series have got from others, and put there.
struct MovedBytes {
  std::uint64_t got = 0, put = 0;
};

struct PolledSeries {
  MpiPolled polled;
  std::vector<MpiPoll> members;  // in the order of their first polls

  void begin(const MpiPolled& record) {
    polled = record;
    members.clear();
  }
  bool whole() const { return members.size() >= raw(polled.members); }
  bool waits() const { return raw(polled.judged) == raw(PollClass::kWaits); }
  // No call that found something is part of its instance.
  bool alone() const { return (raw(polled.flags) & kPollAlone) != 0; }
  bool goes_on() const { return (raw(polled.flags) & kPollGoesOn) != 0; }

  // When it first asked at this place in the code; its begin, if it did not.
  Seconds first_at(RegionId region, CallSiteId site) const {
    return first([&](const MpiPoll& m) { return m.rid == region && m.csid == site; })
        .value_or(polled.begin);
  }
  // When it first asked for that request alone; nothing if it did not.
  std::optional<Seconds> first_for(RequestId request) const {
    return first([&](const MpiPoll& m) {
      return raw(m.kind) == raw(PollKind::kRequest) && m.reqid == request && raw(m.requests) <= 1;
    });
  }
  // When it first asked for a message like that.
  std::optional<Seconds> first_for(PeerId source, CommId com, Tag tag) const {
    return first([&](const MpiPoll& m) {
      return raw(m.kind) == raw(PollKind::kMessage) && m.cid == com &&
             (is_absent(m.plid) || m.plid == source) && (is_absent(m.tag) || m.tag == tag);
    });
  }

  // When it first tested the variable of SHMEM there; nothing if it did not.
  std::optional<Seconds> first_for_variable(std::uint64_t offset) const {
    return first([&](const MpiPoll& m) {
      const std::uint64_t place = raw(m.disp), count = std::max(raw(m.requests), 1u);
      return raw(m.kind) == raw(PollKind::kShmem) && raw(m.bytes) != 0 && m.disp != kUnknown64 &&
             place <= offset && offset - place < count * raw(m.bytes);
    });
  }
  // The same of a lock of SHMEM.
  std::optional<Seconds> first_for_lock(LockId lock) const {
    return first([&](const MpiPoll& m) {
      return raw(m.kind) == raw(PollKind::kShmem) && raw(m.bytes) == 0 && raw(m.disp) == raw(lock);
    });
  }

 private:
  template <class Is>
  std::optional<Seconds> first(Is&& is) const {
    std::optional<Seconds> found;
    for (const MpiPoll& m : members) {
      if (is(m) && (!found || m.first_enter < *found)) found = m.first_enter;
    }
    return found;
  }
};

}  // namespace kojak::earl
