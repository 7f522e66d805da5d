#include "merge/clock/causal_pass.h"

#include "merge/clock/causal_calls.h"

namespace kojak::merge {
namespace {

class CausalPass : private CausalCalls {
 public:
  CausalPass(const CausalInputs& in, const Timelines& timelines, bool correcting)
      : CausalCalls(in, timelines, correcting) {
    for (std::size_t i = 0; i < in.traces.size(); ++i) add(i);
    for (std::uint32_t e = 0; e < in.locks.size(); ++e) {
      const LockEdge& edge = in.locks[e];
      thread_of(edge.from_trace).begins.emplace_back(edge.from_position, e);
      thread_of(edge.to_trace).ends.emplace_back(edge.to_position, e);
    }
    for (CausalProcess& p : processes_) {
      for (CausalThread& t : p.threads) {
        std::sort(t.begins.begin(), t.begins.end());
        std::sort(t.ends.begin(), t.ends.end());
      }
    }
  }

  CausalCounts run() {
    for (CausalProcess& p : processes_) {
      if (p.threads.empty()) {
        p.ended = true;
        begun_.end(static_cast<std::uint32_t>(&p - processes_.data()));
        continue;
      }
      for (CausalThread& t : p.threads) t.more = t.stream.advance();
      go_on(p);
    }
    for (std::uint64_t turn = 0;; ++turn) {
      if ((turn & 0xFFFF) == 0) report();
      if (queue_.empty() && !break_deadlock()) break;
      CausalProcess& p = processes_[queue_.top().second];
      queue_.pop();
      p.queued = false;
      if (p.ended) continue;
      while (step(p)) {
        CausalThread& t = p.current();
        t.more = t.stream.advance();
        if (!t.more) done_ += t.stream.trace->size;
        if (!p.select(correcting_)) {
          end(p);
          break;
        }
        if (!queue_.empty() && queue_.top().first < p.time) {
          enqueue(p);
          break;
        }
      }
      wake();
    }
    begun_.finish();
    limit_begun();
    counts_.unchecked += begun_.lost();
    return counts_;
  }

 private:
  void add(std::size_t index) {
    const LocalTrace& trace = in_.traces[index];
    CausalProcess& p = processes_[trace.rank];
    p.rank = trace.rank;
    p.timeline = timelines_[trace.rank].get();
    CausalThread& t = p.threads.emplace_back(in_.files, trace, in_.buffer);
    Stream& s = t.stream;
    s.clock = in_.clocks[index];
    s.rank = trace.rank;
    s.translation = in_.survey.traces[index].translation.get();
    if (!correcting_ && p.timeline->moved()) {
      s.control({*p.timeline, static_cast<std::uint32_t>(p.threads.size() - 1)});
    }
    threads_.push_back({trace.rank, static_cast<std::uint32_t>(p.threads.size() - 1)});
  }
  CausalThread& thread_of(std::uint32_t trace) {
    return processes_[threads_[trace].first].threads[threads_[trace].second];
  }
  void report() {
    std::uint64_t done = done_;
    for (const CausalProcess& p : processes_) {
      for (const CausalThread& t : p.threads) {
        if (t.more) done += t.stream.input.offset();
      }
    }
    if (in_.progress) in_.progress(done);
  }

  // ---- who is next ------------------------------------------------------------------------------

