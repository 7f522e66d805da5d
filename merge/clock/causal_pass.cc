#include "merge/clock/causal_pass.h"

#include "epilog/format/epoch_moves.h"
#include "epilog/format/mpi_roles.h"
#include "merge/clock/causal_calls.h"
#include "merge/complete/walk.h"

namespace kojak::merge {
namespace {

class CausalPass {
 public:
  CausalPass(const CausalInputs& in, const Timelines& timelines, bool correcting)
      : state_(in, timelines, correcting) {
    for (std::size_t i = 0; i < in.traces.size(); ++i) add(i);
    for (std::uint32_t e = 0; e < in.locks.size(); ++e) {
      const LockEdge& edge = in.locks[e];
      thread_of(edge.from_trace).begins.emplace_back(edge.from_position, e);
      thread_of(edge.to_trace).ends.emplace_back(edge.to_position, e);
    }
    for (CausalProcess& p : state_.processes) {
      for (CausalThread& t : p.threads) {
        std::sort(t.begins.begin(), t.begins.end());
        std::sort(t.ends.begin(), t.ends.end());
      }
    }
  }

  CausalCounts run() {
    for (CausalProcess& p : state_.processes) {
      if (p.threads.empty()) {
        p.ended = true;
        begun_.end(static_cast<std::uint32_t>(&p - state_.processes.data()));
        continue;
      }
      for (CausalThread& t : p.threads) t.more = t.stream.advance();
      go_on(p);
    }
    for (std::uint64_t turn = 0;; ++turn) {
      if ((turn & 0xFFFF) == 0) report();
      if (state_.queue.empty() && !break_deadlock()) break;
      CausalProcess& p = state_.processes[state_.queue.top().second];
      state_.queue.pop();
      p.queued = false;
      if (p.ended) continue;
      while (step(p)) {
        CausalThread& t = p.current();
        t.more = t.stream.advance();
        if (!t.more) done_ += t.stream.trace->size;
        if (!p.select(state_.correcting)) {
          end(p);
          break;
        }
        if (!state_.queue.empty() && state_.queue.top().first < p.time) {
          state_.enqueue(p);
          break;
        }
      }
      wake();
    }
    begun_.finish();
    calls_.limit_begun();
    state_.counts.unchecked += begun_.lost();
    return state_.counts;
  }

 private:
  void add(std::size_t index) {
    const LocalTrace& trace = state_.in.traces[index];
    CausalProcess& p = state_.processes[trace.rank];
    p.rank = trace.rank;
    p.timeline = state_.timelines[trace.rank].get();
    CausalThread& t = p.threads.emplace_back(state_.in.files, trace, state_.in.buffers);
    Stream& s = t.stream;
    s.clock = state_.in.clocks[index];
    s.rank = trace.rank;
    s.translation = state_.in.survey.traces[index].translation.get();
    if (!state_.correcting && p.timeline->moved()) {
      s.control({*p.timeline, static_cast<std::uint32_t>(p.threads.size() - 1)});
    }
    threads_.push_back({trace.rank, static_cast<std::uint32_t>(p.threads.size() - 1)});
  }
  CausalThread& thread_of(std::uint32_t trace) {
    return state_.processes[threads_[trace].first].threads[threads_[trace].second];
  }
  void report() {
    std::uint64_t done = done_;
    for (const CausalProcess& p : state_.processes) {
      for (const CausalThread& t : p.threads) {
        if (t.more) done += t.stream.input.progress();
      }
    }
    if (state_.in.progress) state_.in.progress(done);
  }

  // ---- who is next ------------------------------------------------------------------------------

