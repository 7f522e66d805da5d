// Long because every callback of the replay stands here, in a few lines each.
#include "expert/analysis.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iomanip>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <sstream>

#include "earl/replay.h"
#include "epilog/format/field_values.h"
#include "expert/causes/cause_finder.h"
#include "expert/causes/cause_metrics.h"
#include "expert/causes/stretch_counters.h"
#include "expert/ends/last_call_finder.h"
#include "expert/ends/last_waits.h"
#include "expert/ends/unbegun.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/report_metrics.h"
#include "expert/findings/trace_findings.h"
#include "expert/metrics/switched_off.h"
#include "expert/metrics/time_class.h"
#include "expert/patterns/catalogue.h"
#include "expert/patterns/mpi/begun_waits.h"
#include "expert/patterns/notes.h"
#include "expert/patterns/openmp/locks.h"
#include "expert/patterns/openmp/paths.h"
#include "expert/patterns/openmp/tasks.h"
#include "expert/patterns/openmp/teams.h"
#include "expert/patterns/rma/late_post.h"
#include "expert/patterns/rma/passive/wait_metrics.h"
#include "expert/patterns/rma/passive/waits.h"
#include "expert/sums/kept_waits.h"
#include "expert/sums/processors.h"
#include "expert/sums/samples.h"
#include "expert/sums/time_profile.h"
#include "expert/sums/unexplained.h"
#include "expert/sums/waiting_counters.h"
#include "expert/waits/poll_stretches.h"

namespace kojak::expert {
namespace {

// Receives the replay's events, keeps the profile and hands the rest to the patterns.
class Analysis : public earl::Sink {
 public:
  Analysis(const earl::Trace& trace, const AnalysisOptions& options)
      : trace_(trace),
        options_(options),
        send_modes_(options.send_modes),
        severities_(kAllMetrics, trace.location_count()),
        classes_(trace.definitions()),
        profile_(trace.definitions(), trace.location_count()),
        unexplained_(trace.location_count()),
        instances_(options.instances, trace.location_count()),
        last_calls_(trace.definitions(), trace.location_count(), trace.pausing_region()),
        samples_(trace.definitions()),
        processors_(trace.location_count()),
        stretches_(trace.location_count()),
        omp_paths_(trace.location_count()) {
    if (options.root_causes) {
      causes_.emplace(trace.location_count(),
                      CauseFinder::Options{.most = options.most_of_root_causes}, logs_);
      if (!trace.definitions().metrics.empty()) {
        stretch_counters_.emplace(trace.definitions(), trace.location_count());
      }
    }
    trace.definitions().metrics.for_each([&](MetricId, const MetricDef& def) {
      severities_.add_metric(def.dtype == kFloatCounter ? SeverityStore::Cells::kFractions
                                                        : SeverityStore::Cells::kWhole);
      counters_.push_back(!adds_up(def)                ? Counter::kLeftOut
                          : def.dtype == kFloatCounter ? Counter::kFloat
                                                       : Counter::kInteger);
    });
    if (RmaWaits::concerns(trace.definitions())) follow_rma_waits();
    if (OmpTeams::concerns(trace.definitions())) {
      teams_.emplace(
          trace,
          [this](const std::vector<earl::Call>& members, bool complete) {
            omp_barrier(members, complete);
          },
          [this](LocationIndex master, Seconds fork, const std::vector<OmpTeams::Member>& members) {
            if (causes_) omp_team(master, fork, members);
          });
      locks_.emplace(trace.location_count());
      tasks_.emplace(trace);
    }
    follows_ = waits_ || teams_ || send_modes_ != nullptr || !trace.definitions().metrics.empty();
  }

  // ---- for the patterns
  // The call `at` waited that long, until the call `by` of another process let it go; from `begin`
  // on if the waiting began later than the call.
  template <class Pattern>
  void add(Pattern, const Call& at, Seconds severity, EndedBy by = {},
           std::optional<Seconds> begin = {}) {
    static_assert(Pattern::kMetric.unit == Unit::kSeconds);
    if (!(severity > Seconds{0})) {
      if constexpr (tells_arrivals<Pattern>()) {
        if (causes_) [[unlikely]]
          causes_->on_no_wait(at, by);
      }
      return;
    }
    add_value<Pattern>(at, severity.value);
    const Wait wait =
        wait_of(metric_index<Pattern>(), at, severity, by, begin.value_or(at.waits_from()));
    if constexpr (!is_part_of_pattern(Pattern::kMetric)) {
      unexplained_.claim(at, severity);
      if constexpr (!Pattern::kMetric.nobody_awaited) {
        if (causes_) [[unlikely]]
          causes_->on_wait(wait);
      }
    }
    keep(wait);
  }
  template <class Pattern>
  void add(Pattern, const earl::OpenCall& at, std::uint64_t amount) {
    static_assert(Pattern::kMetric.unit != Unit::kSeconds);
    if (amount != 0) {
      severities_.add_count(metric_index<Pattern>(), raw(at.cnode), at.index, amount);
    }
  }
  void count(Note note) { ++notes_[static_cast<std::size_t>(note)]; }
  Seconds delta(const earl::OpenCall& a, const earl::OpenCall& b) const {
    return trace_.has_clock_errors() ? trace_.delta(a.index, b.index) : Seconds{0};
  }
  // No two clocks of the trace are further apart.
  Seconds max_delta() const { return trace_.max_delta(); }
  const Definitions& definitions() const { return trace_.definitions(); }
  bool native() const { return trace_.native(); }
  bool shared_memory(WindowId window) const {
    const WindowDef* def = trace_.definitions().windows.find(window);
    return def != nullptr && def->flavour == kFlavourShared;
  }

  // Whether an instance is of a SHMEM collective of that class.
  bool is_shmem(const earl::CollectiveInstance& instance, TimeClass time_class,
                bool broadcast) const {
    if (instance.function != nullptr || classes_[instance.region] != time_class) return false;
    const RegionDef* region = trace_.definitions().regions.find(instance.region);
    return region != nullptr && is_shmem_broadcast(region->name) == broadcast;
  }

