#include "epilog/runtime/node_clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <bit>

#include "epilog/runtime/memory.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

constexpr int kRoundTrips = 24;

// What a process tells all others.
struct Card {
  std::uint64_t node;   // equal on one node
  std::uint64_t start;  // its own, in ticks
  double scale;         // as it calibrated it
  std::uint64_t records;
};

const Exchange* between_nodes = nullptr;  // open, if there are several
Vector<std::uint32_t> firsts;             // on rank 0: the first process of each other node

std::uint64_t hash_text(std::uint64_t hash, const char* text, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i)
    hash = mix(hash * 31 + static_cast<unsigned char>(text[i]));
  return hash;
}

// The other side: answers each question with its own time. When the first one came.
Ticks answer(std::uint32_t first) {
  Ticks came{};
  for (int i = 0; i < kRoundTrips; ++i) {
    between_nodes->receive(first);
    if (i == 0) came = ticks();
    between_nodes->send(to_seconds(ticks()).value, first);
  }
  return came;
}

// When the first answer came.
Ticks ask() {
  RunInfo& run = the_session.run;
  run.clock_bound = 1e300;
  Ticks came{};
  for (int i = 0; i < kRoundTrips; ++i) {
    const double before = to_seconds(ticks()).value;
    between_nodes->send(0, 0);
    const double theirs = between_nodes->receive(0);
    const Ticks now = ticks();
    if (i == 0) came = now;
    const double after = to_seconds(now).value;
    const double half = (after - before) / 2;
    if (half >= run.clock_bound) continue;
    run.clock_bound = half;
    run.offset_time = Seconds{before + half};
    run.clock_offset = theirs - (before + half);
  }
  return came;
}

// By what all exchange at once: rank 0 has read its clock behind the exchange before, which it left
// when all were in it, and before this one, which nobody leaves until it has come.
void compare_together(const Exchange& exchange) {
  constexpr int kExchanges = 100;
  RunInfo& run = the_session.run;
  Vector<double> readings;
  bool good = readings.resize(run.size);
  run.clock_bound = 1e300;
  Ticks entered = ticks();
  for (int i = 0; i <= kExchanges; ++i) {
    const Ticks enter = ticks();
    const double mine = to_seconds(enter).value;
    good = exchange.gather(&mine, sizeof mine, readings.data()) && good;
    const double after = to_seconds(ticks()).value;
    const double before = to_seconds(entered).value;
    entered = enter;
    const double half = (after - before) / 2;
    if (i == 0 || !good || half >= run.clock_bound) continue;
    run.clock_bound = half;
    run.offset_time = Seconds{before + half};
    run.clock_offset = readings[0] - (before + half);
  }
  readings.clear();
  if (run.rank == 0 || run.node == 0) run.clock_bound = run.clock_offset = 0;
}

// Numbers the nodes in order of their first ranks and takes this one's clock.
bool read_cards(const Vector<Card>& cards) {
  Session& s = the_session;
  HashMap<std::uint32_t> nodes;  // number by key
  const std::uint64_t mine = cards[s.run.rank].node;
  the_clock.base = s.init_time;
  bool good = true, any = false;
  for (std::uint32_t rank = 0; rank < s.run.size; ++rank) {
    const Card& card = cards[rank];
    any = any || card.records != 0;
    const auto number = static_cast<std::uint32_t>(nodes.size());
    const bool first = nodes.find(card.node) == nullptr;
    if (first) {
      good = nodes.set(card.node, number) != nullptr && good;
      if (rank != 0 && s.run.rank == 0) good = firsts.push_back(rank) && good;
    }
    if (card.node != mine) continue;
    if (first) {
      s.run.node = number;
      s.run.first_of_node = rank == s.run.rank;
      the_clock.scale = card.scale;
    }
    if (static_cast<std::int64_t>(card.start - the_clock.base) < 0) the_clock.base = card.start;
  }
  s.run.nodes = static_cast<std::uint32_t>(nodes.size());
  nodes.clear();
  return good && any;
}

}  // namespace

// The kernel's boot, and the time namespace that CLOCK_MONOTONIC belongs to.
std::uint64_t node_key() {
  const Session& s = the_session;
  char text[128];
  std::uint64_t key = hash_text(1, s.node_name, strlen(s.node_name));
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    const ssize_t got = read(fd, text, sizeof text);
    if (got > 0) key = hash_text(key, text, static_cast<std::size_t>(got));
    close(fd);
  }
  const ssize_t got = readlink("/proc/self/ns/time", text, sizeof text);
  if (got > 0) key = hash_text(key, text, static_cast<std::size_t>(got));
  if (the_clock.counter) key = mix(key + 1);
  // A process whose clock a test bends counts as a node of its own.
  if (static_cast<int>(s.run.rank) == s.config.test_clock_rank) key = mix(key + 2);
  return key;
}

bool share_node_clock(const Exchange& exchange) {
  Session& s = the_session;
  Vector<Card> cards;
  if (!cards.resize(s.run.size)) return false;
  const Card own = {node_key(), s.init_time, calibrate(s.clock_start, read_both_clocks()),
                    s.run.records ? 1u : 0u};
  bool good = exchange.gather(&own, sizeof own, cards.data());
  good = good && read_cards(cards);
  cards.clear();
  if (static_cast<int>(s.run.rank) == s.config.test_clock_rank) {
    the_clock.scale *= 1 + s.config.test_clock_ppm * 1e-6;
    the_clock.shift = s.config.test_clock_shift;
  }
  if (good && s.run.nodes > 1) {
    good = exchange.open();
    if (good) between_nodes = &exchange;
  }
  if (good) measure_offset();
  return good;
}

Ticks measure_offset() {
  Session& s = the_session;
  Ticks answered = ticks();
  s.run.offset_time = to_seconds(ticks());
  s.run.clock_offset = s.run.clock_bound = 0;
  if (between_nodes == nullptr) return answered;
  if (between_nodes->send == nullptr) {
    compare_together(*between_nodes);
    return answered;
  }
  if (s.run.rank == 0) {
    bool any = false;
    for (const std::uint32_t first : firsts) {
      const Ticks came = answer(first);
      if (!any) answered = came;
      any = true;
    }
  } else if (s.run.first_of_node) {
    answered = ask();
  }
  return answered;
}

void forget_nodes() {
  if (between_nodes != nullptr) between_nodes->close();
  between_nodes = nullptr;
  firsts.clear();
}

}  // namespace kojak::measure
