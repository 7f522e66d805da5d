// Reads several local traces as one, by corrected time, equal times by their order in the list.
//
// Owns nothing: the streams must outlive the call. f(Stream&) is called for each event,
// done(Stream&) when a trace has ended. No errors: a trace that can no longer be read ends there.
#pragma once

#include <vector>

#include "merge/clock/stream.h"
#include "merge/input/kway.h"

namespace kojak::merge {

template <class F, class Done>
void read_in_time_order(std::vector<Stream>& streams, F&& f, Done&& done) {
  std::vector<double> times;
  times.reserve(streams.size());
  for (Stream& s : streams) {
    const bool any = s.advance();
    if (!any) done(s);
    times.push_back(any ? s.time : Tournament::kFinished);
  }
  Tournament tournament(times);
  while (!tournament.finished()) {
    const std::uint32_t winner = tournament.winner().stream;
    const Tournament::Entry limit = tournament.runner_up();
    Stream& s = streams[winner];
    bool more = true;
    do {
      f(s);
      more = s.advance();
    } while (more && Tournament::Entry{s.time, winner}.before(limit));
    if (!more) done(s);
    tournament.replace(more ? s.time : Tournament::kFinished);
  }
}

}  // namespace kojak::merge