  ShmemRole shmem_role(const earl::OpenCall& call) const {
    const ShmemFunction* shmem = trace_.definitions().shmem(call.region);
    return shmem == nullptr ? ShmemRole::kOther : shmem->role;
  }

  // Before the replay.
  void use(const LibraryCalls* library) {
    if (causes_) causes_->use(library);
    if (stretch_counters_) stretch_counters_->use(library);
  }

  // ---- from the replay
#define KOJAK_TELL(handler, ...)                                       \
  patterns_.for_each([&](auto& pattern) {                              \
    if constexpr (requires { pattern.handler(__VA_ARGS__, *this); }) { \
      pattern.handler(__VA_ARGS__, *this);                             \
    }                                                                  \
  })
  template <int kStep>
  KOJAK_INLINED void fetch(LocationIndex location, ProcessId process) const {
    if (waits_) waits_->template fetch<kStep>(location, process);
  }
  void on_counted(const earl::OpenCall& in, std::span<const std::uint64_t> values) {
    if (stretch_counters_) stretch_counters_->counted(in.index, values);
  }
  KOJAK_INLINED void on_enter(const earl::OpenCall& call) {
    if (follows_) [[unlikely]]
      follow_enter(call);
    if (last_calls_.any()) [[unlikely]]
      last_calls_.on_enter(call);
    if (causes_) [[unlikely]]
      causes_->on_enter(call.index, call.enter, raw(call.cnode), doing(call));
  }
  KOJAK_INLINED void on_call(const earl::Call& call, std::span<const std::uint64_t> counters) {
    profile_.add(call, severities_);
    unexplained_.on_call(call);
    stretches_.on_call(call);
    if (follows_) [[unlikely]]
      follow_exit(call, counters);
    last_calls_.note_call(call);
    if (last_calls_.any()) [[unlikely]]
      last_calls_.on_exit(call);
    if (causes_) [[unlikely]]
      causes_->on_exit(call.index, call.exit);
    if ((++calls_ & 0xFFFFF) == 0 && options_.progress) options_.progress(call.exit_pos);
  }
  void on_send(const earl::SendEvent& send) {
    KOJAK_TELL(on_send, send);
    if (send_modes_ != nullptr) [[unlikely]]
      send_modes_->on_send(send);
  }
  void on_receive(const earl::RecvEvent& receive) {
    KOJAK_TELL(on_receive, receive);
    if (send_modes_ != nullptr) [[unlikely]]
      send_modes_->on_receive(receive);
  }
  KOJAK_INLINED void on_transfer(const earl::Transfer& transfer) {
    KOJAK_TELL(on_transfer, transfer);
    if (waits_) waits_->on_transfer(transfer);
  }
  void on_marked_transfer(ProcessId origin, RmaId rmaid, ProcessId,
                          const earl::AccessEpoch* epoch) {
    KOJAK_TELL(on_marked_transfer, rmaid, epoch);
    if (waits_) waits_->on_marked_transfer(origin, rmaid);
  }
  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
    stretches_.on_polled(call, series);
  }
  // Calls of a series of polls.
  void on_polls(const earl::OpenCall& at, std::uint64_t calls) {
    profile_.add_visits(at, calls);
    last_calls_.on_polls(at, calls);
  }
  void on_message_call(const earl::MessageCall& m) {
    if (m.call->polled) [[unlikely]] {
      const Call call = from_first_poll(*m.call);
      message_call({&call, m.received, m.sent});
      const earl::Message* const late =
          call.paused ? nullptr : LateSender::deciding(call, m.received);
      if (late != nullptr) waited_before(call, late->recv_request, late->send_call);
      return;
    }
    message_call(m);
  }
  void message_call(const earl::MessageCall& m) {
    // (Of a call that completed several, one message decided how long it waited.)
    begin_operation(Operation::Object::kCommunicator,
                    raw(!m.received.empty() ? m.received.front()->com
                        : !m.sent.empty()   ? m.sent.front()->com
                                            : absent<CommId>()));
    if (causes_) [[unlikely]]
      tell_arrivals(m);
    KOJAK_TELL(on_message_call, m);
    if (send_modes_ != nullptr) [[unlikely]]
      send_modes_->on_message_call(m);
  }
  void on_collective_exit(const earl::CollectiveExit& exit) {
    KOJAK_TELL(on_collective_exit, exit);
  }
  void on_collective(const earl::CollectiveInstance& instance) {
    if (!instance.complete) {
      unbegun_.add(instance, definitions());
      if (last_calls_.any()) last_calls_.on_collective(instance);
    }
    begin_operation(Operation::Object::kCommunicator, raw(instance.com));
    // When the last member came is unknown if one is missing.
    if (!instance.complete || instance.mixed) return;
    view_.look_at(instance, definitions());
    if (causes_) {
      if (view_.all_wait_for_all() && !is_shmem_rooted(instance)) came_together(instance.members);
      tell_contributors();
    }
    KOJAK_TELL(on_collective, view_);
  }
  void on_collective_begun(const earl::CollectiveInstance& instance) {
    if (instance.mixed) return;
    view_.look_at(instance, definitions());
    begin_operation(Operation::Object::kCommunicator, raw(instance.com));
    begun_waits_.on_begun(view_, operation_.number);
  }
  void on_collective_wait(const earl::CollectiveWait& wait) {
    const earl::CompletedOperation* const deciding = begun_waits_.deciding(wait);
    if (deciding == nullptr) return;
    const Operation current = operation_;
    operation_ = {.object = Operation::Object::kCommunicator,
                  .scattered = true,
                  .id = raw(deciding->operation->com),
                  .number = begun_waits_.number(*deciding)};
    if (wait.call->polled) {
      begun_waits_.add_wait(from_first_poll(*wait.call), *deciding, *this);
    } else {
      begun_waits_.add_wait(*wait.call, *deciding, *this);
    }
    operation_ = current;
  }
  void on_probe(const Call& call, const earl::OpenCall& send) {
    begin_operation(Operation::Object::kNothing, 0);
    if (call.polled) {
      const Call polled = from_first_poll(call);
      KOJAK_TELL(on_probe, polled, send);
      if (!call.paused) waited_before(polled, absent<RequestId>(), send);
      return;
    }
    KOJAK_TELL(on_probe, call, send);
  }
  void on_partitioned(const Call& call, const earl::OpenCall& ready) {
    begin_operation(Operation::Object::kNothing, 0);
    KOJAK_TELL(on_partitioned, call, ready);
  }
  void on_window_collective(const earl::WindowInstance& instance) {
    if (!instance.complete) {
      if (last_calls_.any()) last_calls_.on_window_collective(instance);
      return;
    }
    begin_operation(Operation::Object::kWindow, raw(instance.window));
    if (instance.role == MpiRole::kWinCreate) {
      windows_.emplace(raw(instance.window), raw(instance.members.front().call.cnode));
    }
    if (causes_) came_together(instance.members);
    KOJAK_TELL(on_window_collective, instance);
    if (waits_ && instance.role == MpiRole::kWinFree) {
      for (const earl::WindowMember& m : instance.members) {
        waits_->on_window_free(m.call.process, instance.window);
      }
    }
  }
  void on_fence_epoch(const earl::FenceEpoch& epoch) {
    KOJAK_TELL(on_fence_epoch, epoch);
  }
  void on_epoch_call(const earl::Call& call, const earl::AccessEpoch& epoch) {
    KOJAK_TELL(on_epoch_call, call, epoch);
  }
  void on_access_epoch(const earl::AccessEpoch& epoch) {
    KOJAK_TELL(on_access_epoch, epoch);
    if (waits_) waits_->on_access_epoch(epoch);
  }
  void on_access_transaction(const earl::AccessEpoch& epoch) {
    if (!epoch.complete && last_calls_.any()) last_calls_.on_access_transaction(epoch);
    begin_operation(Operation::Object::kWindow, raw(epoch.window));
    if (causes_) tell_posts(epoch);
    KOJAK_TELL(on_access_transaction, epoch);
    if (!waits_) return;
    waits_->on_access_transaction(epoch, [&](const Call& call, std::vector<Cause>& posts) {
      collect_posts(epoch, call, *this, posts);
    });
  }
  void on_exposure_transaction(const earl::ExposureEpoch& epoch) {
    if (!epoch.complete && last_calls_.any()) last_calls_.on_exposure_transaction(epoch);
    begin_operation(Operation::Object::kWindow, raw(epoch.window));
    operation_.process = raw(epoch.target);
    if (causes_) tell_completes(epoch);
    KOJAK_TELL(on_exposure_transaction, epoch);
    if (waits_) waits_->on_exposure_transaction(epoch, EarlyWait::last_completed(epoch));
  }
  void on_passive_step(const earl::PassiveStep& step) {
    if (!waits_) return;
    if (step.call->polled) [[unlikely]] {
      const Call call = from_first_poll(*step.call);
      earl::PassiveStep polled = step;
      polled.call = &call;
      return waits_->on_passive_step(polled);
    }
    waits_->on_passive_step(step);
  }
  void on_quiet(const Call& call, std::uint32_t context) {
    if (waits_) waits_->on_quiet(call, context);
  }
  void on_symmetric_lock(const earl::SymmetricLock& lock) {
    if (waits_) waits_->on_symmetric_lock(lock);
    last_calls_.on_symmetric_lock(lock);
  }
  void on_symmetric_wait(const earl::SymmetricWait& wait) {
    begin_operation(Operation::Object::kNothing, 0);
    KOJAK_TELL(on_symmetric_wait, wait);
  }
  void on_passive_epoch(const earl::PassiveEpoch& epoch) {
    if (last_calls_.any()) [[unlikely]]
      last_calls_.on_passive_epoch(epoch);
  }
  // Of a run that ended before its processes did.
  void on_open_call(const earl::OpenCall& call, const MpiOpenCall& note) {
    last_calls_.on_open_call(call, note);
  }
  void on_awaits(const earl::OpenCall& call, const MpiAwaits& awaited) {
    last_calls_.on_awaits(call, awaited);
  }
  void on_process_end(const earl::OpenCall& call, Seconds last, Seconds time) {
    last_calls_.on_process_end(call, last, time);
  }
  void on_unreceived(const earl::Message& message) {
    if (last_calls_.any()) last_calls_.on_unreceived(message);
  }
  void on_unmet_receive(ProcessId process, ProcessId source, CommId com, Tag tag,
                        RequestId request) {
    if (last_calls_.any()) last_calls_.on_unmet_receive(process, source, com, tag, request);
  }
  void on_request_tested(const earl::OpenCall& call, RequestId request) {
    last_calls_.on_request_tested(call, request);
  }
  void on_collective_unbegun(const earl::CollectiveInstance& instance) {
    unbegun_.add(instance, definitions());
    if (last_calls_.any()) last_calls_.on_collective_unbegun(instance);
  }

