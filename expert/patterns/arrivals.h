// On whom calls depend beside the one that a pattern names, waiting or not: of several that a call
// needs, patterns name only who decided.
//
// Told of everything before the patterns are. Whoever asks what a run without some of its waits
// would be needs it; nobody else does. Memory: the members of one operation.
#pragma once

#include <vector>

#include "expert/patterns/catalogue.h"
#include "expert/patterns/rma/late_post.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/stream.h"

namespace kojak::expert {

class Arrivals {
 public:
  template <class Out>
  void on_message_call(const earl::MessageCall& m, Out& out) const {
    if (m.received.size() < 2 || m.call->paused || !LateSender::waits(*m.call) ||
        first_one_ends(*m.call)) {
      return;
    }
    for (const earl::Message* message : m.received) {
      out.arrival(*m.call, enter_of(message->send_call));
    }
  }
  template <class Out>
  void on_collective(const CollectiveView& view, Out& out) {
    if (view.all_wait_for_all() &&
        !out.is_shmem(view.instance(), TimeClass::kShmemCollective, true)) {
      came_together(view.members(), out);
    }
    if (view.rule() != MpiRole::kAllToOne || view.root() == nullptr) return;
    for (const earl::CollectiveMember& m : view.members()) {
      if (&m != view.root() && view.exchange(m, *view.root())) {
        out.arrival(view.root()->call, enter_of(m.call));
      }
    }
  }
  template <class Out>
  void on_window_collective(const earl::WindowInstance& instance, Out& out) {
    came_together(instance.members, out);
  }
  template <class Out>
  void on_access_transaction(const earl::AccessEpoch& epoch, Out& out) {
    if (epoch.paused || epoch.targets.size() < 2) return;
    for (const Call* c : {&epoch.start, &epoch.finish}) {
      if (c == &epoch.start ? !epoch.has_start : !epoch.has_finish) continue;
      collect_posts(epoch, *c, out, posts_);
      for (const Cause& post : posts_) {
        if (post.time <= c->exit) out.arrival(*c, post.by);
      }
    }
  }
  template <class Out>
  void on_exposure_transaction(const earl::ExposureEpoch& epoch, Out& out) const {
    if (epoch.paused || !epoch.has_finish || epoch.origins.size() < 2) return;
    for (const earl::ExposureOrigin& o : epoch.origins) {
      if (o.access != nullptr && o.access->has_finish && !o.access->paused) {
        out.arrival(epoch.finish, enter_of(o.access->finish));
      }
    }
  }
  // The first phase of a barrier in two, whose second none leaves before all have come.
  template <class Out>
  void on_notified(const CollectiveView& view, Out& out) {
    collect(view.members());
    KOJAK_TELL(out.listeners(), on_passed, arrivals_);
  }
  // All members of an operation in which each waits for all.
  template <class Members, class Out>
  void came_together(const Members& members, Out& out) {
    if (members.empty() || !out.own(call_of(*members.begin()))) return;
    collect(members);
    KOJAK_TELL(out.listeners(), on_meeting, out.operation().number, arrivals_);
  }

 private:
  template <class Members>
  void collect(const Members& members) {
    arrivals_.clear();
    for (const auto& m : members) {
      const Call& call = call_of(m);
      arrivals_.push_back({call.index, call.enter, call.exit, call.exit_pos});
    }
  }
  static const Call& call_of(const Call& call) { return call; }
  template <class Member>
  static const Call& call_of(const Member& member) {
    return member.call;
  }

  // Kept for their memory only.
  std::vector<Arrival> arrivals_;
  std::vector<Cause> posts_;
};

}  // namespace kojak::expert
