// Who waits for whom while the clocks are corrected: causes that were read, and effects that were
// read before their causes.
//
// A Channel pairs the n-th cause with the n-th effect: messages of one sender, receiver,
// communicator and tag; posts with the completes of one pair of processes on a window; completes
// with waits; unlocks with the next holder. An Instance joins the members of one collective call or
// fence. Processes are numbers. No function blocks: the caller learns that a process must wait,
// and woken() returns the process once its cause has come. Memory: causes and instances that are
// open; beyond kMostCauses new causes are not kept and their effects go unchecked.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "epilog/format/record/types.h"
#include "merge/clock/call_causes.h"

namespace kojak::merge {

// An event that is the cause of another.
struct Cause {
  std::uint32_t process = kAbsent;
  std::uint64_t item = 0;  // of its process's timeline
  double linear = 0;       // its time before the correction
  double time = 0;         // and as far as it is corrected
};

enum class ChannelKind : std::uint8_t { kMessage, kPostStart, kPostComplete, kCompleteWait, kLock };

struct ChannelKey {
  ChannelKind kind = ChannelKind::kMessage;
  std::uint32_t object = 0;  // communicator, window, number of a pair of lock epochs
  std::uint32_t from = 0, to = 0;
  std::uint32_t tag = 0;
  bool operator==(const ChannelKey&) const = default;
};
struct ChannelKeyHash {
  std::size_t operator()(const ChannelKey& k) const {
    std::uint64_t h = (std::uint64_t{k.object} << 32 | k.tag) * 0x9E3779B97F4A7C15u;
    h ^= (std::uint64_t{k.from} << 32 | k.to) + (static_cast<std::uint64_t>(k.kind) << 60);
    h *= 0xD6E8FEB86659FD93u;
    return static_cast<std::size_t>(h ^ h >> 31);
  }
};

class Channels {
 public:
  static constexpr std::size_t kMostCauses = 200'000;

  // `absolute`: numbers come from state records, too, so that no channel may be forgotten.
  explicit Channels(bool absolute) : absolute_(absolute) {}

  // The next cause, or the one of that number; numbers ascend from 1.
  void publish(const ChannelKey& key, const Cause& cause, std::uint64_t number = 0);
  // The number of the next effect that is known to come.
  std::uint64_t expect(const ChannelKey& key) { return ++channels_[key].expected; }
  // After a gap in the recording: this many causes, or effects, of the process are over.
  void skip_causes(const ChannelKey& key, std::uint64_t number);
  void skip_effects(const ChannelKey& key, std::uint64_t number);
  // Numbers are no longer certain: the effects of this channel go unchecked.
  void distrust(const ChannelKey& key) { channels_[key].trusted = false; }

  enum class Found : std::uint8_t { kCause, kNone, kWait };
  // The cause of that number. kWait: `process` will be woken when it comes, or will not come.
  Found take(const ChannelKey& key, std::uint64_t number, std::uint32_t process, bool cause_ended,
             Cause& cause);
  // The process does not wait any longer.
  void give_up(const ChannelKey& key) { channels_[key].waiter = kAbsent; }

  // The processes that need not wait any longer, since the last call.
  std::vector<std::uint32_t>& woken() { return woken_; }
  std::size_t open() const { return causes_; }

 private:
  struct Channel {
    std::uint64_t published = 0, expected = 0, wanted = 0;
    std::uint32_t waiter = kAbsent;
    bool trusted = true;
    std::vector<std::pair<std::uint64_t, Cause>> causes;
  };
  void wake(Channel& channel);

  std::unordered_map<ChannelKey, Channel, ChannelKeyHash> channels_;
  std::vector<std::uint32_t> woken_;
  std::size_t causes_ = 0;
  bool absolute_;
};

// One member of a collective call, at its exit.
struct Arrival {
  Cause enter;
  double exit = 0;                  // before it is moved behind its causes
  double linear = 0;                // exit before the correction
  bool cause = false;               // it enters before others can leave
  bool effect = false;              // it leaves after others have entered
  std::uint64_t sent = 0, got = 0;  // bytes, where the rule asks for them
};

// kind, communicator or window, number of the call
using InstanceKey = std::tuple<std::uint8_t, std::uint32_t, std::uint64_t>;

struct Instance {
  CallRule rule = CallRule::kAll;
  std::uint32_t expected = 0;
  std::vector<Arrival> arrivals;
};

}  // namespace kojak::merge
