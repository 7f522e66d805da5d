#include "earl/aspects/gats.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace kojak::earl {
namespace {

constexpr Seconds kLongAgo{-std::numeric_limits<double>::infinity()};

}  // namespace

Gats::Gats(detail::GroupTable& groups, const Trace& trace, Findings& findings)
    : groups_(groups),
      trace_(trace),
      findings_(findings),
      partners_(trace.process_count(), trace.native()),
      open_access_(trace.process_count()),
      open_exposure_(trace.process_count()),
      live_access_(trace.process_count(), kNone),
      next_due_(kNever) {}

template <class E>
std::uint32_t Gats::make(ProcessId process, WindowId window) {
  const std::uint32_t i = epochs<E>().take();
  E& e = epochs<E>()[i];
  e.process() = process;
  e.window = window;
  e.group = absent<CommId>();
  e.has_first() = e.has_finish = e.complete = e.paused = false;
  e.named().clear();
  e.partners.clear();
  e.theirs.clear();
  e.info = nullptr;
  e.unclosed = e.refs = 0;
  e.segment = partners_.segment(process);
  e.live = true;
  e.closed = e.ready = e.delivered = false;
  if constexpr (kIsAccess<E>) {
    e.over = false;
    e.their_index.clear();
    e.awaited = e.calls = e.hint = 0;
    e.first_rmaid = kAbsent;
    e.last_rmaid = 0;
    e.latest_post = kLongAgo;
    e.offered = kNoEvent;
    std::uint32_t& latest = live_access_[raw(process)];
    e.older = latest;
    e.newer = kNone;
    if (latest != kNone) accesses_[latest].newer = i;
    latest = i;
  }
  return i;
}

std::uint32_t Gats::find_open(EpochSide side, ProcessId process, WindowId window) {
  const std::vector<OpenEpoch>& open = opens(side, process);
  if (ManyOpen::knows(open.size())) [[unlikely]]
    return many_.find(key(side, process, window));
  for (const OpenEpoch& o : open) {
    if (o.window == window) return o.epoch;
  }
  return kNone;
}

std::uint32_t Gats::take_open(EpochSide side, ProcessId process, WindowId window) {
  const std::uint32_t epoch = find_open(side, process, window);
  if (epoch == kNone) return kNone;
  std::vector<OpenEpoch>& open = opens(side, process);
  // The last one takes its place: a process has one of a window at most, so the order says nothing.
  const std::uint32_t hole = place(side, epoch);
  open[hole] = open.back();
  place(side, open[hole].epoch) = hole;
  open.pop_back();
  many_.removed(open, key(side, process, window), [&](const OpenEpoch& o) {
    return std::pair(key(side, process, o.window), o.epoch);
  });
  return epoch;
}

void Gats::add_open(EpochSide side, ProcessId process, WindowId window, std::uint32_t epoch) {
  std::vector<OpenEpoch>& open = opens(side, process);
  place(side, epoch) = static_cast<std::uint32_t>(open.size());
  open.push_back({window, epoch});
  many_.added(open,
              [&](const OpenEpoch& o) { return std::pair(key(side, process, o.window), o.epoch); });
}

template <class E>
void Gats::begin(const Call& call, WindowId window, CommId group) {
  end_open<E>(call.process, window, call.exit_pos, call.loc);
  const std::uint32_t epoch = make<E>(call.process, window);
  epochs<E>()[epoch].first() = call;
  epochs<E>()[epoch].has_first() = true;
  add_open(E::kSide, call.process, window, epoch);
  name_partners<E>(epoch, group, call);
}

template <class E>
E& Gats::end(const Call& call, WindowId window, CommId group) {
  std::uint32_t epoch = take_open(E::kSide, call.process, window);
  if (epoch == kNone) {
    findings_.add(Finding::kUnopenedEpoch, call.exit_pos, call.loc);
    epoch = make<E>(call.process, window);
    name_partners<E>(epoch, group, call);
  }
  E& e = epochs<E>()[epoch];
  e.finish = call;
  e.has_finish = true;
  close<E>(epoch);
  return e;
}

template <class E, class... At>
void Gats::end_open(ProcessId process, WindowId window, At... at) {
  const std::uint32_t epoch = take_open(E::kSide, process, window);
  if (epoch == kNone) return;
  findings_.add(Finding::kUnclosedEpoch, at...);
  close<E>(epoch);
}