  void on_first_sample(const earl::OpenCall& in) {
    last_calls_.on_first_sample(in);
  }
  void on_sample(const earl::OpenCall& in, Seconds time, CallSiteId site, std::uint32_t count) {
    samples_.add(in.index, raw(in.cnode), site, count);
    last_calls_.on_sample(in, site, count);
    if (causes_) causes_->on_sample(in.index, time, site, count);
  }
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times) {
    processors_.add(in.index, raw(in.cnode), time, times);
  }
  void on_failed_call(const earl::OpenCall& call, Seconds time, std::uint8_t error_class,
                      std::uint32_t) {
    failed_calls_.add(raw(call.cnode), call.index, raw(call.process), time, error_class);
  }
  void on_comm_created(const earl::OpenCall& call, CommId communicator) {
    communicators_.emplace(raw(communicator), raw(call.cnode));
  }

  void on_omp_fork(const earl::OpenCall& call, Seconds time) {
    if (teams_) teams_->on_fork(call, time);
  }
  void on_omp_join(const earl::OpenCall& call, Seconds) {
    if (teams_) teams_->on_join(call);
  }
  void on_omp_team(const earl::OpenCall& call, std::uint64_t team, std::uint32_t index,
                   std::uint32_t size) {
    if (teams_) teams_->on_team(call, team, index, size);
  }
  void on_omp_task(const earl::OpenCall& task, ThreadId creator) {
    if (tasks_) tasks_->on_task(task, creator);
  }
  void on_omp_lock(const earl::OpenCall& call, LockId lock, Seconds time, bool acquired) {
    if (locks_) locks_->on_lock(call, raw(lock), time, acquired, omp_lock_wait(call).has_value());
  }
#undef KOJAK_TELL

