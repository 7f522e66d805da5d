// Long because what the page keeps of every callback of the replay stands here, in a few lines
// each.
#include "expert/page/trace_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "earl/trace.h"
#include "epilog/format/service.h"
#include "expert/metrics/time_class.h"
#include "expert/page/clock.h"
#include "expert/patterns/catalogue.h"

namespace kojak::html {
namespace {

// What the analysis' pass tells.
class Content {
 public:
  Content(earl::Trace& trace, const TraceLimits& limits, const earl::Standing* standing,
          const expert::Gate* gate, TraceContent& out)
      : trace_(trace),
        out_(out),
        sums_(trace.location_count(), trace.process_count(), limits),
        first_(standing == nullptr ? std::nullopt : std::optional(standing->run_began)),
        gate_(gate),
        passed_(trace.location_count(), gate == nullptr || standing == nullptr),
        processor_(trace.location_count()),
        received_(trace.location_count()) {
    out_.processes = trace.process_count();
    list_regions();
    list_communicators();
    trace.definitions().windows.for_each([&](WindowId id, const WindowDef&) { window(raw(id)); });
    for (std::uint32_t i = 0; standing != nullptr && i < standing->locations.size(); ++i) {
      sums_.boxes.begin_shut(i, static_cast<std::uint32_t>(standing->locations[i].open.size()));
      received_[i] = standing->locations[i].received;
    }
  }
  TraceSums& sums() { return sums_; }

  void on_begin(Seconds first) { clock_.begin = sums_.begin = first_.value_or(first).value; }
  void on_end(Seconds last) { sums_.end = last.value; }

  void on_enter(const earl::OpenCall& call) {
    sums_.boxes.enter(call.index, clock_(call.enter), path(call));
  }
  void on_call(const earl::Call& call) {
    const Nanoseconds begin = clock_(call.enter), end = clock_(call.exit);
    sums_.boxes.exit(call.index, end);
    if (call.function != nullptr || (shmem_ && is_shmem(call.region)))
      sums_.density.add_mpi(call.index, begin, end);
  }
  // Of the part before, or of the one behind.
  void on_call_before(const earl::Call& call) {
    if (call.incomplete) return;  // it goes on
    sums_.boxes.forget(call.index);
    if (call.exit_pos + 1 != gate_->locations[call.index].first) return;
    passed_[call.index] = true;
    sums_.boxes.opened(call.index);
  }

  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
    constexpr double kSleeps = 0.1;
    Box* const box = sums_.boxes.innermost(call.index);
    if (box == nullptr) return;
    const MpiPolled& polled = series.polled;
    const std::uint64_t polls = raw(polled.count) + (series.alone() ? 0 : 1);
    box->calls = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(polls, 1, Box::kMostCalls)) &
                 Box::kMostCalls;
    box->joined = 1;
    box->sleeping = polled.asleep.value > kSleeps * (polled.time - polled.begin).value;
  }

  void on_wait(const expert::Wait& wait) {
    if (expert::kPartOfPattern[wait.metric] || !(wait.begin < wait.end)) return;
    const bool known = wait.ended_by.known();
    const WaitBox box{.begin = clock_(wait.begin),
                      .end = clock_(wait.end),
                      .waited = clock_.length(wait.waiting),
                      .metric = wait.metric,
                      .awaited = known ? wait.ended_by.location : WaitBox::kNobody,
                      .ended = known ? clock_(wait.ended_by.time) : 0,
                      .path = wait.call_path};
    if (box.waited == 0) return;
    const std::uint32_t on = wait.operation.object == expert::Operation::Object::kWindow
                                 ? window(wait.operation.id)
                                 : Traffic::kNone;
    sums_.traffic.add(waiting(wait.location, box, on), box.waited);
    sums_.density.add_wait(wait.location, box.begin, box.end, box.waited);
    sums_.waits.add(wait.location, box);
    sums_.boxes.waited(wait.location, {.begin = clock_(wait.enter),
                                       .end = std::max(clock_(wait.enter), clock_(wait.exit)),
                                       .waited = box.waited,
                                       .path = wait.call_path});
  }