  void go_on(CausalProcess& p) {
    if (p.select(correcting_)) {
      enqueue(p);
    } else {
      end(p);
    }
  }
  void wake() {
    for (const std::uint32_t rank : channels_.woken()) enqueue(processes_[rank]);
    channels_.woken().clear();
    for (const std::uint32_t rank : begun_.woken()) enqueue(processes_[rank]);
    begun_.woken().clear();
    limit_begun();
  }
  void end(CausalProcess& p) {
    p.ended = true;
    for (CausalProcess& other : processes_) {
      if (other.need < other.needs.size() && other.needs[other.need].channel.from == p.rank &&
          !other.ended) {
        enqueue(other);
      }
    }
    leave_instances(p);
    begun_.end(p.rank);
  }
  // All wait for each other in a circle: in it, who need not wait, else the first, goes on without.
  bool break_deadlock() {
    CausalProcess* p = nullptr;
    for (CausalProcess& any : processes_) {
      if (!any.ended) p = &any;
    }
    if (p == nullptr) return false;
    for (std::size_t i = 0; i < processes_.size(); ++i) {  // into the circle
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
      channels_.give_up(first->needs[first->need].channel);
      ++first->need;
      ++counts_.unchecked;
    } else if (first->in_instance) {
      resolve_without(*first);
    } else if (first->completes) {
      begun_.give_up(first->rank);
    }
    enqueue(*first);
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
      rank = missing_member(p);
    } else if (p.completes) {
      rank = begun_.missing(p.rank);
    }
    return rank != kAbsent && !processes_[rank].ended ? &processes_[rank] : nullptr;
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
      const auto found = channels_.take(need.channel, need.number, p.rank,
                                        processes_[need.channel.from].ended, cause);
      if (found == Channels::Found::kWait) return false;
      if (found == Channels::Found::kNone || !need.checked) {
        ++counts_.unchecked;
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
      count(cause.linear, p.linear);
      if (behind(cause, p, time)) time = after(cause.time);
    }
    if (p.completes) {
      time = completion(p, time);
      begun_.complete(p.rank, *p.completes, time);
    }
    if (correcting_) {
      if (time > p.time) add_item(p, time);
      for (const Cause& cause : p.causes) {
        if (cause.process != kAbsent) timelines_[cause.process]->limit(cause.item, time);
      }
    }
    CausalThread& t = p.current();
    if (p.publishes) publish_send(p);
    if (p.pops) {
      t.assertion = 0;
      if (!t.stack.empty()) t.stack.pop_back();
    }
  }
  void examine(CausalProcess& p) {
    CausalThread& t = p.current();
    const Stream& s = t.stream;
    if (region_effect(s.type) == RegionEffect::kLeaves) p.pops = true;
    switch (static_cast<RecordType>(s.type)) {
      case RecordType::kEnter:
      case RecordType::kEnterCs:
        enter(p);
        break;
      case RecordType::kMpiSend:
        p.publishes = true;
        break;
      case RecordType::kMpiRecv:
        receive(p);
        break;
      case RecordType::kMpiRecvRequest:
        post(p);
        break;
      case RecordType::kMpiCancelled:
      case RecordType::kMpiRequestFreed:
        cancel(p);
        break;
      case RecordType::kMsgState:
        message_state(p);
        break;
      case RecordType::kMpiCollExit:
        collective(p);
        break;
      case RecordType::kCollState:
        collective_state(p);
        break;
      case RecordType::kMpiCollBegin:
        begin_collective(p);
        break;
      case RecordType::kMpiRequestComplete:
        complete_collective(p);
        break;
      case RecordType::kMpiWinExit:
      case RecordType::kMpiWinCollExit:
        synchronise(p);
        break;
      case RecordType::kWinState:
      case RecordType::kEpochState:
      case RecordType::kMpiWinFlush:
      case RecordType::kMpiWinUnlock:
      case RecordType::kMpiWinUnlockAll:
      case RecordType::kMpiRmaComplete:
        synchronise(p);
        prove_lock(p);
        break;
      case RecordType::kMpiAssert: {
        MpiAssert assertion;
        if (decode(s.raw_record(), s.dialect, assertion) == nullptr) {
          t.assertion = raw(assertion.assertion);
        }
        break;
      }
      case RecordType::kLogOff:
        pause(p);
        begun_.pause(p.rank);
        [[fallthrough]];
      case RecordType::kEnterTracing:
        t.stack.push_back({});
        break;
      default:
        break;
    }
  }
  std::uint32_t region_of(const Stream& s) const {
    std::uint32_t id;
    std::memcpy(&id, s.record + 14, 4);
    if (s.dialect.swapped()) id = byte_swapped(id);
    if (s.type == type_of(RecordType::kEnter)) return s.translation->regions[id];
    const std::uint32_t site = s.translation->call_sites[id];
    return site != kAbsent ? defs_.call_sites[site].entered : kAbsent;
  }
  static bool can_be_cause(MpiRole role) {
    switch (role) {
      case MpiRole::kWinFence:
      case MpiRole::kWinPost:
      case MpiRole::kWinComplete:
      case MpiRole::kBarrier:
      case MpiRole::kOneToAll:
      case MpiRole::kAllToOne:
      case MpiRole::kAllToAll:
      case MpiRole::kPrefix:
      case MpiRole::kNeighbor:
        return true;
      default:
        return false;
    }
  }
  void enter(CausalProcess& p) {
    CausalThread& t = p.current();
    OpenRegion open;
    if (static_cast<std::uint8_t>(t.stream.record[0]) >= 16) open.region = region_of(t.stream);
    open.enter = {p.rank, 0, p.linear, p.time};
    const std::uint64_t position = t.stream.position();
    std::uint32_t edge = CausalThread::edge_at(t.begins, t.next_begin, position);
    const bool cause = open.region != kAbsent && can_be_cause(defs_.regions[open.region].role);
    if (cause || edge != kAbsent) open.enter = cause_here(p);
    for (; edge != kAbsent; edge = CausalThread::edge_at(t.begins, t.next_begin, position)) {
      channels_.publish(lock_channel(edge), open.enter);
    }
    t.stack.push_back(open);
  }
  ChannelKey lock_channel(std::uint32_t edge) const {
    return {ChannelKind::kLock, edge, threads_[in_.locks[edge].from_trace].first,
            threads_[in_.locks[edge].to_trace].first, 0};
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
