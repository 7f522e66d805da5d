// What one process tells of each of its meetings: whether anything was open there.
//
// A meeting is a collective call in which each waits for all, on a communicator or window of all
// processes. Where nothing is open at a meeting, the run can be cut: no message, request, epoch,
// lock or collective call has one end before it and one behind it. That is found without matching
// partners. A RowMaker follows one local trace and gives at the exit of each meeting a row:
//   open       what is open at this process alone: requests, epochs, locks, operations; nothing
//              may be, at any process
//   messages   a sum over the messages sent (added) and received or cancelled (taken off), of a
//              number for each channel: communicator, pair and tag
//   agreement  a sum over the collective calls, epochs and partitioned messages so far, of a number
//              for each communicator, window or pair, times a weight for each process. The weights
//              of the members add up to 0, and those of the two sides of a pair
// The numbers are hashes, and sums wrap around: over all processes both sums are 0 where each
// channel is empty and where all members and sides have counted alike, and else not 0, but once in
// 2^40 runs or so. (Weights of 1 and 1 - members would not do: one member may be as far ahead as
// another one is behind.) Which record opens and ends what: records_at_rest.def.
//
// A process keeps at most 2,048 rows (RowTable). Owns all it holds; memory grows with definitions
// and with what is open. Nothing fails: a record that is too short does nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/model/window_standing.h"

namespace kojak::parallel {

// Which meeting: what it is on, and how many calls there were on that before.
struct MeetingKey {
  std::uint64_t hi = 0, lo = 0;  // identity of the communicator or window
  std::uint64_t ordinal = 0;
  bool window = false;
  auto operator<=>(const MeetingKey&) const = default;
};

// What may be open at a process; the bits of Row::open.
enum class Open : std::uint16_t {
  kRequests = 1,
  kEpochs = 2,     // access and exposure epochs
  kLocks = 4,      // of one target
  kUnflushed = 8,  // operations under a lock of all
  kFences = 16,    // operations in a fence epoch of another window
  kCalls = 32,     // the meeting is within another communication call
  kTeams = 64,     // a parallel region, or a lock of threads is held
  kLockAll = 128,  // a lock of all is held: at rest, unless a lock of one target is ever taken
  kUnknown = 256,  // recording was off, or counts were lost
};

struct Row {
  MeetingKey key;
  double enter = 0, exit = 0;  // as recorded
  std::uint64_t begins = 0;    // offset of the first record of the call, attributes before it
  std::uint64_t ends = 0;      // and of the one by which it is left
  std::uint64_t behind = 0;    // offset behind that
  std::uint64_t events = 0;    // before the call
  std::uint64_t in_call = 0;   // events of the call
  std::uint16_t open = 0;
  std::uint64_t messages = 0, agreement = 0;
};

class RowMaker {
 public:
  RowMaker(std::uint32_t rank, std::uint32_t processes, const Dialect& dialect,
           std::function<void(const Row&)> give, std::function<bool(const MeetingKey&)> wants = {});
  ~RowMaker();

  // All records of the trace in their order; `offset` of the record says where it stands.
  void take(const RawRecord& record);
  std::uint64_t received() const { return received_; }  // messages so far

  // A region that is open, in the trace's own numbers.
  struct Around {
    std::uint32_t id = kAbsent;
    bool call_site = false;  // `id` is that of one: what this enters is the region
    double time = 0;         // of the enter, as recorded
  };
  // Of a row that is given: what is open around the meeting, from the outermost inwards.
  std::vector<Around> around() const;
  MpiRole role() const;  // of the innermost region

  // ---- of the whole trace, when it is over
  // Why only one process can analyse it, if one of its records says so: it is one of those that
  // nobody can cut, or times go back, which the merge, or who adds up times, mends by what was
  // before. Empty if none does.
  std::string why_alone(std::uint32_t rank) const;
  // Some lock of one target was taken.
  bool locks() const { return locks_; }
  std::uint64_t events() const { return events_; }
  double began() const { return began_; }  // time of its first event, as recorded; infinite if none
  Definitions& definitions() { return definitions_; }

 private:
  // Communicators and windows: what they are to all of their members.
  struct Shared {
    bool known = false;  // its identity
    bool world = false;  // all processes are members
    std::uint64_t hi = 0, lo = 0;
    std::uint64_t weight = 0;  // this process's
    std::uint64_t calls = 0;   // collective ones so far
    std::uint64_t number(std::uint64_t what, std::uint64_t which = 0) const;
  };
  struct Window;
  struct Call;