  // Of who serves: it waited for nobody.
  void on_moved(expert::CallPathIndex path, expert::LocationIndex location,
                expert::MetricIndex from, std::optional<expert::MetricIndex> to) {
    std::vector<WaitBox>& waits = sums_.waits.row(location);
    for (WaitBox& box : waits) {
      if (box.path != path || box.metric != from) continue;
      sums_.traffic.take_back(waiting(location, box, Traffic::kNone), box.waited, box.waits);
      box.metric = to.value_or(from);
      box.awaited = WaitBox::kNobody;
      box.ended = 0;
      if (!to) box.waited = 0;
    }
    std::erase_if(waits, [](const WaitBox& box) { return box.waited == 0; });
  }

  void on_processor_before(std::uint32_t row, Seconds time, const earl::ProcessorTimes& times) {
    if (times.wanted_known()) processor_[row] = {true, clock_(time), times.wanted};
  }
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times) {
    const Reading last = processor_[in.index];
    if (times.wanted_known() && last.any && times.wanted > last.wanted) {
      sums_.stripes.add(in.index, {last.time, clock_(time), times.wanted - last.wanted});
    }
    on_processor_before(in.index, time, times);
  }

  void on_send(const earl::SendEvent& send) {
    if (!passed_[send.call->index]) return;
    sums_.traffic.add({.from = raw(send.call->process),
                       .to = raw(send.destination),
                       .kind = TrafficKind::kMessage,
                       .region = region(send.call->region)},
                      raw(send.bytes));
  }
  void on_message_call(const earl::MessageCall& completed) {
    if (!own(*completed.call)) return;
    for (const earl::Message* message : completed.received) {
      const std::uint32_t to = trace_.index(message->recv_loc);
      if (to == kAbsent) continue;
      const MessageArrow arrow{message->send_call.index, to, clock_(message->send_time),
                               clock_(message->recv_time), raw(message->bytes)};
      const std::uint64_t identity = identity_of(received_[to]++, to);
      if (sums_.messages.begin(identity)) sums_.messages.add(identity, arrow);
    }
  }

  void on_transfer(const earl::Transfer& transfer) {
    if (!passed_[transfer.call->index]) return;
    const std::uint32_t origin = raw(transfer.origin), target = raw(transfer.target);
    const std::uint32_t on = window(raw(transfer.window));
    sums_.traffic.add({.from = transfer.get ? target : origin,
                       .to = transfer.get ? origin : target,
                       .kind = transfer.get ? TrafficKind::kGet : TrafficKind::kPut,
                       .window = on,
                       .region = region(transfer.call->region)},
                      raw(transfer.bytes));
    const std::uint32_t row = trace_.main_index(transfer.target);
    if (row == kAbsent || !sums_.transfers.begin(transfer.origin, transfer.rmaid)) return;
    const bool shmem = is_absent(transfer.window);
    const TransferArrow arrow{.get = transfer.get,
                              .passive = shmem || transfer.epoch == earl::EpochKind::kLock ||
                                         transfer.epoch == earl::EpochKind::kLockAll,
                              .origin = transfer.call->index,
                              .target = row,
                              .window = on,
                              .bytes = raw(transfer.bytes),
                              .request = clock_(transfer.requested),
                              .start = clock_(transfer.time)};
    const TransferArrows::Epoch epoch{origin, on, transfer.epoch};
    sums_.transfers.add(transfer.origin, transfer.rmaid, arrow, shmem ? nullptr : &epoch);
  }
  void on_transfer_end(const earl::TransferEnd& end) {
    sums_.transfers.end(end.origin, end.rmaid, clock_(end.time));
  }

  void on_fence_epoch(const earl::FenceEpoch& epoch) {
    const std::uint32_t process = raw(epoch.call->process);
    const std::uint32_t on = window(raw(epoch.window));
    const Nanoseconds now = clock_(epoch.call->exit);
    if (epoch.ordinal > 0 && own(*epoch.call)) {
      end_epoch({process, on, BandKind::kFence}, epoch.call->index, now);
    }
    sums_.since[{process, on, BandKind::kFence}] = now;
    sums_.transfers.fence({process, on, earl::EpochKind::kFence}, epoch.ordinal, sync(*epoch.call));
  }
  void on_window_collective(const earl::WindowInstance& instance) {
    if (instance.role != MpiRole::kWinFence || instance.members.empty()) return;
    if (!own(instance.members.front().call)) return;
    const std::uint32_t on = window(raw(instance.window));
    const bool asked = sums_.transfers.waits_for_fence(on, instance.ordinal);
    const std::uint64_t identity = identity_of(instance.ordinal, on);
    const bool kept = sums_.fences.begin(identity);
    if (!asked && !kept) return;
    FenceInstance fence;
    fence.window = on;
    for (const earl::WindowMember& member : instance.members) {
      fence.rows.push_back(member.call.index);
      fence.enters.push_back(clock_(member.call.enter));
      fence.exits.push_back(clock_(member.call.exit));
    }
    if (asked) sums_.transfers.fence_complete(fence, instance.ordinal);
    if (kept) sums_.fences.add(identity, std::move(fence));
  }

  void on_access_epoch(const earl::AccessEpoch& epoch) {
    const std::uint32_t on = window(raw(epoch.window));
    if (epoch.has_start && epoch.has_finish) {
      sums_.bands.add(epoch.finish.index, {clock_(epoch.start.enter), clock_(epoch.finish.exit), on,
                                           BandKind::kAccess});
    }
    sums_.transfers.access({raw(epoch.origin), on, earl::EpochKind::kAccess}, epoch.finish.exit_pos,
                           sync(epoch.finish));
  }
  void on_access_transaction(const earl::AccessEpoch& epoch) {
    sums_.transfers.access_complete(epoch.finish.exit_pos, [&](std::uint32_t row) {
      Nanoseconds exit = 0;
      for (const earl::AccessTarget& target : epoch.targets) {
        const earl::ExposureEpoch* exposure = target.exposure;
        if (exposure == nullptr || !exposure->has_finish) continue;
        if (trace_.main_index(target.target) == row) exit = clock_(exposure->finish.exit);
      }
      return exit;
    });
  }
  void on_exposure_transaction(const earl::ExposureEpoch& epoch) {
    if (!epoch.has_post || !epoch.has_finish) return;
    sums_.bands.add(epoch.finish.index, {clock_(epoch.post.enter), clock_(epoch.finish.exit),
                                         window(raw(epoch.window)), BandKind::kExposure});
  }
  void on_passive_step(const earl::PassiveStep& step) {
    if (step.kind != earl::PassiveStep::Kind::kLockAll) return;
    const TraceSums::Epoch epoch{raw(step.call->process), window(raw(step.window)),
                                 BandKind::kLockAll};
    if (!step.standing) sums_.since[epoch] = clock_(step.call->enter);
  }
  void on_passive_epoch(const earl::PassiveEpoch& epoch) {
    if (!epoch.has_lock || !epoch.has_unlock) return;
    const std::uint32_t on = window(raw(epoch.window));
    const Nanoseconds now = clock_(epoch.unlock.exit);
    if (epoch.all) {
      end_epoch({raw(epoch.origin), on, BandKind::kLockAll}, epoch.unlock.index, now);
    } else {
      sums_.bands.add(epoch.unlock.index,
                      {clock_(epoch.lock.enter), now, on,
                       epoch.exclusive ? BandKind::kExclusive : BandKind::kShared});
    }
    sums_.transfers.passive(
        {raw(epoch.origin), on, epoch.all ? earl::EpochKind::kLockAll : earl::EpochKind::kLock},
        epoch.all, epoch.all ? kAbsent : trace_.main_index(epoch.target), sync(epoch.unlock));
  }

  void finish() {
    clock_.begin = sums_.begin;
    sums_.finish(clock_(Seconds{sums_.end}), out_);
    adjust_model();
  }

 private:
  struct Reading {
    bool any = false;
    Nanoseconds time = 0;
    std::uint64_t wanted = 0;
  };

  bool own(const earl::Call& call) const {
    return gate_ == nullptr || gate_->own(call.index, call.exit_pos);
  }
  // It may have begun in a part before.
  void end_epoch(const TraceSums::Epoch& epoch, std::uint32_t row, Nanoseconds end) {
    const auto first = sums_.since.find(epoch);
    if (first == sums_.since.end()) {
      sums_.first_ends.try_emplace(epoch, TraceSums::EpochEnd{row, end});
      return;
    }
    sums_.bands.add(row, {first->second, end, epoch.window, epoch.kind});
    sums_.since.erase(first);
  }
  // Of a wait in the byte matrix; `on`: a window, if it is about one.
  Traffic waiting(std::uint32_t row, const WaitBox& box, std::uint32_t on) const {
    return {
        .from = raw(trace_.process(row)),
        .to = box.awaited == WaitBox::kNobody ? Traffic::kNone : raw(trace_.process(box.awaited)),
        .kind = TrafficKind::kWait,
        .window = on,
        .region = region_of(box.path)};
  }

  bool is_shmem(RegionId id) {
    const RegionKind kind = out_.region_kinds[region(id)];
    return kind != RegionKind::kProgram && kind != RegionKind::kMeasurement;
  }
  void list_regions() {
    trace_.definitions().regions.for_each([&](RegionId id, const RegionDef& def) {
      regions_[raw(id)] = static_cast<std::uint32_t>(out_.regions.size());
      out_.regions.push_back(def.name);
      out_.region_kinds.push_back(expert::kind_of(def));
      shmem_ = shmem_ || (def.function == nullptr && expert::shmem_class(def.name));
    });
  }
  std::uint32_t region(RegionId id) {
    if (known_region_ && id == last_region_.first) return last_region_.second;
    const auto [entry, added] =
        regions_.try_emplace(raw(id), static_cast<std::uint32_t>(out_.regions.size()));
    if (added) {
      out_.regions.emplace_back("UNKNOWN");
      out_.region_kinds.push_back(RegionKind::kProgram);
    }
    known_region_ = true;
    last_region_ = {id, entry->second};
    return entry->second;
  }

  std::uint32_t path(const earl::OpenCall& call) {
    const std::uint32_t number = raw(call.cnode);
    std::vector<std::uint32_t>& regions = sums_.path_regions;
    if (number >= regions.size()) regions.resize(number + 1, TraceSums::kUnseen);
    if (regions[number] == TraceSums::kUnseen) regions[number] = region(call.region);
    return number;
  }

  std::uint32_t window(std::uint32_t id) {
    if (known_window_ && id == last_window_.first) return last_window_.second;
    const auto [entry, added] =
        windows_.try_emplace(id, static_cast<std::uint32_t>(out_.windows.size()));
    if (added) out_.windows.push_back({id, {}, {}});
    known_window_ = true;
    last_window_ = {id, entry->second};
    return entry->second;
  }

  TransferArrows::Sync sync(const earl::Call& call) const {
    return {clock_(call.exit), clock_(call.exit) - clock_(call.enter)};
  }

  // In the extended model a get ends where it is synchronised, be it by a flush; the basic model
  // leaves that to the epoch's end.
  void adjust_model() {
    // A flush has no epoch of its own: how long it took is that of the call that ended then. Its
    // box is the last one before that time, or holds the last few.
    const auto sync_length = [&](std::uint32_t row, Nanoseconds end) -> Nanoseconds {
      const std::vector<Box>& boxes = out_.boxes[row];
      auto at = std::lower_bound(boxes.begin(), boxes.end(), end,
                                 [](const Box& box, Nanoseconds time) { return box.begin < time; });
      for (int steps = 0; at != boxes.begin() && steps < 64; ++steps) {
        --at;
        if (at->end == end) return at->end - at->begin;
      }
      return 0;
    };
    const bool extended =
        std::any_of(out_.transfers.begin(), out_.transfers.end(), [](const TransferArrow& t) {
          return t.get && t.origin_sync != 0 && t.end == t.origin_sync;
        });
    for (TransferArrow& arrow : out_.transfers) {
      if (!arrow.get || arrow.origin_sync == arrow.end) continue;
      if (extended || arrow.origin_sync == 0) {
        arrow.origin_sync = arrow.end;
        arrow.origin_sync_length = sync_length(arrow.origin, arrow.end);
      }
    }
  }

  // The function of a call path; where no call of it has begun, it is found out in the end.
  std::uint32_t region_of(expert::CallPathIndex path) const {
    const std::vector<std::uint32_t>& regions = sums_.path_regions;
    const bool seen = path < regions.size() && regions[path] != TraceSums::kUnseen;
    return seen ? regions[path] : TrafficSums::kOfPath | path;
  }

  // Those of some of the processes, each set once, as long as there is room for their members.
  void list_communicators() {
    constexpr std::size_t kMost = 500, kMostMembers = 50'000;
    std::set<std::vector<std::uint32_t>> known;
    std::size_t members = 0;
    trace_.definitions().comms.for_each([&](CommId id, const CommDef& def) {
      if (def.stands_for_group || def.foreign_members) return;
      std::vector<std::uint32_t> ranks = def.ranks.vector();
      ranks.insert(ranks.end(), def.remote.begin(), def.remote.end());
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      if (ranks.size() < 2 || ranks.size() >= out_.processes || known.contains(ranks)) return;
      ++out_.communicators_seen;
      members += ranks.size();
      if (out_.communicators.size() == kMost || members > kMostMembers) return;
      known.insert(ranks);
      out_.communicators.push_back({raw(id), {}, {}, std::move(ranks)});
    });
  }

  earl::Trace& trace_;
  TraceContent& out_;
  TraceSums sums_;
  const std::optional<Seconds> first_;  // where the run begins before the trace
  const expert::Gate* const gate_;      // of a part
  std::vector<bool> passed_;            // by row: what comes is this part's
  Clock clock_;
  std::unordered_map<std::uint32_t, std::uint32_t> regions_, windows_;
  // What was asked for last.
  std::pair<RegionId, std::uint32_t> last_region_;
  std::pair<std::uint32_t, std::uint32_t> last_window_;
  bool known_region_ = false, known_window_ = false;
  bool shmem_ = false;                   // the trace has functions of SHMEM
  std::vector<Reading> processor_;       // the last of each row
  std::vector<std::uint64_t> received_;  // messages, by row
};

