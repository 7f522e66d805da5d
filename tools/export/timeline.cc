#include "tools/export/timeline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "earl/file_gaps.h"
#include "earl/replay.h"
#include "tools/export/clock.h"

namespace kojak::exporting {
namespace {

// Lines whose ends the clocks turn round are shown as moments.
void put(Shown& shown, Line line, Exported& exported) {
  if (line.end < line.begin) {
    line.end = line.begin;
    ++exported.turned;
  }
  shown.line(line);
}

struct Regions : earl::Sink {
  Regions(const earl::Trace& t, RmaView v, Shown& s, Clock& c, Exported& e,
          const std::function<void(std::uint64_t)>& p)
      : trace(t), view(v), shown(s), clock(c), exported(e), progress(p) {}

  void on_enter(const earl::OpenCall& call) {
    shown.enter(call.index, clock(call.enter), call.region, call.csite);
    if ((++seen & 0xFFFF) == 0) progress(call.enter_pos);
  }
  void on_call(const earl::Call& call, std::span<const std::uint64_t> metrics) {
    const std::uint64_t time = clock(call.exit);
    shown.leave(call.index, time);
    if (!metrics.empty()) shown.counters(call.index, time, metrics);
  }
  void on_message_call(const earl::MessageCall& call) {
    for (const earl::Message* m : call.received) {
      const std::uint32_t to = trace.index(m->recv_loc);
      if (to == kAbsent) continue;
      put(shown,
          {Line::Kind::kMessage, m->send_call.index, to, clock(m->send_time), clock(m->recv_time),
           raw(m->bytes), raw(m->tag)},
          exported);
    }
  }
  void on_exposure_transaction(const earl::ExposureEpoch& exposure) {
    if (view != RmaView::kDependencies) return;
    for (const earl::ExposureOrigin& origin : exposure.origins) {
      const earl::AccessEpoch* access = origin.access;
      if (access == nullptr) continue;
      if (exposure.has_post && access->has_start) {
        dependency(exposure.post.index, exposure.post.enter, access->start.index,
                   access->start.exit);
      }
      if (access->has_finish && exposure.has_finish) {
        dependency(access->finish.index, access->finish.enter, exposure.finish.index,
                   exposure.finish.exit);
      }
    }
  }
  void dependency(std::uint32_t from, Seconds begin, std::uint32_t to, Seconds end) {
    put(shown, {Line::Kind::kDependency, from, to, clock(begin), clock(end), 0, 0}, exported);
  }

  const earl::Trace& trace;
  RmaView view;
  Shown& shown;
  Clock& clock;
  Exported& exported;
  const std::function<void(std::uint64_t)>& progress;
  std::uint64_t seen = 0;
};

// Pairs starts and ends of transfers, by origin and number; those without windows apart.
class Transfers {
 public:
  Transfers(const earl::Trace& trace, RmaView view, Shown& shown, Clock& clock, Exported& exported)
      : trace_(trace), view_(view), shown_(shown), clock_(clock), exported_(exported) {}

  void take(const earl::Event& event) {
    const std::uint32_t here = trace_.index(event.loc);
    if (here == kAbsent) return;
    const std::uint64_t time = clock_(event.time);
    if (view_ == RmaView::kLogical && (earl::is_win_coll_exit(event.type) ||
                                       (earl::is_win_exit(event.type) && event.code == 1))) {
      left_[{here, event.win}] = time;
    }
    if (!earl::is_rma_comm(event.type)) return;
    const bool at_origin = earl::is_put_start(event.type) || earl::is_get_end(event.type) ||
                           earl::is_get_origin(event.type);
    const std::uint32_t peer = trace_.main_index(ProcessId{raw(event.peer)});
    const std::uint32_t origin = at_origin ? here : peer;
    if (origin == kAbsent || earl::is_put_origin(event.type)) return;
    const Key key{raw(trace_.process(origin)), raw(event.rmaid),
                  is_absent(event.win) && !earl::is_get_origin(event.type)};
    if (earl::is_get_origin(event.type)) {
      if (view_ == RmaView::kClosed) asked_[key] = time;
    } else if (earl::is_rma_start(event.type)) {
      open_[key] = {here, time, raw(event.sent)};
      shown_.transfer(origin, time, event.win, raw(event.sent));
      if (const auto asked = asked_.find(key); asked != asked_.end()) {
        put(shown_, {Line::Kind::kRequest, origin, here, asked->second, time, 0, 0}, exported_);
        asked_.erase(asked);
      }
    } else if (const auto open = open_.find(key); open != open_.end()) {
      const bool get = earl::is_get_end(event.type);
      Line line{get ? Line::Kind::kGet : Line::Kind::kPut,
                open->second.location,
                here,
                open->second.time,
                time,
                open->second.bytes,
                0};
      if (get && view_ == RmaView::kLogical) {
        // Before the origin leaves its synchronisation, and not after the target leaves its own.
        std::uint64_t begin = time == 0 ? 0 : time - 1;
        const auto left = left_.find({line.from, event.win});
        if (left != left_.end() && left->second > line.begin) begin = std::min(begin, left->second);
        line.begin = std::max(line.begin, begin);
      }
      put(shown_, line, exported_);
      open_.erase(open);
    }
  }
  std::uint64_t open() const { return open_.size(); }

 private:
  struct Key {
    std::uint32_t origin, number;
    bool without_window;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t both = std::uint64_t{key.origin} << 32 | key.number;
      return std::hash<std::uint64_t>()(both * 2 + key.without_window);
    }
  };
  struct Start {
    std::uint32_t location = 0;
    std::uint64_t time = 0, bytes = 0;
  };
  const earl::Trace& trace_;
  RmaView view_;
  Shown& shown_;
  Clock& clock_;
  Exported& exported_;
  std::unordered_map<Key, Start, Hash> open_;
  std::unordered_map<Key, std::uint64_t, Hash> asked_;
  std::map<std::pair<std::uint32_t, WindowId>, std::uint64_t> left_;
};

}  // namespace

std::optional<RmaView> rma_view(std::string_view name) {
  for (const RmaViewName& known : kRmaViews) {
    if (known.name == name) return known.view;
  }
  return std::nullopt;
}

std::string rma_view_names() {
  std::string names;
  for (const RmaViewName& view : kRmaViews) {
    names += names.empty() ? "" : ", ";
    names += view.name;
  }
  return names;
}

Result<Exported> show(earl::Trace& trace, RmaView view, Shown& shown,
                      const std::function<void(std::uint64_t)>& progress) {
  Exported exported;
  Clock clock;
  auto again = earl::Trace::open(trace.path());
  if (!again) return again.error();
  Transfers transfers(*again, view, shown, clock, exported);
  for (earl::Event event; again->next(event);) {
    transfers.take(event);
    if ((event.pos & 0xFFFF) == 0) progress(event.pos / 2);
  }
  const std::uint64_t events = again->events_read();
  const std::function<void(std::uint64_t)> rest = [&](std::uint64_t at) {
    progress((events + at) / 2);
  };
  Regions regions(trace, view, shown, clock, exported, rest);
  earl::Replay replay(trace, regions);
  replay.run();
  exported.gaps = earl::gaps_of(trace);
  exported.damage = trace.damage();
  exported.end = clock.last();
  exported.open = transfers.open();
  return exported;
}

}  // namespace kojak::exporting
