#include "tests/unit/earl_sequences.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace kojak::earl {
namespace {

using sequence::Epoch;
using sequence::State;
using sequence::Transaction;

void put(std::ostream& out, const char* name, const std::vector<std::uint64_t>& list) {
  if (list.empty()) return;
  out << name;
  for (const std::uint64_t pos : list) out << ' ' << pos;
  out << '\n';
}

std::string text(const Epoch& e) {
  std::ostringstream out;
  out << static_cast<int>(e.mode) << ' ' << raw(e.process) << " w" << raw(e.window) << " ["
      << e.opened << ',' << e.closed << "] " << raw(e.target) << (e.exclusive ? "x" : "s")
      << e.ordinal;
  for (const Epoch::Partner& p : e.partners) {
    out << " (" << raw(p.process) << ' ' << p.ordinal << (p.epoch != kAbsent ? "+" : "-") << ')';
  }
  for (const sequence::Operation& o : e.operations) {
    out << ' ' << o.issued() << ':' << o.start << ':' << o.end << ">" << raw(o.target)
        << (o.get ? "g" : "p") << (o.marked ? "!" : "");
  }
  return out.str();
}

template <class Set>
void put_collectives(std::ostream& out, const char* name, const Set& set) {
  const auto one = [&](const char* what, const sequence::CollectiveInstance& c) {
    out << name << what << c.group << ' ' << c.ordinal << ' ' << c.size;
    for (const std::uint64_t pos : c.exits) out << ' ' << pos;
    out << '\n';
  };
  set.for_each([&](const sequence::CollectiveInstance& c) { one(" open ", c); });
  if (set.complete() != nullptr) one(" complete ", *set.complete());
}

std::uint64_t hash(const std::string& text) {
  return std::hash<std::string>()(text);
}

// What State does in one step, and where it leaves out aspects that an event does not concern.
void apply_alone(State& s, Event& e) {
  s.regions.apply(e);
  s.paths.apply(e);
  s.symmetric.apply(e);
  s.shmem_waits.apply(e);
  s.polls.apply(e);
  s.values.apply(e);
  s.messages.apply(e);
  s.transfers.apply(e);
  s.origins.apply(e);
  s.mpi_collectives.apply(e);
  s.window_collectives.apply(e);
  s.shmem_collectives.apply(e);
  s.omp_collectives.apply(e);
  s.epochs.apply(e);
  s.window_locks.apply(e);
  s.thread_locks.apply(e);
  s.teams.apply(e);
}

}  // namespace

std::string describe(const State& state, const Trace& trace) {
  std::ostringstream out;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    for (const sequence::OpenRegion& r : state.regions.stack(i)) {
      out << 'L' << i << ' ' << r.enter << ':' << raw(r.region) << '\n';
    }
    put(out, "transfers", state.transfers.of(trace.location(i)));
    put(out, "origins", state.origins.of(trace.location(i)));
    for (const std::uint64_t fork : state.teams.open(i)) out << "team " << fork << '\n';
  }
  const CallTree& tree = state.paths.tree();
  for (std::uint32_t p = 0; p < tree.size(); ++p) {
    const auto path = static_cast<CallPathId>(p);
    out << "path " << raw(tree[path].parent) << ' ' << raw(tree[path].region) << ' '
        << tree[path].first_enter;
    for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
      out << ' ' << state.paths.visits(path, i);
    }
    out << '\n';
  }
  for (std::uint32_t p = 0; p < trace.process_count(); ++p) {
    put(out, "queue", state.symmetric.queue(rank(p)));
    for (const std::uint32_t context : {0u, 1u, 3u, 7u}) {
      put(out, "context", state.symmetric.queue(rank(p), context));
    }
  }
  out << state.symmetric.placeptr() << ' ' << state.symmetric.writeptr() << ' '
      << state.values.writeptr() << ' ' << state.values.holderptr() << '\n';
  put(out, "sends", state.messages.sends());
  for (const sequence::MessagePair& p : state.messages.paired()) {
    out << "pair " << p.send << ' ' << p.recv << '\n';
  }
  put_collectives(out, "mpi", state.mpi_collectives);
  put_collectives(out, "win", state.window_collectives);
  put_collectives(out, "shmem", state.shmem_collectives);
  put_collectives(out, "omp", state.omp_collectives);
  std::vector<std::string> epochs;
  state.epochs.for_each([&](const Epoch& e) { epochs.push_back(text(e)); });
  std::sort(epochs.begin(), epochs.end());
  for (const std::string& e : epochs) out << e << '\n';
  for (const Transaction& t : state.epochs.access_transactions()) {
    put(out, t.whole() ? "accta" : "accta?", t.events());
  }
  for (const Transaction& t : state.epochs.exposure_transactions()) {
    put(out, t.whole() ? "expta" : "expta?", t.events());
  }
  for (const sequence::EpochPair& p : state.epochs.epoch_pairs()) put(out, "pair", p.events());
  for (const Epoch* e : state.epochs.finished()) out << "finished " << text(*e) << '\n';
  trace.definitions().windows.for_each([&](WindowId window, const WindowDef&) {
    for (std::uint32_t p = 0; p < trace.process_count(); ++p) {
      for (const auto& l : state.window_locks.holders(window, rank(p))) {
        out << "holds " << raw(window) << ' ' << p << ' ' << l.lock << '\n';
      }
      for (const auto& l : state.window_locks.waiters(window, rank(p))) {
        out << "waits " << raw(window) << ' ' << p << ' ' << l.lock << '\n';
      }
    }
  });
  for (std::uint32_t lock = 0; lock < 4; ++lock) {
    for (std::uint32_t p = 0; p <= trace.process_count(); ++p) {
      const ProcessId process = p < trace.process_count() ? rank(p) : absent<ProcessId>();
      if (const auto* held = state.thread_locks.find(process, LockId{lock})) {
        out << "lock " << p << ' ' << lock << ' ' << held->latest << held->held << raw(held->holder)
            << '\n';
      }
    }
  }
  for (const sequence::ShmemWait& w : state.shmem_waits.waits()) {  // for what: told later
    out << "in wait " << raw(w.location) << ' ' << w.enter << (w.for_lock ? " lock" : "") << '\n';
  }
  return out.str();
}