  SeverityStore finish(const earl::CallTree& tree) {
    profile_.finish(severities_, tree);
    if (waits_) {
      waits_->on_end();
      if (!hides_progress_) {
        notes_[static_cast<std::size_t>(Note::kProgressIsAsynchronous)] = waits_->voided();
      }
      notes_[static_cast<std::size_t>(Note::kCallsLeftOut)] = waits_->left_out();
    }
    if (teams_) {
      teams_->on_end();
      teams_->for_each_idle([&](CallPathIndex path, LocationIndex location, TimeSum time) {
        severities_.add(metric_index<OmpIdleThreads>(), path, location, time);
      });
    }
    add_last_calls();
    unexplained_.finish([&](CallPathIndex path, LocationIndex location, TimeSum time) {
      severities_.add(metric_index<NotExplained>(), path, location, time);
    });
    return std::move(severities_);
  }
  const std::array<std::uint64_t, kNotes>& notes() const {
    return notes_;
  }
  const Unbegun& unbegun() const {
    return unbegun_;
  }
  WaitResults waits() {
    WaitResults waits = instances_.finish();
    waits.windows = std::move(windows_);
    waits.communicators = std::move(communicators_);
    for (Instance& i : waits.worst) {
      const Waiter& w = i.waiters.front();
      if (!w.ended_by.known()) continue;
      i.without_processor =
          processors_
              .without(w.ended_by.location, w.ended_by.time - Seconds{w.waiting.seconds()},
                       w.ended_by.time)
              .least;
    }
    return waits;
  }
  void add_remarks(std::vector<ReportMetric>& metrics) const {
    if (waits_) add_wait_remarks(*waits_, definitions(), metrics);
  }
  const Samples& samples() const {
    return samples_;
  }
  const Processors& processors() const {
    return processors_;
  }
  LastCalls last_calls() {
    return std::move(found_last_calls_);
  }
  std::vector<FailedCalls> failed_calls() const {
    return failed_calls_.take();
  }
  std::vector<CreatedTasks> tasks() {
    return tasks_ ? tasks_->take() : std::vector<CreatedTasks>();
  }
  // With the chains of these instances' longest waits.
  std::optional<RootCauses> root_causes(const WaitResults& waits) {
    if (!causes_) return std::nullopt;
    std::vector<CauseFinder::Asked> asked;
    for (const auto* instances : {&waits.worst, &waits.of_places}) {
      for (const Instance& i : *instances) {
        const Waiter& w = i.waiters.front();
        asked.push_back({w.location, w.ended_by.known() ? std::min(w.ended_by.time, w.exit)
                                                        : w.enter + Seconds{w.waiting.seconds()}});
      }
    }
    RootCauses found = causes_->finish(asked);
    add_deadlocks(found);
    if (stretch_counters_) stretch_counters_->add_to(found);
    return found;
  }

 private:
  // Waits of calls that did not return, until their processes ended: for whom the notes name.
  void add_last_calls() {
    if (!last_calls_.any()) return;
    found_last_calls_ = last_calls_.finish();
    const LastWaits found = find_last_waits(found_last_calls_);
    for (const LastWait& wait : found.waits) tell_last_wait(wait, found.common);
  }
  void tell_last_wait(const LastWait& last, Seconds common) {
    const LastCall& call = *last.call;
    const Seconds whole = call.until - last.begin;
    severities_.add(last.metric, call.call_path, call.location, whole.value);
    unexplained_.claim_at_end(call.call_path, call.location, TimeSum::of(whole.value));
    Wait wait{.metric = last.metric,
              .call_path = call.call_path,
              .location = call.location,
              .enter = call.since,
              .exit = call.until,
              .exit_pos = (std::uint64_t{1} << 62) + call.location,  // behind all that returned
              .begin = last.begin,
              .end = call.until,
              .waiting = whole};
    wait.operation = {.scattered = true, .number = ++unnamed_};
    if (call.deadlock != kNoDeadlock) {
      deadlocked_.emplace_back(call.deadlock, wait);
      return keep(wait);
    }
    if (causes_) {
      Wait part = wait;
      if (last.awaited != nullptr) {  // to the others: nobody has ended it
        part.ended_by = {last.awaited->location, last.awaited->call_path, call.until};
      }
      for (const auto& [begin, end] :
           {std::pair{last.begin, common}, std::pair{std::max(last.begin, common), call.until}}) {
        if (!(begin < end)) continue;
        part.begin = begin;
        part.end = end;
        part.waiting = end - begin;
        if (part.ended_by.known()) part.ended_by.time = end;
        causes_->on_wait(part);
      }
    }
    keep(wait);
  }
  // All waiting in and behind a deadlock has that as its cause.
  void add_deadlocks(RootCauses& found) const {
    std::vector<RootCause> causes(found_last_calls_.deadlocks.size());
    std::vector<std::map<MetricIndex, double>> by_pattern(causes.size());
    for (const auto& [deadlock, wait] : deadlocked_) {
      RootCause& cause = causes[deadlock];
      if (cause.deadlock == kNoDeadlock) {
        cause.deadlock = deadlock;
        cause.compared = false;
        cause.location = wait.location;
        cause.place = wait.call_path;
        cause.stretch = {.kind = Stretch::Kind::kCall, .path = wait.call_path};
      }
      cause.longer = cause.seconds += wait.waiting.value;
      by_pattern[deadlock][wait.metric] += wait.waiting.value;
      found.waits += wait.waiting.value;
      found.waits_at.push_back({wait.location, wait.call_path, wait.metric, wait.waiting.value, 0});
    }
    for (std::size_t i = 0; i < causes.size(); ++i) {
      for (const auto& [metric, seconds] : by_pattern[i]) {
        causes[i].patterns.push_back({metric, seconds, 0});
      }
      std::stable_sort(causes[i].patterns.begin(), causes[i].patterns.end(),
                       [](const CostOfPattern& a, const CostOfPattern& b) {
                         return a.short_term > b.short_term;
                       });
    }
    std::erase_if(causes, [](const RootCause& cause) { return cause.deadlock == kNoDeadlock; });
    found.causes.insert(found.causes.begin(), std::make_move_iterator(causes.begin()),
                        std::make_move_iterator(causes.end()));
  }
  bool is_shmem_rooted(const earl::CollectiveInstance& instance) const {
    return is_shmem(instance, TimeClass::kShmemCollective, true);
  }