  template <class R>
  void follow(const RawRecord& record);
  void enter(std::uint32_t region, bool call_site, double time, std::uint64_t offset);
  void leave();
  const RegionDef* region_of(const Call& call) const;
  const RegionDef* innermost() const;
  // A collective call on it ends, which may be a meeting.
  void collective(Shared& on, bool window, bool meets, double exit);
  void operation(WindowId wid, PeerId target);
  void lost() { unknown_ = true; }
  void note_times(const RawRecord& event);
  std::uint16_t open() const;
  Shared shared(bool known, std::uint64_t hi, std::uint64_t lo, const CommDef& comm) const;
  Shared& comm(CommId id);
  Window& window(WindowId id);
  std::uint64_t channel(CommId id, std::uint32_t from, std::uint32_t to, std::uint64_t tag);
  std::uint64_t pair(const Shared& on, std::uint32_t from, std::uint32_t to) const;

  void on(const MpiSend& r);
  void on(const MpiRecv& r);
  void on(const MpiSendComplete& r);
  void on(const MpiRecvRequest& r);
  void on(const MpiCancelled& r);
  void on(const MpiRequestComplete& r);
  void on(const MpiRequestFreed& r);
  void on(const MpiPartBegin& r);
  void on(const MpiPartEnd& r);
  void on(const MpiCollExit& r);
  void on(const MpiCollBegin& r);
  void on(const MpiGroupCall& r);
  void on(const MpiWinExit& r);
  void on(const MpiWinCollExit& r);
  void on(const MpiWinLock& r);
  void on(const MpiWinUnlock& r);
  void on(const MpiWinFlush& r);
  void on(const MpiWinLockAll& r);
  void on(const MpiWinUnlockAll& r);
  void on(const MpiRmaCall& r);
  void on(const MpiPut1ts& r);
  void on(const MpiGet1tsRemote& r);
  void on(const MpiGet1to& r);
  void on(const MpiPut1to& r);
  void on(const OmpFork& r);
  void on(const OmpJoin& r);
  void on(const OmpALock& r);
  void on(const OmpRLock& r);

  const std::uint32_t rank_, processes_;
  Dialect dialect_;
  std::function<void(const Row&)> give_;
  std::function<bool(const MeetingKey&)> wants_;
  Definitions definitions_;
  std::vector<Call> calls_;                                    // regions that are open
  std::unordered_map<std::uint32_t, std::uint64_t> requests_;  // open ones; of a send its channel
  std::unordered_map<std::uint32_t, Shared> comms_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Window>> windows_;
  Window* latest_ = nullptr;  // of these, asked for last
  WindowId latest_id_{};
  std::uint64_t messages_ = 0, agreement_ = 0, received_ = 0;
  std::uint64_t events_ = 0;
  std::int64_t teams_ = 0, thread_locks_ = 0;
  std::uint32_t request_ = kAbsent;  // of the attribute before the event
  std::uint64_t offset_ = 0;         // of the event
  std::uint64_t behind_ = 0;         // and behind it
  std::uint64_t attributes_ = 0;     // offset of the first attribute before the event, 0 if none
  // Of the latest event, and of the exit of the latest region that is one record.
  double time_ = -std::numeric_limits<double>::infinity(), left_ = time_;
  double began_ = std::numeric_limits<double>::infinity();
  bool unknown_ = false, alone_ = false, locks_ = false, backwards_ = false;
  const char* astray_ = nullptr;  // what lies where it does not belong
};

// The rows of one process, thinned by their meeting's key where they are too many: all processes
// keep those of the same meetings, but for how far each has thinned.
class RowTable {
 public:
  static constexpr std::size_t kMost = 2048;

  explicit RowTable(std::size_t most = kMost) : most_(most) {}
  void add(const Row& row);
  // Whether it keeps a row of that meeting, as far as it is thinned by now.
  bool keeps(const MeetingKey& key) const;
  // Keeps those that a table keeps which was thinned so far.
  void thin(unsigned bits);
  unsigned bits() const { return bits_; }
  const std::vector<Row>& rows() const { return rows_; }
  // Keeps what `wanted` says, and no more comes.
  template <class Wanted>
  void keep(Wanted&& wanted) {
    std::erase_if(rows_, [&](const Row& row) { return !wanted(row.key); });
  }
  template <class Archive>
  void visit(Archive& archive) {
    archive(most_, bits_, rows_);
  }

 private:
  std::size_t most_;
  std::vector<Row> rows_;
  unsigned bits_ = 0;  // low bits of the key's hash that are 0 in all of these
};

}  // namespace kojak::parallel
