#include "expert/causes/cause_chains.h"

#include <algorithm>

#include "expert/causes/solve/delays.h"

namespace kojak::expert {

void CauseChains::begin(std::span<const CauseRequest::Asked> asked) {
  for (const CauseRequest::Asked& a : asked) {
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

Chain CauseChains::to_cause(const ChainWanted& wanted) const {
  Chain chain;
  WaitId wait = wanted.via;
  for (LocationIndex awaited = wanted.location;
       wait != kNoWait && chain.links.size() < wanted.most;) {
    chain.links.push_back(link_of(wait, awaited));
    awaited = log_.place_of(wait).location;
    wait = log_.waits[wait].via;
  }
  std::reverse(chain.links.begin(), chain.links.end());
  chain.left_out = wanted.links - chain.links.size();
  end_chain(chain, wanted.location, wanted.stretch, wanted.from, wanted.to);
  return chain;
}

std::optional<Chain> CauseChains::of(const CauseRequest::Asked& asked) const {
  const Ticks end = log_.since_start(asked.end);
  if (end <= log_.of_run.begin || (log_.of_run.goes_on && end > log_.of_run.end)) {
    if (log_.of_run.begins_behind || log_.of_run.goes_on) return std::nullopt;
  }
  Chain chain;
  WaitId wait = wait_before(asked);
  while (wait != kNoWait && chain.links.size() < kMostLinks) {
    const auto found = next_.find(wait);
    const bool known = found != next_.end() && found->second.culprit != kNoLocation;
    chain.links.push_back(link_of(wait, known ? found->second.culprit : log_.waits[wait].by));
    if (!known) break;
    const Next& next = found->second;
    wait = next.to_wait ? next.target : kNoWait;
    if (!next.to_wait) end_chain(chain, next.culprit, next.target, next.from, next.to);
  }
  return chain;
}

WaitId CauseChains::wait_before(const CauseRequest::Asked& asked) const {
  const Piece* piece = log_.timelines[asked.location].before(log_.since_start(asked.end));
  return piece == nullptr ? kNoWait : piece->wait;
}

ChainLink CauseChains::link_of(WaitId wait, LocationIndex awaited) const {
  const CauseLog::WaitRecord& w = log_.waits[wait];
  const CauseLog::WaitPlace& place = log_.place_of(wait);
  return {place.location,        awaited, place.metric, place.call_path, log_.seconds_at(w.begin),
          log_.seconds_at(w.end)};
}

void CauseChains::end_chain(Chain& chain, LocationIndex culprit, StretchId stretch, Ticks from,
                            Ticks to) const {
  chain.explained = true;
  chain.stretch = log_.stretches[stretch];
  chain.begin = chain.end = log_.seconds_at(to);
  const bool serves = chain.stretch.kind == Stretch::Kind::kAnswering;
  const Timeline& timeline =
      log_.doing(culprit, serves ? CauseLog::Known::kService : CauseLog::Known::kDirect);
  const Piece* piece = timeline.before(to);
  for (std::size_t i = 0; piece != nullptr && i < CauseLog::kMostPieces; ++i) {
    // (Of the call that all met in it begins with the interval.)
    const Ticks whole = timeline.begin_of(*piece);
    const Ticks begin = chain.stretch.kind == Stretch::Kind::kCall ? std::max(whole, from) : whole;
    if (piece->stretch == stretch && piece->wait == kNoWait) {
      chain.begin = log_.seconds_at(begin);
      chain.end = log_.seconds_at(std::min(piece->end, to));
      return;
    }
    piece = begin > from ? timeline.before(begin) : nullptr;
  }
}

}  // namespace kojak::expert