  void go_on(CausalProcess& p) {
    if (p.select(state_.correcting)) {
      state_.enqueue(p);
    } else {
      end(p);
    }
  }
  void wake() {
    for (const std::uint32_t rank : state_.channels.woken()) state_.enqueue(state_.processes[rank]);
    state_.channels.woken().clear();
    for (const std::uint32_t rank : begun_.woken()) state_.enqueue(state_.processes[rank]);
    begun_.woken().clear();
    calls_.limit_begun();
  }
  void end(CausalProcess& p) {
    p.ended = true;
    for (CausalProcess& other : state_.processes) {
      if (other.need < other.needs.size() && other.needs[other.need].channel.from == p.rank &&
          !other.ended) {
        state_.enqueue(other);
      }
    }
    instances_.leave_instances(p);
    begun_.end(p.rank);
  }
  // All wait for each other in a circle: in it, who need not wait, else the first, goes on without.
  bool break_deadlock() {
    CausalProcess* p = nullptr;
    for (CausalProcess& any : state_.processes) {
      if (!any.ended) p = &any;
    }
    if (p == nullptr) return false;
    for (std::size_t i = 0; i < state_.processes.size(); ++i) {  // into the circle
      CausalProcess* next = awaited(*p);
      if (next == nullptr) break;
      p = next;
    }
    CausalProcess* first = p;
    const CausalProcess* const begin = p;
    while ((p = awaited(*p)) != nullptr && p != begin) {
      if (is_soft(*p) != is_soft(*first) ? is_soft(*p) : p->time < first->time) first = p;
    }
    if (first->need < first->needs.size()) {
      state_.channels.give_up(first->needs[first->need].channel);
      ++first->need;
      ++state_.counts.unchecked;
    } else if (first->in_instance) {
      instances_.resolve_without(*first);
    } else if (first->completes) {
      begun_.give_up(first->rank);
    }
    state_.enqueue(*first);
    return true;
  }

  bool is_soft(const CausalProcess& p) const {
    if (p.need < p.needs.size()) return p.needs[p.need].soft;
    return !p.in_instance && p.completes && begun_.doubtful(p.rank);
  }
  // Whom it waits for, if that one waits, too.
  CausalProcess* awaited(const CausalProcess& p) {
    std::uint32_t rank = kAbsent;
    if (p.need < p.needs.size()) {
      rank = p.needs[p.need].channel.from;
    } else if (p.in_instance) {
      rank = instances_.missing_member(p);
    } else if (p.completes) {
      rank = begun_.missing(p.rank);
    }
    return rank != kAbsent && !state_.processes[rank].ended ? &state_.processes[rank] : nullptr;
  }

  // ---- one event --------------------------------------------------------------------------------

