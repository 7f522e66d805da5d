// Items of compact files that stand for several records of one location, which follow each other.
//
// The measurement writes what OpenMP tells at one moment as one of them, since each nanosecond
// counts there. They exist in files only: whoever reads gets the records (expand()), as if each had
// been written. Their types are free ones among those of events, from 222 downwards; nothing but
// encode.h and decode.h knows them.
#pragma once

#include "epilog/format/record/codec.h"

namespace kojak::compact {

// A construct that needs a lock is entered, the lock is free and taken, and what only its holder
// does begins.
struct LockEntered {
  static constexpr std::uint8_t kType = 217;
  LocationId lid{};
  Seconds time{};
  LockId lkid{};
  RegionId rid{};
  RegionId inner{};
  template <class F>
  void expand(F&& f) const {
    f(Enter{lid, time, rid, {}});
    f(OmpALock{lid, time, lkid});
    f(Enter{lid, time, inner, {}});
  }
};
// A lock of a construct is taken, and what only its holder does begins.
struct LockTaken {
  static constexpr std::uint8_t kType = 222;
  LocationId lid{};
  Seconds time{};
  LockId lkid{};
  RegionId rid{};
  template <class F>
  void expand(F&& f) const {
    f(OmpALock{lid, time, lkid});
    f(Enter{lid, time, rid, {}});
  }
};
// What only the holder does is over, the lock is free, and the construct is left.
struct LockLeft {
  static constexpr std::uint8_t kType = 221;
  LocationId lid{};
  Seconds time{};
  LockId lkid{};
  template <class F>
  void expand(F&& f) const {
    f(Exit{lid, time, {}});
    f(OmpRLock{lid, time, lkid});
    f(Exit{lid, time, {}});
  }
};
// A function takes a lock.
struct LockSet {
  static constexpr std::uint8_t kType = 220;
  LocationId lid{};
  Seconds time{}, taken{};
  RegionId rid{};
  LockId lkid{};
  template <class F>
  void expand(F&& f) const {
    f(Enter{lid, time, rid, {}});
    f(OmpALock{lid, taken, lkid});
    f(Exit{lid, taken, {}});
  }
};
// A parallel region begins whose team is one thread.
struct TeamOfOne {
  static constexpr std::uint8_t kType = 219;
  LocationId lid{};
  Seconds time{};
  RegionId rid{};
  Count64 team{};
  template <class F>
  void expand(F&& f) const {
    f(OmpFork{lid, time});
    f(Enter{lid, time, rid, {}});
    f(OmpTeam{lid, time, team, Count{0}, Count{1}});
  }
};
// A master leaves a parallel region, which ends its team.
struct TeamLeft {
  static constexpr std::uint8_t kType = 218;
  LocationId lid{};
  Seconds time{};
  template <class F>
  void expand(F&& f) const {
    f(Exit{lid, time, {}});
    f(OmpJoin{lid, time});
  }
};
// All that they stand for fits where one record does.
inline constexpr std::size_t kMostInJoint = 3, kMaxInJoint = 40;
static_assert(kMostInJoint * kMaxInJoint <= kMaxRecord);

template <class J>
concept Joint = requires(const J& j) {
  j.expand([](const auto&) {});
};

template <Joint J, class V>
KOJAK_INLINED constexpr void visit_fields(J& j, const Dialect&, V&& v) {
  constexpr FieldInfo kNone{"", ""};
  v.field(kNone, j.lid);
  v.field(kNone, j.time);
  if constexpr (requires { j.taken; }) v.field(kNone, j.taken);
  if constexpr (requires { j.lkid; }) v.field(kNone, j.lkid);
  if constexpr (requires { j.rid; }) v.field(kNone, j.rid);
  if constexpr (requires { j.inner; }) v.field(kNone, j.inner);
  if constexpr (requires { j.team; }) v.field(kNone, j.team);
}

// Calls f.template operator()<J>() for the struct of a type; false if it is none of these.
template <class F>
constexpr bool dispatch_joint(std::uint8_t type, F&& f) {
  switch (type) {
    case LockEntered::kType:
      f.template operator()<LockEntered>();
      return true;
    case LockTaken::kType:
      f.template operator()<LockTaken>();
      return true;
    case LockLeft::kType:
      f.template operator()<LockLeft>();
      return true;
    case LockSet::kType:
      f.template operator()<LockSet>();
      return true;
    case TeamOfOne::kType:
      f.template operator()<TeamOfOne>();
      return true;
    case TeamLeft::kType:
      f.template operator()<TeamLeft>();
      return true;
    default:
      return false;
  }
}

}  // namespace kojak::compact
