// Chains of waits. One kind leads from a cause back to the processes that wait, along the waits
// that passed on most of its cost. The other leads from a wait that was asked for to its cause,
// along the largest share.
//
// PassBack calls it for everything that it passes on, backward in time: the chain of a wait is
// complete before the wait passes anything on. Memory: the chains that were asked for. Not
// thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "expert/causes/log.h"
#include "expert/causes/rounds.h"

namespace kojak::expert {

class CauseChains {
 public:
  // A wait that passes on what it received.
  struct Link {
    WaitId wait = kNoWait;
    std::uint32_t length = 0;  // links of the chain that begins with it
  };
  // The one that passed the largest amount on to a wait or a cause.
  struct Via {
    double amount = 0;
    Link link;
  };
  // Chains that are asked for have at most so many links.
  static constexpr std::size_t kMostLinks = 4096;
  // What most of a wait was for.
  struct Next {
    LocationIndex culprit = kNoLocation;
    bool to_wait = false;
    std::uint32_t target = 0;  // a wait of the culprit, or a stretch
    Ticks from = 0, to = 0;    // the interval in which the culprit is to blame
    std::size_t link = 0;      // at least so many links are before it, see want()
  };

  explicit CauseChains(CauseLog& log) : log_(log) {}

  // Before anything is passed on, when waits are placed in the timelines.
  void begin(std::span<const CauseRequest::Asked> asked);
  bool wants(WaitId wait) const { return log_.waits[wait].wanted; }
  void follow(WaitId wait, const Next& next);
  // True if that is the largest one.
  static bool note(Via& via, double amount, const Link& link) {
    if (amount <= via.amount) return false;
    via = {amount, link};
    return true;
  }

  // When all is passed on: the chain to a cause, with at most so many links, those nearest to it.
  Chain to_cause(const ChainWanted& wanted) const;
  // Nothing: that time is no part of this log.
  std::optional<Chain> of(const CauseRequest::Asked& asked) const;

 private:
  // `link`: of a chain, from 0. What lies behind a chain's end is not kept.
  void want(WaitId wait, std::size_t link) {
    if (link >= kMostLinks) return;
    log_.waits[wait].wanted = true;
    Next& next = next_.try_emplace(wait, Next{.link = link}).first->second;
    next.link = std::min(next.link, link);
  }
  WaitId wait_before(const CauseRequest::Asked& asked) const;
  ChainLink link_of(WaitId wait, LocationIndex awaited) const;
  void end_chain(Chain& chain, LocationIndex culprit, StretchId stretch, Ticks from,
                 Ticks to) const;

  CauseLog& log_;
  std::unordered_map<WaitId, Next> next_;  // of the waits on the chains that were asked for
};

}  // namespace kojak::expert