void Gats::start(const Call& call, WindowId window, CommId group) {
  begin<Access>(call, window, group);
}
const AccessEpoch& Gats::complete(const Call& call, WindowId window, CommId group) {
  return end<Access>(call, window, group);
}
void Gats::post(const Call& call, WindowId window, CommId group) {
  begin<Exposure>(call, window, group);
}
void Gats::wait(const Call& call, WindowId window, CommId group) {
  end<Exposure>(call, window, group);
}
void Gats::free(ProcessId process, WindowId window, std::uint64_t pos) {
  end_open<Access>(process, window, pos);
  end_open<Exposure>(process, window, pos);
}

template <class E>
void Gats::close(std::uint32_t epoch) {
  using Other = std::conditional_t<kIsAccess<E>, Exposure, Access>;
  E& e = epochs<E>()[epoch];
  e.closed = true;
  e.paused = e.segment != partners_.segment(e.process());
  for (std::uint32_t i = 0; i < e.theirs.size(); ++i) {
    if (e.theirs[i] == kNone) continue;
    Other& their = epochs<Other>()[e.theirs[i]];
    their.partners[e.place_there(i)] = Partner::kClosed;
    --their.unclosed;
    check<Other>(e.theirs[i]);
  }
  check<E>(epoch);
}

void Gats::free_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  for (const std::uint32_t exposure : a.theirs) {
    if (exposure != kNone) unref_exposure(exposure);
  }
  a.live = false;
  if (a.older != kNone) accesses_[a.older].newer = a.newer;
  (a.newer != kNone ? accesses_[a.newer].older : live_access_[raw(a.origin)]) = a.older;
  accesses_.give_back(epoch);
}

void Gats::unref_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  if (--a.refs == 0 && a.delivered) free_access(epoch);
}

void Gats::unref_exposure(std::uint32_t epoch) {
  Exposure& e = exposures_[epoch];
  if (--e.refs == 0 && e.delivered) {
    e.live = false;
    exposures_.give_back(epoch);
  }
}

template <class E>
const typename E::Told& Gats::finished(std::uint32_t epoch) {
  using Other = std::conditional_t<kIsAccess<E>, Exposure, Access>;
  E& e = epochs<E>()[epoch];
  const auto is_whole = [&](std::uint32_t their) {
    if (their == kNone) return false;
    Other& other = epochs<Other>()[their];
    return other.has_first() && other.has_finish;
  };
  e.complete = e.has_first() && e.has_finish && e.info != nullptr &&
               std::all_of(e.theirs.begin(), e.theirs.end(), is_whole);
  if (!e.complete) {
    const Call& call = e.has_finish ? e.finish : e.first();
    findings_.add(E::kIncomplete, call.exit_pos, call.loc);
  }
  return e;
}
template const AccessEpoch& Gats::finished<Gats::Access>(std::uint32_t);
template const ExposureEpoch& Gats::finished<Gats::Exposure>(std::uint32_t);

void Gats::release_access(std::uint32_t epoch) {
  // Exposure epochs that are told of later still look at it and its other partners.
  Access& a = accesses_[epoch];
  a.delivered = a.over = true;
  if (a.refs == 0) free_access(epoch);
}

void Gats::release_exposure(std::uint32_t epoch) {
  Exposure& e = exposures_[epoch];
  e.delivered = true;
  ++e.refs;
  for (std::uint32_t i = 0; i < e.origins.size(); ++i) {
    if (e.theirs[i] == kNone) continue;
    e.origins[i].access = nullptr;
    unref_access(e.theirs[i]);
  }
  unref_exposure(epoch);
}

void Gats::finish() {
  posting_.clear();
  settle_pending();
  settle_late_calls(kNever);
  for (std::uint32_t i = 0; i < exposures_.capacity(); ++i) {
    if (exposures_[i].live) make_ready<Exposure>(i);
  }
  for (std::uint32_t i = 0; i < accesses_.capacity(); ++i) {
    if (accesses_[i].live) make_ready<Access>(i);
  }
  any_ready_ = true;
}

// ---- Which access epoch belongs to which exposure epoch, also after gaps in the recording

template <class E>
void Gats::name(std::uint32_t epoch, ProcessId partner, std::uint64_t ordinal,
                EpochPartners::Pair& pair) {
  E& e = epochs<E>()[epoch];
  const auto index = static_cast<std::uint32_t>(e.partners.size());
  e.name(partner, ordinal);
  e.partners.push_back(Partner::kAwaited);
  e.theirs.push_back(kNone);
  ++e.unclosed;
  partners_.name(*this, pair, E::kSide, {ordinal, epoch, index}, groups_.present(partner));
}