  // False if it has to wait.
  bool step(CausalProcess& p) {
    if (!p.examined) {
      p.examined = true;
      examine(p);
    }
    while (p.need < p.needs.size()) {
      const Need& need = p.needs[p.need];
      Cause cause;
      const auto found = state_.channels.take(need.channel, need.number, p.rank,
                                              state_.processes[need.channel.from].ended, cause);
      if (found == Channels::Found::kWait) return false;
      if (found == Channels::Found::kNone || !need.checked) {
        ++state_.counts.unchecked;
      } else {
        p.causes.push_back(cause);
        p.bounds.push_back(need.bound);
      }
      ++p.need;
    }
    if (p.in_instance) return false;
    if (p.completes && !begun_.ready(p.rank, *p.completes)) return false;
    commit(p);
    return true;
  }
  void commit(CausalProcess& p) {
    double time = std::max(p.time, p.earliest);
    for (std::size_t i = 0; i < p.causes.size(); ++i) {
      const Cause& cause = p.causes[i];
      if (cause.linear - p.linear > p.bounds[i]) {
        p.causes[i].process = kAbsent;
        continue;
      }
      state_.count(cause.linear, p.linear);
      if (state_.behind(cause, p, time)) time = after(cause.time);
    }
    if (p.completes) {
      time = calls_.completion(p, time);
      begun_.complete(p.rank, *p.completes, time);
    }
    if (state_.correcting) {
      if (time > p.time) state_.add_item(p, time);
      for (const Cause& cause : p.causes) {
        if (cause.process != kAbsent) state_.timelines[cause.process]->limit(cause.item, time);
      }
    }
    CausalThread& t = p.current();
    if (p.publishes) messages_.publish_send(p);
    if (p.pops) {
      t.assertion = 0;
      if (!t.stack.empty()) t.stack.pop_back();
    }
  }
  // What an event needs, and what it means to the regions and windows (walk.h).
  struct Visitor {
    CausalPass& pass;
    CausalProcess& p;
    void enter(std::uint32_t id, bool call_site) { pass.enter(p, id, call_site); }
    void open() { p.current().stack.push_back({}); }
    void pause() {
      pass.messages_.pause(p);
      pass.begun_.pause(p.rank);
      open();
    }
    void sync(const RawRecord&, const Dialect&) { pass.calls_.synchronise(p); }
    void leave() { p.pops = true; }
    void assertion(std::uint32_t bits) { p.current().assertion = bits; }
  };
  void examine(CausalProcess& p) {
    const Stream& s = p.current().stream;
    const Step step = step_of(s.type);
    if (step != Step::kPlain) {
      Visitor visitor{*this, p};
      walk(step, s.raw_record(), s.dialect, visitor);
      if (step == Step::kSync) prove_lock(p);
    }
    switch (static_cast<RecordType>(s.type)) {
      case RecordType::kMpiSend:
        p.publishes = true;
        break;
      case RecordType::kMpiRecv:
        messages_.receive(p);
        break;
      case RecordType::kMpiRecvRequest:
        messages_.post(p);
        break;
      case RecordType::kRequestState:
        messages_.open_request(p);
        break;
      case RecordType::kMpiCancelled:
      case RecordType::kMpiRequestFreed:
        messages_.cancel(p);
        break;
      case RecordType::kMsgState:
        messages_.message_state(p);
        break;
      case RecordType::kMsgRestarted:
        messages_.restart(p);
        break;
      case RecordType::kMpiCollExit:
        calls_.collective(p);
        break;
      case RecordType::kCollState:
        calls_.collective_state(p);
        break;
      case RecordType::kMpiCollBegin:
        calls_.begin_collective(p);
        break;
      case RecordType::kMpiRequestComplete:
        calls_.complete_collective(p);
        break;
      default:
        break;
    }
  }
  // Whether others may have to wait until a process enters the function.
  static bool can_be_cause(MpiRole role) {
    const EpochMove move = group_exit_move(role, true);
    return is_blocking_collective(role) || move == EpochMove::kPost ||
           move == EpochMove::kComplete || collective_exit_move(role) == EpochMove::kFence;
  }
  void enter(CausalProcess& p, std::uint32_t id, bool call_site) {
    CausalThread& t = p.current();
    OpenRegion open;
    open.region = entered_region(*t.stream.translation, state_.defs, id, call_site);
    open.enter = {p.rank, 0, p.linear, p.time};
    const std::uint64_t position = t.stream.position();
    std::uint32_t edge = CausalThread::edge_at(t.begins, t.next_begin, position);
    const bool cause =
        open.region != kAbsent && can_be_cause(state_.defs.regions[open.region].role());
    if (cause || edge != kAbsent) open.enter = state_.cause_here(p);
    for (; edge != kAbsent; edge = CausalThread::edge_at(t.begins, t.next_begin, position)) {
      state_.channels.publish(lock_channel(edge), open.enter);
    }
    t.stack.push_back(open);
  }
  ChannelKey lock_channel(std::uint32_t edge) const {
    return {ChannelKind::kLock, edge, threads_[state_.in.locks[edge].from_trace].first,
            threads_[state_.in.locks[edge].to_trace].first, 0};
  }
  void prove_lock(CausalProcess& p) {
    CausalThread& t = p.current();
    const std::uint64_t position = t.stream.position();
    for (;;) {
      const std::uint32_t edge = CausalThread::edge_at(t.ends, t.next_end, position);
      if (edge == kAbsent) return;
      p.needs.push_back({lock_channel(edge), 1});
    }
  }

  CausalState state_;
  CausalMessages messages_{state_};
  CausalInstances instances_{state_};
  CausalCalls calls_{state_, messages_, instances_};
  BegunCalls& begun_ = calls_.begun();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> threads_;  // process and thread, by trace
  std::uint64_t done_ = 0;
};

}  // namespace

CausalCounts correct_forward(const CausalInputs& in, Timelines& timelines) {
  return CausalPass(in, timelines, true).run();
}
CausalCounts check_corrected(const CausalInputs& in, const Timelines& timelines) {
  return CausalPass(in, timelines, false).run();
}

}  // namespace kojak::merge
