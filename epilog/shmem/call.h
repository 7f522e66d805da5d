// A SHMEM call as its wrapper sees it: what is recorded around it, and what it said.
//
// The wrapper makes one on its stack, calls the library, and ends it by one of the functions here,
// which write the call's records if it is recorded and take note of what the process did in any
// case. Nothing fails. docs/format.md lists the records.
#pragma once

#include "epilog/runtime/plain_poll.h"
#include "epilog/shmem/place.h"
#include "epilog/shmem/sets.h"

namespace kojak::measure {

enum class TransferMode : std::uint8_t { kPlain, kNbi, kStrided, kAtomic, kAtomicNbi };

// What a collective call of this shape moves, from the bytes of its argument.
enum class Shape : std::uint8_t { kNone, kBroadcast, kCollect, kFcollect, kAlltoall, kReduce };

// What a call waits for; the value is that of all variables, or one for each.
struct WaitShape {
  std::size_t bytes;
  int cmp;
  const void* value;
  bool each;
};
inline constexpr int kNotEqual = -1;  // of calls without comparison

// What a Recording defines a set by.
inline bool define_object(Recorder& r, CommObject& set) {
  return define_members(r, set);
}

inline CommObject* all_members() {
  return find_active_set(0, 0, static_cast<int>(the_session.run.size));
}

// A group that is looked up when the call has returned, under the lock.
struct ActiveSet {
  int start, log_stride, size;
  CommObject* find() const { return find_active_set(start, log_stride, size); }
};
struct TeamMembers {
  Team team;
  CommObject* find() const { return find_team(team); }
};
struct AllMembers {
  CommObject* find() const { return all_members(); }
};
// World rank of a set's member, or absent.
inline PeerId member_of(const CommObject& set, int index) {
  const auto i = static_cast<std::uint32_t>(index);
  return i < set.group->count ? static_cast<PeerId>(set.group->ranks[i]) : absent<PeerId>();
}

class ShmemCall {
 public:
  KOJAK_INLINED ShmemCall(const ShmemEntry& entry, const void* caller) {
    begin_frame(plain_.frame);
    begin_call(plain_, entry.function, entry.group, entry.blocks, caller);
  }
  // A test.
  struct Polls {};
  KOJAK_INLINED ShmemCall(const ShmemEntry& entry, const void* caller, Polls) : polls_(true) {
    begin_frame(plain_.frame);
    begin_poll(plain_, entry.function, entry.group, caller);
  }
  ShmemCall(const ShmemCall&) = delete;
  ShmemCall& operator=(const ShmemCall&) = delete;

  // What a call that may wait is about, while it lasts (MPI_OPEN_CALL): the process, and the place
  // of a variable or the number of a lock.
  void about(int pe, std::uint64_t what = 0) {
    if (!plain_.recorded) return;
    note_call(plain_, nullptr, PeerId{static_cast<std::uint32_t>(pe)}, Count64{what});
  }
  template <class M>
  void about_set(const M& members, int root) {
    if (!plain_.recorded) return;
    const BookkeepingLock lock;
    CommObject* const set = members.find();
    if (set == nullptr) return;
    note_call(plain_, set, root < 0 ? absent<PeerId>() : member_of(*set, root),
              Count64{set->collectives});
  }

  bool measured() const { return plain_.measured; }
  void end() { end_call(plain_); }

  // The addresses are those of the remote data.
  void put(Context ctx, const void* at, std::uint64_t bytes, int pe, TransferMode mode);
  void get(Context ctx, const void* at, std::uint64_t bytes, int pe, TransferMode mode);
  void get_and_put(Context ctx, const void* at, std::uint64_t bytes, int pe, TransferMode mode);
  void put_signal(Context ctx, const void* at, std::uint64_t bytes, int pe, const void* signal,
                  bool nbi);
  void completed(Context ctx);
  void context_ended(std::uint32_t number);
  void locked(const volatile void* lock);
  void tested_lock(const volatile void* lock, bool taken);
  void unlocked(const volatile void* lock);
  // `root` is an index into the set, or negative.
  template <class M>
  void collective(const M& members, int root, Shape shape, std::uint64_t bytes, bool completes) {
    CommObject* const set = counted([&] { return members.find(); });
    end_collective(set, root, shape, bytes, completes ? Completes::kDefault : Completes::kNothing);
  }
  void allocated(const void* block, std::size_t bytes);
  void freed();
  void finalized();
  // Whether a variable has what is waited for; of a test, whether it was found.
  void waited(const WaitShape& shape, const volatile void* variable, bool found);
  void waited_all(const WaitShape& shape, const void* variables, std::size_t count,
                  const int* status, bool found);
  void waited_any(const WaitShape& shape, const void* variables, std::size_t count,
                  std::size_t which);
  void waited_some(const WaitShape& shape, const void* variables, std::size_t count,
                   const std::size_t* which, std::size_t found);

 private:
  enum class Completes : std::uint8_t { kNothing, kDefault, kAll };

  // Counts the operation of a set, which only a call that the program makes does.
  template <class F>
  CommObject* counted(const F& find) {
    if (!plain_.measured) return nullptr;
    const BookkeepingLock lock;
    CommObject* const set = find();
    if (set == nullptr) return nullptr;
    ++set->collectives;
    set->collectives_changed = true;
    return set;
  }
  void end_collective(CommObject* set, int root, Shape shape, std::uint64_t bytes,
                      Completes completes);
  template <class F>
  void record(const F& records);
  // What a call asks for: a variable, or the first of so many; a lock, which has no bytes.
  struct Asked {
    const volatile void* at;
    std::size_t bytes, count;
  };
  // Of a call that waits for it, or tests it.
  template <class F>
  void record(const Asked& asked, bool found, const F& records);
  bool take_lock(Recording& call, const volatile void* lock);

  PlainCall plain_;
  bool polls_ = false;
};

}  // namespace kojak::measure