void expect_same_access(const std::vector<std::byte>& bytes, unsigned seed, int positions) {
  auto archive = Archive::from(bytes, "random");
  ASSERT_TRUE(archive) << archive.error().message();
  // Streaming: the state after every event as a number, the pointers of every event.
  auto trace = Trace::from(memory_source(bytes.data(), bytes.size()), "stream");
  ASSERT_TRUE(trace);
  sequence::StateStream stream(*trace);
  State alone(*trace);  // its aspects, each given every event
  struct Seen {
    Event event;
    std::uint64_t state = 0, start, origin, lock, fork, request;
    CallPathId path;
  };
  std::map<std::uint64_t, Seen> seen;
  std::map<std::uint64_t, std::uint64_t> sends;
  Event e;
  while (stream.next(e)) {
    const State& s = stream.state();
    Seen& one = seen[e.pos];
    one.event = e;
    one.state = hash(describe(s, *trace));
    Event same = e;
    apply_alone(alone, same);
    ASSERT_EQ(hash(describe(alone, *trace)), one.state) << e.pos;
    one.start = s.transfers.startptr();
    one.origin = s.origins.originptr();
    one.lock = is_sync(e.type) ? s.thread_locks.lockptr() : s.window_locks.lockptr();
    one.fork = s.teams.forkptr();
    one.request = s.messages.feed().requestptr();
    one.path = s.paths.current();
    for (const auto& p : s.messages.paired()) sends[p.recv] = p.send;
  }
  for (const auto& p : stream.state().messages.paired()) sends[p.recv] = p.send;
  ASSERT_EQ(archive->size(), trace->events_read());
  EXPECT_EQ(archive->damage().has_value(), trace->damage().has_value());
  if (archive->size() == 0) return;

  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> places{0, archive->size() - 1};
  for (int i = 0; i < positions; ++i) places.push_back(random() % archive->size());
  for (const std::uint64_t pos : places) {
    const Event a = (*archive)[pos];
    const auto it = seen.find(pos);
    if (it == seen.end()) {  // the record cannot be decoded
      EXPECT_TRUE(is_absent(a.loc));
      continue;
    }
    const Event& b = it->second.event;
    ASSERT_EQ(a.pos, b.pos);
    ASSERT_EQ(a.type, b.type);
    ASSERT_EQ(a.time, b.time);
    ASSERT_EQ(a.loc, b.loc);
    ASSERT_EQ(a.reg, b.reg) << pos;
    ASSERT_EQ(a.peer, b.peer);
    ASSERT_EQ(a.request, b.request);
    ASSERT_EQ(a.sent, b.sent);
    ASSERT_EQ(a.recvd, b.recvd);
    ASSERT_EQ(a.enterptr, b.enterptr) << pos;
    ASSERT_EQ(archive->enterptr(pos), b.enterptr);
    ASSERT_EQ(archive->startptr(pos), it->second.start) << pos;
    ASSERT_EQ(archive->originptr(pos), it->second.origin) << pos;
    ASSERT_EQ(archive->lockptr(pos), it->second.lock) << pos;
    ASSERT_EQ(archive->forkptr(pos), it->second.fork) << pos;
    ASSERT_EQ(archive->requestptr(pos), it->second.request) << pos;
    ASSERT_EQ(archive->call_path(pos), it->second.path) << pos;
    const auto send = sends.find(pos);
    ASSERT_EQ(archive->sendptr(pos), send == sends.end() ? kNoEvent : send->second) << pos;
    const auto state = archive->state(pos);
    ASSERT_EQ(hash(describe(*state, archive->trace())), it->second.state)
        << "after event " << pos << ":\n"
        << describe(*state, archive->trace());
    for (const std::uint64_t to : {archive->sendptr(pos), archive->startptr(pos),
                                   archive->lockptr(pos), archive->cnodeptr(pos)}) {
      ASSERT_TRUE(to == kNoEvent || to <= pos || is_recv(a.type));
    }
  }
}