  // Whether the one that a pattern names ended the call even if nobody waited.
  template <class Pattern>
  static constexpr bool tells_arrivals() {
    return !is_part_of_pattern(Pattern::kMetric) && !Pattern::kMetric.nobody_awaited &&
           !Pattern::kMetric.names_only_waits;
  }
  // Late Sender in the parts of a stretch before the one that the call ended.
  void waited_before(const Call& found, RequestId request, const earl::OpenCall& send) {
    const PollStretches::Parts* const parts = stretches_.before(found);
    if (parts == nullptr) return;
    for (const PollStretches::Part& part : *parts) {
      const std::optional<Seconds> since = part.since(request, found);
      if (!since) continue;
      Call call = part.call;
      call.polled_from = *since;
      call.enter = call.waits_from();
      const Seconds waited = LateSender::severity(call, send.enter);
      if (waited > Seconds{0}) add(LateSender{}, call, waited, enter_of(send));
    }
  }
  // The patterns see a series of polls and its end as a call that begins when what it found was
  // first asked for.
  static Call from_first_poll(const Call& call) {
    Call result = call;
    result.enter = call.waits_from();
    return result;
  }
  // Of several that a call depends on, the patterns name only who decided.
  [[gnu::noinline]] void tell_arrivals(const earl::MessageCall& m) {
    if (m.received.size() < 2 || m.call->paused || !LateSender::waits(*m.call) ||
        first_one_ends(*m.call)) {
      return;
    }
    for (const earl::Message* message : m.received) {
      causes_->on_no_wait(*m.call, enter_of(message->send_call));
    }
  }
  [[gnu::noinline]] void tell_contributors() {
    if (view_.role() != MpiRole::kAllToOne || view_.root() == nullptr) return;
    for (const earl::CollectiveMember& m : view_.members()) {
      if (&m != view_.root() && view_.exchange(m, *view_.root())) {
        causes_->on_no_wait(view_.root()->call, enter_of(m.call));
      }
    }
  }
  [[gnu::noinline]] void tell_posts(const earl::AccessEpoch& epoch) {
    if (epoch.paused || epoch.targets.size() < 2) return;
    for (const Call* c : {&epoch.start, &epoch.finish}) {
      if (c == &epoch.start ? !epoch.has_start : !epoch.has_finish) continue;
      collect_posts(epoch, *c, *this, posts_);
      for (const Cause& post : posts_) {
        if (post.time <= c->exit) causes_->on_no_wait(*c, post.by);
      }
    }
  }
  [[gnu::noinline]] void tell_completes(const earl::ExposureEpoch& epoch) {
    if (epoch.paused || !epoch.has_finish || epoch.origins.size() < 2) return;
    for (const earl::ExposureOrigin& o : epoch.origins) {
      if (o.access != nullptr && o.access->has_finish && !o.access->paused) {
        causes_->on_no_wait(epoch.finish, enter_of(o.access->finish));
      }
    }
  }
  // What the patterns are told of next is one operation.
  void begin_operation(Operation::Object object, std::uint32_t id) {
    operation_ = {.object = object, .id = id, .number = operation_.number + 1};
  }
  Wait wait_of(MetricIndex metric, const Call& at, Seconds severity, const EndedBy& by,
               Seconds begin) const {
    return {.metric = metric,
            .call_path = raw(at.cnode),
            .location = at.index,
            .enter = at.enter,
            .exit = at.exit,
            .exit_pos = at.exit_pos,
            .begin = std::max(begin, at.enter),
            .end = by.known() ? std::min(by.time, at.exit) : at.exit,
            .waiting = severity,
            .ended_by = by,
            .operation = operation_};
  }
  Timeline::Kind doing(const earl::OpenCall& call) const {
    if (call.function != nullptr) return Timeline::Kind::kCall;
    switch (classes_[call.region]) {
      case TimeClass::kUser:
        return Timeline::Kind::kComputing;
      case TimeClass::kOverhead:
        return Timeline::Kind::kOverhead;
      default:
        return Timeline::Kind::kCall;
    }
  }
  template <class Members>
  [[gnu::noinline]] void came_together(const Members& members) {
    arrivals_.clear();
    for (const auto& m : members) {
      arrivals_.push_back({m.call.index, m.call.enter, m.call.exit, m.call.exit_pos});
    }
    causes_->on_together(operation_.number, arrivals_);
  }
  // The same of a call that waited for several, one after the other.
  void tell_parts(MetricIndex metric, const Call& at, Seconds severity,
                  std::span<const WaitPart> parts) {
    for_each_part(metric, at, severity, parts, ++unnamed_, [this](const Wait& wait) {
      keep(wait);
      if (causes_) causes_->on_direct_wait(wait);
    });
  }
  void tell(const Wait& wait) const {
    if (options_.watcher != nullptr) options_.watcher->on_wait(wait);
  }
  void keep(const Wait& wait) {
    instances_.add(wait);
    tell(wait);
  }

