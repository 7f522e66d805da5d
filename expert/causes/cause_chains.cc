#include "expert/causes/cause_chains.h"

#include <algorithm>

namespace kojak::expert {

void CauseChains::begin(std::span<const CauseFinder::Asked> asked) {
  for (const CauseFinder::Asked& a : asked) {
    if (const WaitId wait = wait_before(a); wait != kNoWait) want(wait, 0);
  }
}

void CauseChains::follow(WaitId wait, const Next& next) {
  Next& known = next_[wait];
  const std::size_t link = known.link;
  known = next;
  known.link = link;
  if (next.to_wait) want(next.target, link + 1);
}

Chain CauseChains::to_cause(LocationIndex culprit, StretchId stretch, const Via& via, Ticks to,
                            std::size_t most) const {
  Chain chain;
  WaitId wait = via.link.wait;
  for (LocationIndex awaited = culprit; wait != kNoWait && chain.links.size() < most;) {
    chain.links.push_back(link_of(wait, awaited));
    awaited = place_of(wait).location;
    wait = c_.waits_[wait].via;
  }
  std::reverse(chain.links.begin(), chain.links.end());
  chain.left_out = via.link.length - chain.links.size();
  end_chain(chain, culprit, stretch, to);
  return chain;
}

Chain CauseChains::of(const CauseFinder::Asked& asked) const {
  Chain chain;
  WaitId wait = wait_before(asked);
  while (wait != kNoWait && chain.links.size() < kMostLinks) {
    const auto found = next_.find(wait);
    const bool known = found != next_.end() && found->second.culprit != kNoLocation;
    chain.links.push_back(link_of(wait, known ? found->second.culprit : c_.waits_[wait].by));
    if (!known) break;
    const Next& next = found->second;
    wait = next.to_wait ? next.target : kNoWait;
    if (!next.to_wait) end_chain(chain, next.culprit, next.target, next.to);
  }
  return chain;
}

WaitId CauseChains::wait_before(const CauseFinder::Asked& asked) const {
  const Piece* piece = c_.timelines_[asked.location].before(c_.since_start(asked.end));
  return piece == nullptr ? kNoWait : piece->wait;
}

ChainLink CauseChains::link_of(WaitId wait, LocationIndex awaited) const {
  const CauseFinder::WaitRecord& w = c_.waits_[wait];
  const CauseFinder::WaitPlace& place = place_of(wait);
  return {place.location,      awaited,          place.metric, place.call_path,
          seconds_at(w.begin), seconds_at(w.end)};
}

void CauseChains::end_chain(Chain& chain, LocationIndex culprit, StretchId stretch,
                            Ticks to) const {
  constexpr std::size_t kMostPieces = 4096;  // that the solver compares at most
  chain.explained = true;
  chain.stretch = c_.stretches_[stretch];
  chain.begin = chain.end = seconds_at(to);
  const Timeline& timeline = c_.timelines_[culprit];
  const Piece* piece = timeline.before(to);
  for (std::size_t i = 0; piece != nullptr && i < kMostPieces; ++i) {
    const Ticks begin = timeline.begin_of(*piece);
    if (piece->stretch == stretch && piece->wait == kNoWait) {
      chain.begin = seconds_at(begin);
      chain.end = seconds_at(std::min(piece->end, to));
      return;
    }
    piece = timeline.before(begin);
  }
}

}  // namespace kojak::expert