void expect_same_analysis(const std::vector<std::byte>& bytes) {
  auto first = Trace::from(memory_source(bytes.data(), bytes.size()), "analysis");
  ASSERT_TRUE(first);
  Recorder out;
  replay(*first, out);

  using Sides = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  const auto side = [](bool has_begin, const Call& begin, bool has_end, const Call& end) {
    return std::pair(has_begin ? begin.exit_pos : kNoEvent, has_end ? end.exit_pos : kNoEvent);
  };
  std::multimap<std::string, int> pairs_a, pairs_b;
  std::map<std::uint64_t, std::uint64_t> sends_a, sends_b;
  std::multiset<Sides> access_a, access_b, exposure_a, exposure_b;
  for (const MessageCallCopy& m : out.messages) {
    for (const Message& one : m.received) sends_a[one.recv_pos] = one.send_pos;
  }
  for (const AccessCopy& a : out.accesses) {
    if (!a.complete) continue;
    Sides sides{side(true, a.start, true, a.finish)};
    for (const auto& e : a.exposures) sides.push_back(side(true, e->post, true, e->finish));
    access_a.insert(sides);
  }
  for (const ExposureCopy& e : out.exposures) {
    if (!e.complete) continue;
    Sides sides{side(true, e.post, true, e.finish)};
    for (const auto& a : e.accesses) sides.push_back(side(true, a->start, true, a->finish));
    exposure_a.insert(sides);
  }

  auto second = Trace::from(memory_source(bytes.data(), bytes.size()), "states");
  ASSERT_TRUE(second);
  sequence::StateStream stream(*second);
  const auto sides_of = [](const Transaction& t) {
    Sides sides{{t.root->opened, t.root->closed}};
    for (const Epoch* e : t.partners) sides.push_back({e->opened, e->closed});
    return sides;
  };
  Event e;
  std::size_t operations = 0;
  bool more = true;
  while (more) {
    more = stream.next(e);
    const State& s = stream.state();
    for (const auto& p : s.messages.paired()) sends_b[p.recv] = p.send;
    if (!more) break;
    for (const Transaction& t : s.epochs.access_transactions()) {
      if (t.whole()) access_b.insert(sides_of(t));
      operations += t.root->operations.size();
    }
    for (const Transaction& t : s.epochs.exposure_transactions()) {
      if (t.whole()) exposure_b.insert(sides_of(t));
    }
  }
  EXPECT_EQ(sends_a, sends_b);
  auto archive = Archive::from(bytes, "index");
  ASSERT_TRUE(archive);
  archive->for_each(0, archive->size(), [&](const Event& event) {
    const auto send = sends_a.find(event.pos);
    EXPECT_EQ(archive->sendptr(event), send == sends_a.end() ? kNoEvent : send->second);
  });
  EXPECT_EQ(access_a, access_b);
  EXPECT_EQ(exposure_a, exposure_b);
  std::size_t transfers = 0;
  for (const TransferCopy& t : out.transfers) transfers += t.epoch == EpochKind::kAccess ? 1 : 0;
  EXPECT_LE(operations, transfers);
}

}  // namespace kojak::earl