  // What only some traces need of every region instance.
  [[gnu::noinline]] void follow_enter(const earl::OpenCall& call) {
    if (waits_) waits_->on_enter(call);
    if (teams_) enter_team(call);
    if (stretch_counters_) stretch_counters_->enter(call.index, raw(call.cnode), doing(call));
  }
  [[gnu::noinline]] void follow_exit(const earl::Call& call,
                                     std::span<const std::uint64_t> counters) {
    if (waits_) waits_->on_call(call);
    if (teams_) leave_in_team(call);
    if (send_modes_ != nullptr) send_modes_->on_call(call);
    if (stretch_counters_) stretch_counters_->leave(call.index);
    for (std::size_t i = 0; i < counters.size(); ++i) {
      if (counters[i] == 0 || counters_[i] == Counter::kLeftOut) continue;
      const auto metric = static_cast<MetricIndex>(kMetrics + i);
      if (counters_[i] == Counter::kFloat) {
        severities_.add(metric, raw(call.cnode), call.index, std::bit_cast<double>(counters[i]));
      } else {
        severities_.add_count(metric, raw(call.cnode), call.index, counters[i]);
      }
    }
  }
  void enter_team(const earl::OpenCall& call) {
    teams_->on_enter(call);
    Seconds fork;
    CallPathId caller{};
    const RegionDef* region = trace_.definitions().regions.find(call.region);
    if (causes_) {
      const CallPathIndex as =
          omp_paths_.on_enter(call, region != nullptr && region->type == kOmpParallel);
      if (as != raw(call.cnode)) {
        causes_->compare_as(raw(call.cnode), as);
        if (stretch_counters_) stretch_counters_->compare_as(raw(call.cnode), as);
      }
    }
    if (region == nullptr || region->type != kOmpParallel ||
        !teams_->take_fork(call, fork, caller) || !(fork < call.enter)) {
      return;
    }
    // Up to here the profile counts it as the caller's own time.
    const double seconds = (call.enter - fork).value;
    severities_.add(metric_index<OmpFork>(), raw(caller), call.index, seconds);
    severities_.add(metric_index<Execution>(), raw(caller), call.index, -seconds);
  }
  // Which pattern claims waiting for a lock in such a call.
  std::optional<MetricIndex> omp_lock_wait(const earl::OpenCall& call) const {
    switch (classes_[call.region]) {
      case TimeClass::kOmpCritical:
        return metric_index<OmpCriticalWait>();
      case TimeClass::kOmpLockApi:
        return metric_index<OmpLockApiWait>();
      default:
        return std::nullopt;
    }
  }
  void leave_in_team(const earl::Call& call) {
    if (causes_) {
      omp_paths_.on_exit(call);
      const RegionDef* region = trace_.definitions().regions.find(call.region);
      if (region != nullptr && region->type == kOmpParallel && teams_->is_worker(call.index)) {
        causes_->on_left_team(call.index, call.exit);
      }
    }
    teams_->on_call(call);
    tasks_->on_call(call);
    // Calls of MPI and what the measurement does are no execution, there as elsewhere.
    if (teams_->between_regions(call) && classes_[call.region] == TimeClass::kUser &&
        call.exclusive > Seconds{0}) {
      severities_.add(metric_index<OmpBetweenRegions>(), raw(call.cnode), call.index,
                      call.exclusive.value);
      severities_.add(metric_index<Execution>(), raw(call.cnode), call.index,
                      -call.exclusive.value);
    }
    if (const Call* task = teams_->task_of_another(call)) {
      begin_operation(Operation::Object::kNothing, 0);
      add(OmpTaskwaitWait{}, call, OmpTaskwaitWait::severity(call, task->exit), exit_of(*task));
    }
    const std::vector<WaitPart> parts = locks_->take_waits(call);
    if (parts.empty()) return;
    const std::optional<MetricIndex> metric = omp_lock_wait(call);
    Seconds waited{};
    for (const WaitPart& part : parts) waited += part.when.length();
    if (!metric || !(waited > Seconds{0})) return;
    severities_.add(*metric, raw(call.cnode), call.index, waited.value);
    unexplained_.claim(call, waited);
    tell_parts(*metric, call, waited, parts);
  }
  void omp_team(LocationIndex master, Seconds fork, const std::vector<OmpTeams::Member>& members) {
    starters_.clear();
    for (const OmpTeams::Member& m : members) {
      const earl::OpenCall& parallel = m.parallel;
      starters_.push_back(
          {parallel.index, raw(parallel.cnode), m.before, parallel.enter, parallel.enter_pos});
    }
    causes_->on_team(master, fork, starters_);
  }
  void omp_barrier(const std::vector<earl::Call>& members, bool complete) {
    begin_operation(Operation::Object::kNothing, 0);
    if (causes_ && complete && members.size() > 1) {
      arrivals_.clear();
      for (const earl::Call& m : members) {
        arrivals_.push_back({m.index, m.enter, m.exit, m.exit_pos});
      }
      causes_->on_together(operation_.number, arrivals_);
    }
    add_barrier_waits(members, *this);
  }
  void follow_rma_waits() {
    RmaWaits::Results results;
    results.lock_contention = [this](LockSide side, const Call& call, Seconds waited, bool at_end,
                                     std::span<const WaitPart> parts) {
      severities_.add(contention_metric(side), raw(call.cnode), call.index, waited.value);
      if (at_end) {
        unexplained_.claim_at_end(raw(call.cnode), call.index, TimeSum::of(waited.value));
      } else {
        unexplained_.claim(call, waited);
      }
      tell_parts(contention_metric(side), call, waited, parts);
    };
    results.contention = [this](LockSide side, CallPathIndex path, LocationIndex location,
                                TimeSum waited) {
      severities_.add(contention_metric(side), path, location, waited);
      unexplained_.claim_at_end(path, location, waited);
    };
    const bool every_wait = causes_ || options_.watcher != nullptr;
    results.apart = [this, every_wait] {
      return std::make_unique<Apart>(options_.instances, trace_.location_count(), every_wait,
                                     logs_);
    };
    results.contention_waits = [this](LockSide side, WaitsApart& waits) {
      take_over(contention_metric(side), waits);
    };
    hides_progress_ = SwitchedOff(trace_.definitions()).hides_progress();
    results.progress = [this](ProgressKind kind, CallPathIndex path, LocationIndex location,
                              TimeSum waited) {
      severities_.add(progress_metric(kind), path, location, waited);
      unexplained_.claim_at_end(path, location, waited);
    };
    results.progress_waits = [this](ProgressKind kind, WaitsApart& waits) {
      take_over(progress_metric(kind), waits);
    };
    results.progress_parts = [this](ProgressKind kind, const Call& call, Seconds waited,
                                    std::span<const WaitPart> parts) {
      severities_.add(progress_metric(kind), raw(call.cnode), call.index, waited.value);
      unexplained_.claim_at_end(raw(call.cnode), call.index, TimeSum::of(waited.value));
      tell_parts(progress_metric(kind), call, waited, parts);
    };
    results.indirect = [this](CallPathIndex path, LocationIndex location, TimeSum waited) {
      severities_.add(metric_index<IndirectWait>(), path, location, waited);
      severities_.add(metric_index<EarlyWait>(), path, location, waited);
      unexplained_.claim_at_end(path, location, waited);
    };
    results.indirect_waits = [this](WaitsApart& apart) {
      const WaitResults worst = static_cast<Apart&>(apart).worst.finish();
      const KeptWaits& all = static_cast<Apart&>(apart).all;
      take_over(metric_index<IndirectWait>(), WaitResults(worst), all, true);
      take_over(metric_index<EarlyWait>(), WaitResults(worst), all);
    };
    waits_.emplace(trace_, !hides_progress_, std::move(results));
  }
  // Waits that were kept apart until it was known whether they count: the worst instances, and for
  // whom they were; and all of them, if somebody wants them.
  struct Apart : WaitsApart {
    Apart(std::size_t instances, std::size_t locations, bool every, LogMemory& memory)
        : worst(instances, locations), every_wait(every), all(memory) {}
    void add(const Wait& wait) override {
      worst.add(wait);
      if (every_wait) all.add(wait);
    }
    Instances worst;
    bool every_wait;
    KeptWaits all;
  };
  void take_over(MetricIndex metric, WaitsApart& waits) {
    Apart& apart = static_cast<Apart&>(waits);
    take_over(metric, apart.worst.finish(), apart.all);
  }
  // `part`: of waits of another pattern.
  void take_over(MetricIndex metric, WaitResults&& apart, const KeptWaits& all, bool part = false) {
    all.for_each([&](Wait wait) {
      wait.metric = metric;
      if (causes_ && !part) causes_->on_direct_wait(wait);
      tell(wait);
    });
    instances_.absorb(std::move(apart), metric);
  }
  template <class Pattern>
  KOJAK_INLINED void add_value(const earl::OpenCall& at, double value) {
    severities_.add(metric_index<Pattern>(), raw(at.cnode), at.index, value);
  }