template <class E>
void Gats::name_partners(std::uint32_t epoch, CommId group, const Call& call) {
  E& e = epochs<E>()[epoch];
  e.group = group;
  e.info = groups_.find(group);
  if (e.info == nullptr) {
    findings_.add(Finding::kUnknownGroup, call.exit_pos, call.loc);
    return;
  }
  for (const std::uint32_t rank : e.info->def->ranks) {
    const auto partner = static_cast<ProcessId>(rank);
    EpochPartners::Pair& p = partners_.pair(E::kSide, e.window, e.process(), partner);
    name<E>(epoch, partner, partners_.take_ordinal(p, E::kSide, e.process()), p);
  }
}

void Gats::link(std::uint32_t ai, std::uint32_t target, std::uint32_t ei, std::uint32_t origin) {
  Access& a = accesses_[ai];
  Exposure& e = exposures_[ei];
  a.targets[target].exposure = &e;
  a.theirs[target] = ei;
  a.their_index[target] = origin;
  e.origins[origin].access = &a;
  e.origins[origin].target_index = target;
  e.theirs[origin] = ai;
  ++a.refs;
  ++e.refs;
  --a.awaited;
  if (e.has_post) a.latest_post = std::max(a.latest_post, e.post.enter);
  a.partners[target] = e.closed ? Partner::kClosed : Partner::kOpen;
  e.partners[origin] = a.closed ? Partner::kClosed : Partner::kOpen;
  if (e.closed) --a.unclosed;
  if (a.closed) --e.unclosed;
  check<Access>(ai);
  check<Exposure>(ei);
}

void Gats::lose(EpochSide side, std::uint32_t epoch, std::uint32_t partner) {
  side == EpochSide::kAccess ? lose<Access>(epoch, partner) : lose<Exposure>(epoch, partner);
}

template <class E>
void Gats::lose(std::uint32_t epoch, std::uint32_t partner) {
  E& e = epochs<E>()[epoch];
  e.partners[partner] = Partner::kLost;
  --e.unclosed;
  if constexpr (kIsAccess<E>) --e.awaited;
  check<E>(epoch);
}

template <class E>
void Gats::check(std::uint32_t epoch) {
  const E& e = epochs<E>()[epoch];
  if (e.closed && e.unclosed == 0) make_ready<E>(epoch);
}

template <class E>
void Gats::make_ready(std::uint32_t epoch) {
  if (std::exchange(epochs<E>()[epoch].ready, true)) return;
  ready<E>().push_back(epoch);
  any_ready_ = true;
}

std::uint32_t Gats::index_of(const Exposure& epoch, ProcessId origin) {
  for (std::uint32_t i = 0; i < epoch.origins.size(); ++i) {
    if (epoch.origins[i].origin == origin) return i;
  }
  return kNone;
}

void Gats::resume(ProcessId process, WindowId window, ProcessId peer, std::uint64_t access,
                  std::uint64_t exposure, std::uint64_t ops, std::uint8_t open, std::uint64_t pos) {
  resume_side<Access>(process, window, peer, access, ops, (open & kOpenAccess) != 0, pos);
  resume_side<Exposure>(process, window, peer, exposure, 0, (open & kOpenExposure) != 0, pos);
}

template <class E>
void Gats::resume_side(ProcessId process, WindowId window, ProcessId peer, std::uint64_t count,
                       std::uint64_t ops, bool open, std::uint64_t pos) {
  EpochPartners::Pair& pair = partners_.pair(E::kSide, window, process, peer);
  Resumption told = resumption(false, false, open);
  if (const std::uint32_t epoch = find_open(E::kSide, process, window); epoch != kNone) {
    E& e = epochs<E>()[epoch];
    const std::uint32_t i = index_of(e, peer);
    told = resumption(i != kNone, i != kNone && e.named()[i].ordinal + 1 == count, open);
    if constexpr (kIsAccess<E>) {
      if (told.goes_on) e.count_transfers(i, ops);
    }
    if (told.ended) end_open<E>(process, window, pos);
  }
  if (partners_.resume(*this, pair, E::kSide, count, open)) findings_.add(Finding::kGap, pos);
  if (!told.begun || count == 0) return;
  std::uint32_t epoch = find_open(E::kSide, process, window);
  if (epoch == kNone) {
    epoch = make<E>(process, window);
    add_open(E::kSide, process, window, epoch);
  }
  name<E>(epoch, peer, count - 1, pair);
  if constexpr (kIsAccess<E>) {
    E& e = epochs<E>()[epoch];
    e.count_transfers(static_cast<std::uint32_t>(e.targets.size() - 1), ops);
  }
}

}  // namespace kojak::earl