void list_rows(const earl::Trace& trace, TraceContent& content) {
  std::map<std::uint32_t, std::uint32_t> threads;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    ++threads[raw(trace.process(i))];
  }
  const std::string word = std::string(expert::process_word(trace.definitions())) + ' ';
  std::map<std::uint32_t, std::uint32_t> next;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    const std::uint32_t rank = raw(trace.process(i));
    TraceRow row{word + std::to_string(rank), rank, next[rank]++};
    if (threads[rank] > 1) row.name += ", thread " + std::to_string(row.thread);
    if (service_since(trace.definitions(), trace.location_def(i))) row.name += " (serves)";
    content.rows.push_back(std::move(row));
  }
}

}  // namespace

struct TimelineReader::State {
  TraceLimits limits;
  TraceContent content;
  earl::Trace* trace = nullptr;
  std::optional<Content> rows;
};

TimelineReader::TimelineReader(const TraceLimits& limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
}
TimelineReader::~TimelineReader() = default;

TraceLimits quick_limits() {
  return {.boxes = 300'000,
          .waits = 150'000,
          .arrows = 60'000,
          .bands = 60'000,
          .stripes = 50'000,
          .pairs = 100'000,
          .fence_members = 120'000};
}

TraceLimits limits_for(std::size_t max_bytes) {
  // Two thirds of the page are the trace's, in base64; a thing takes some bytes of them.
  const std::size_t bytes = max_bytes / 2;
  const auto most = [&](std::size_t each, std::size_t limit) {
    return std::clamp<std::size_t>(bytes / each, 100'000, limit);
  };
  TraceLimits limits;
  limits.boxes = most(3, 30'000'000);
  limits.waits = most(6, 8'000'000);
  limits.arrows = most(12, 4'000'000);
  limits.bands = most(8, 6'000'000);
  limits.fence_members = most(10, 4'000'000);
  limits.pairs = most(40, 1'000'000);
  return limits;
}

void TimelineReader::open(earl::Trace& trace, const earl::Standing* standing,
                          const expert::Gate* gate) {
  State& s = *state_;
  s.trace = &trace;
  s.content = TraceContent();
  s.content.file = trace.path();
  list_rows(trace, s.content);
  s.rows.emplace(trace, s.limits, standing, gate, s.content);
}

#define KOJAK_ROWS(handler, Event)                   \
  void TimelineReader::handler(const Event& event) { \
    state_->rows->handler(event);                    \
  }
KOJAK_ROWS(on_enter, earl::OpenCall)
KOJAK_ROWS(on_call, earl::Call)
KOJAK_ROWS(on_call_before, earl::Call)
KOJAK_ROWS(on_wait, expert::Wait)
KOJAK_ROWS(on_send, earl::SendEvent)
KOJAK_ROWS(on_message_call, earl::MessageCall)
KOJAK_ROWS(on_transfer, earl::Transfer)
KOJAK_ROWS(on_transfer_end, earl::TransferEnd)
KOJAK_ROWS(on_fence_epoch, earl::FenceEpoch)
KOJAK_ROWS(on_window_collective, earl::WindowInstance)
KOJAK_ROWS(on_access_epoch, earl::AccessEpoch)
KOJAK_ROWS(on_access_transaction, earl::AccessEpoch)
KOJAK_ROWS(on_exposure_transaction, earl::ExposureEpoch)
KOJAK_ROWS(on_passive_step, earl::PassiveStep)
KOJAK_ROWS(on_passive_epoch, earl::PassiveEpoch)
#undef KOJAK_ROWS
void TimelineReader::on_begin(Seconds first) {
  state_->rows->on_begin(first);
}
void TimelineReader::on_end(Seconds last) {
  state_->rows->on_end(last);
}
void TimelineReader::on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
  state_->rows->on_polled(call, series);
}
void TimelineReader::on_moved(expert::CallPathIndex path, expert::LocationIndex location,
                              expert::MetricIndex from, std::optional<expert::MetricIndex> to) {
  state_->rows->on_moved(path, location, from, to);
}
void TimelineReader::on_processor(const earl::OpenCall& in, Seconds time,
                                  const earl::ProcessorTimes& times) {
  state_->rows->on_processor(in, time, times);
}

void TimelineReader::on_processor_before(std::uint32_t row, Seconds time,
                                         const earl::ProcessorTimes& times) {
  state_->rows->on_processor_before(row, time, times);
}
TraceSums& TimelineReader::sums() {
  return state_->rows->sums();
}
TraceSums TimelineReader::no_sums() const {
  const earl::Trace& trace = *state_->trace;
  return {trace.location_count(), trace.process_count(), state_->limits};
}

TraceContent TimelineReader::finish(std::optional<std::uint64_t> events) {
  State& s = *state_;
  s.rows->finish();
  s.content.events = events.value_or(s.trace->events_read());
  s.content.damage = s.trace->damage();
  if (s.trace->damage()) {
    s.content.omitted.push_back("The trace is damaged and is shown up to there: " +
                                s.trace->damage()->message());
  }
  return std::move(s.content);
}

}  // namespace kojak::html