  enum class Counter : std::uint8_t { kInteger, kFloat, kLeftOut };

  const earl::Trace& trace_;
  const AnalysisOptions& options_;
  SendModes* const send_modes_;
  bool follows_ = false;         // something needs every region instance
  bool hides_progress_ = false;  // Wait for Progress is not to be had
  SeverityStore severities_;
  RegionClasses classes_;
  Profile profile_;
  std::vector<Counter> counters_;
  Unexplained unexplained_;
  Catalogue patterns_;
  CollectiveView view_;
  BegunWaits begun_waits_;
  LogMemory logs_;                 // of waits: what one is done with is there for the next
  std::optional<OmpTeams> teams_;  // only where the trace has OpenMP constructs
  std::optional<OmpLocks> locks_;  // likewise
  FailedCallCounter failed_calls_;
  std::optional<OmpTasks> tasks_;  // likewise
  std::optional<RmaWaits> waits_;  // only where the trace has such epochs
  std::array<std::uint64_t, kNotes> notes_{};
  std::uint64_t calls_ = 0;
  std::uint64_t unnamed_ = std::uint64_t{1} << 63;  // numbers of waits for nobody who is known
  Operation operation_;                             // that the patterns are being told of
  Instances instances_;
  // By which call each was created.
  std::unordered_map<std::uint32_t, CallPathIndex> windows_, communicators_;
  LastCallFinder last_calls_;
  LastCalls found_last_calls_;
  std::vector<std::pair<std::uint32_t, Wait>> deadlocked_;  // of which deadlock
  Samples samples_;
  Processors processors_;
  PollStretches stretches_;
  OmpPaths omp_paths_;
  std::optional<CauseFinder> causes_;                // if wanted
  std::optional<StretchCounters> stretch_counters_;  // if the trace has counters, too
  std::vector<CauseFinder::Arrival> arrivals_;       // kept for its memory only
  std::vector<CauseFinder::Starter> starters_;       // the same
  std::vector<Cause> posts_;                         // likewise
  Unbegun unbegun_;
};

// The same, with a watcher that is told first.
class WatchedAnalysis : public Analysis {
 public:
  WatchedAnalysis(const earl::Trace& trace, const AnalysisOptions& options)
      : Analysis(trace, options), watcher_(*options.watcher) {}

