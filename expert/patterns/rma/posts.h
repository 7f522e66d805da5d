// The Win_post calls for which the calls of an access epoch may have waited.
//
// Fills a caller's vector, so that nothing is allocated per call. Nothing fails; any thread.
#pragma once

#include <vector>

#include "earl/aspects/gats_epochs.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

// The enters of the epoch's known posts, each with the clock error against the call `c`.
template <class Analysis>
void collect_posts(const earl::AccessEpoch& epoch, const Call& c, const Analysis& analysis,
                   std::vector<Cause>& posts) {
  posts.clear();
  for (const earl::AccessTarget& target : epoch.targets) {
    if (target.exposure == nullptr || !target.exposure->has_post) continue;
    const Call& post = target.exposure->post;
    posts.push_back({post.enter, analysis.delta(c, post), enter_of(post)});
  }
}

}  // namespace kojak::expert
