// One process on its way through a causal pass: its threads, what it has open, and the event that
// it stands at. Internal to causal_pass.cc.
//
// Owns its inputs and tables; memory grows with open regions, posted receives, windows and
// communicators.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "merge/clock/causal_pass.h"
#include "merge/clock/stream.h"

namespace kojak::merge {

struct OpenRegion {
  std::uint32_t region = kAbsent;  // merged
  Cause enter;                     // its item only where the region can be a cause
};

struct CausalThread {
  CausalThread(FileCache& files, const LocalTrace& trace, const InputBuffers& buffers)
      : stream(files, trace, buffers) {}
  Stream stream;
  std::vector<OpenRegion> stack;
  std::uint32_t assertion = 0;
  bool more = false;
  // Lock edges that begin or end here, by position: (position, number of the edge).
  std::vector<std::pair<std::uint64_t, std::uint32_t>> begins, ends;
  std::size_t next_begin = 0, next_end = 0;

  // The edge at this position, or absent.
  static std::uint32_t edge_at(const std::vector<std::pair<std::uint64_t, std::uint32_t>>& edges,
                               std::size_t& next, std::uint64_t position) {
    while (next < edges.size() && edges[next].first < position) ++next;
    if (next == edges.size() || edges[next].first != position) return kAbsent;
    return edges[next++].second;
  }
};

// A receive that has been posted and not completed.
struct PostedReceive {
  ChannelKey channel;
  std::uint64_t number = 0;  // of the message, for a receive that names sender and tag
  std::uint64_t order = 0;   // among the receives of its process
  bool wildcard = false;
  bool certain = true;
};

// A cause that an effect needs.
struct Need {
  ChannelKey channel;
  std::uint64_t number = 0;
  bool checked = true;  // false: only taken out, its partner is not certain
  // The call need not have waited for it: not worth a deadlock, and later causes than this bound
  // are no matter of clocks.
  bool soft = false;
  double bound = std::numeric_limits<double>::infinity();
};

struct CausalProcess {
  std::uint32_t rank = 0;
  std::vector<CausalThread> threads;
  ControlledTimeline* timeline = nullptr;
  ProcessEpochs epochs;
  std::unordered_map<std::uint32_t, std::uint64_t> collectives;  // by communicator
  std::unordered_map<std::uint32_t, PostedReceive> posted;       // by request
  std::uint64_t receives = 0;                                    // posted or begun so far
  std::uint32_t wildcards = 0;                                   // posted ones
  bool messages_certain = true;
  bool ended = false;

  // The event that it stands at.
  std::uint32_t thread = 0;
  double linear = 0, time = 0;  // as read; as far as it is corrected without its own causes
  double earliest = 0;          // as the other members of its call allow
  bool examined = false, pops = false, publishes = false;
  std::vector<Need> needs;
  std::size_t need = 0;
  std::vector<Cause> causes;
  std::vector<double> bounds;  // of the causes
  InstanceKey instance{};
  bool in_instance = false;                // waits for the other members
  std::optional<std::uint32_t> completes;  // the request of a collective that was begun
  bool queued = false;

  CausalThread& current() { return threads[thread]; }
  // Goes on to its next event; false at the end.
  bool select(bool correcting) {
    const CausalThread* best = nullptr;
    for (std::uint32_t i = 0; i < threads.size(); ++i) {
      const CausalThread& t = threads[i];
      if (!t.more || (best != nullptr && best->stream.time <= t.stream.time)) continue;
      best = &t;
      thread = i;
    }
    if (best == nullptr) return false;
    linear = best->stream.time;
    time = correcting ? timeline->follow(linear) : linear;
    examined = pops = publishes = in_instance = false;
    completes.reset();
    needs.clear();
    causes.clear();
    bounds.clear();
    need = 0;
    earliest = time;
    return true;
  }
};

}  // namespace kojak::merge