  void on_enter(const earl::OpenCall& call) {
    watcher_.on_enter(call);
    Analysis::on_enter(call);
  }
  void on_call(const earl::Call& call, std::span<const std::uint64_t> counters) {
    watcher_.on_call(call);
    Analysis::on_call(call, counters);
  }
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times) {
    watcher_.on_processor(in, time, times);
    Analysis::on_processor(in, time, times);
  }
  void on_transfer_end(const earl::TransferEnd& end) { watcher_.on_transfer_end(end); }
#define KOJAK_WATCH(handler, Event)    \
  void handler(const earl::Event& e) { \
    watcher_.handler(e);               \
    Analysis::handler(e);              \
  }
  KOJAK_WATCH(on_send, SendEvent)
  KOJAK_WATCH(on_message_call, MessageCall)
  KOJAK_WATCH(on_transfer, Transfer)
  KOJAK_WATCH(on_fence_epoch, FenceEpoch)
  KOJAK_WATCH(on_window_collective, WindowInstance)
  KOJAK_WATCH(on_access_epoch, AccessEpoch)
  KOJAK_WATCH(on_access_transaction, AccessEpoch)
  KOJAK_WATCH(on_exposure_transaction, ExposureEpoch)
  KOJAK_WATCH(on_passive_epoch, PassiveEpoch)
#undef KOJAK_WATCH

 private:
  ReplayWatcher& watcher_;
};

std::vector<CallPath> call_paths(const earl::CallTree& tree) {
  std::vector<CallPath> paths;
  paths.reserve(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const earl::CallPath& path = tree[static_cast<CallPathId>(static_cast<std::uint32_t>(i))];
    paths.push_back(
        {path.region, path.csite, is_absent(path.parent) ? kNone : std::size_t{raw(path.parent)}});
  }
  return paths;
}

Finding causes_end_early(double until) {
  std::ostringstream what;
  what << "root causes end at " << std::fixed << std::setprecision(6) << until << " s";
  return {Finding::Severity::kNote, 1, what.str(),
          "There were more waits or operations than can be numbered. What was told later is left "
          "out of root causes and critical path, and its waiting counts as unexplained. Analyse a "
          "later part of the trace on its own (--from)."};
}

void add_limits(const SeverityStore& severities, std::vector<Finding>& findings) {
  if (severities.limited() != 0) {
    findings.push_back(
        {Finding::Severity::kSuspect, severities.limited(), "sum beyond what a cell holds",
         "It stays at the limit (97 days of one call path in one thread, 2^63 of what "
         "is counted). Analyse a part of the trace (--from, --to)."});
  }
  if (severities.left_out() != 0) {
    findings.push_back({Finding::Severity::kSuspect, severities.left_out(),
                        "value that is no number", "A hardware counter's, most likely: left out."});
  }
}

template <class A>
Report analyse_with(earl::Trace& trace, AnalysisOptions options) {
  std::vector<std::string> wrong = SwitchedOff(trace.definitions()).wrong_patterns(all_metrics());
  const bool causes_left_out = options.root_causes && !wrong.empty();
  if (causes_left_out) options.root_causes = false;
  A analysis(trace, options);
  earl::Replay replay(trace, analysis);
  const LibraryCalls library(replay.call_tree(), trace.definitions());
  analysis.use(&library);
  const Seconds first = trace.next_time().value_or(Seconds{0});
  if (options.watcher != nullptr) options.watcher->on_begin(first);
  replay.run();
  if (options.watcher != nullptr) options.watcher->on_end(std::max(replay.now(), first));
  std::vector<LocationId> locations;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) locations.push_back(trace.location(i));
  SeverityStore severities = analysis.finish(replay.call_tree());
  std::vector<ReportMetric> metrics = metrics_of(trace.definitions());
  analysis.add_remarks(metrics);
  Selection selection = options.selection;
  std::move(wrong.begin(), wrong.end(), std::back_inserter(selection.exclude));
  selection.apply(metrics);
  std::vector<Finding> findings = findings_of(trace, analysis.notes(), analysis.unbegun());
  add_limits(severities, findings);
  if (causes_left_out) {
    findings.push_back({Finding::Severity::kNote, 1, "root causes left out",
                        "Patterns are left out, so it is not known who waited for whom."});
  }
  WaitResults waits = analysis.waits();
  std::optional<RootCauses> root_causes = analysis.root_causes(waits);
  if (root_causes && root_causes->until) findings.push_back(causes_end_early(*root_causes->until));
  std::vector<CallPath> paths = call_paths(replay.call_tree());
  std::map<RegionId, std::string> stretches;
  ProcessorUse processors =
      analysis.processors().finish(trace.definitions(), [&](CallPathIndex path) {
        while (paths[path].parent != kNone) path = static_cast<CallPathIndex>(paths[path].parent);
        return path;
      });
  add_processor_metric(processors, severities, metrics);
  add_processor_findings(processors, findings);
  add_waiting_counters(severities, metrics, paths.size());
  analysis.samples().add_metric(severities, metrics, paths);
  if (root_causes) {
    name_sampled_functions(*root_causes, trace.definitions());
    add_cause_metrics(*root_causes, {trace.definitions(), severities, metrics, paths, stretches});
  }
  return {trace.definitions(),
          std::move(locations),
          metrics,
          paths,
          std::move(severities),
          std::move(findings),
          std::move(waits),
          analysis.last_calls(),
          std::move(root_causes),
          std::move(stretches),
          std::move(processors),
          analysis.tasks(),
          analysis.failed_calls()};
}

}  // namespace

Report analyse(earl::Trace& trace, const AnalysisOptions& options) {
  return options.watcher != nullptr ? analyse_with<WatchedAnalysis>(trace, options)
                                    : analyse_with<Analysis>(trace, options);
}

}  // namespace kojak::expert
