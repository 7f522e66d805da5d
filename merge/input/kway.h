// Which of many streams comes next: a tournament of losers, and turns of many streams in windows of
// time.
//
// Entries are (time, stream): equal times go to the lower stream. A finished stream has the time
// +infinity. Both own their arrays and allocate nothing after the start.
//
// Tournament: replacing the winner's time costs one match for each doubling of the number of
// streams. A node of the tree holds its loser's time, not only its number, so that a match touches
// one place in memory. Matches without branches were slower: where ranks take turns, the outcome is
// foreseen.
//
// Turns: thousands of streams that take turns are fetched anew from memory each time, and nothing
// tells early enough which comes next. So of many streams only those play that have something
// before the end of a window of time, and these are told when it begins: there are some hundred,
// whoever uses them can fetch all of them at once. The window is as long as about so many make it.
// Source: Knuth, The Art of Computer Programming 3, section 5.4.1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kojak::merge {

class Tournament {
 public:
  static constexpr double kFinished = std::numeric_limits<double>::infinity();

  struct Entry {
    double time;
    std::uint32_t stream;
    std::uint32_t leaf = 0;  // its place in the tree
    [[gnu::always_inline]] bool before(const Entry& other) const {
      return time < other.time || (time == other.time && stream < other.stream);
    }
  };

  Tournament() = default;
  explicit Tournament(const std::vector<double>& times) {
    std::vector<Entry> players(times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      players[i] = {times[i], static_cast<std::uint32_t>(i)};
    }
    begin(players);
  }
  // A new one, of these entries.
  void begin(std::span<const Entry> players) {
    streams_ = players.size();
    winner_ = {kFinished, 0};
    if (streams_ == 0) return;
    losers_.resize(streams_);
    // Leaves n..2n-1 are the players; node i plays the winners of 2i and 2i+1.
    winners_.resize(2 * streams_);
    for (std::size_t i = 0; i < streams_; ++i) {
      winners_[streams_ + i] = players[i];
      winners_[streams_ + i].leaf = static_cast<std::uint32_t>(streams_ + i);
    }
    for (std::size_t i = streams_ - 1; i >= 1; --i) {
      const Entry& a = winners_[2 * i];
      const Entry& b = winners_[2 * i + 1];
      const bool first = a.before(b);
      winners_[i] = first ? a : b;
      losers_[i] = first ? b : a;
    }
    winner_ = winners_[1];
  }

  // No stream has anything left.
  bool finished() const { return winner_.time == kFinished; }
  const Entry& winner() const { return winner_; }
  // It lost to the winner somewhere on the winner's way up; later than everything if there is none.
  [[gnu::always_inline]] Entry runner_up() const {
    Entry first{kFinished, std::numeric_limits<std::uint32_t>::max()};
    for (std::size_t i = winner_.leaf / 2; i >= 1; i /= 2) {
      if (losers_[i].before(first)) first = losers_[i];
    }
    return first;
  }
  // The time of the winner's next event.
  [[gnu::always_inline]] void replace(double time) {
    Entry climber{time, winner_.stream, winner_.leaf};
    for (std::size_t i = climber.leaf / 2; i >= 1; i /= 2) {
      if (losers_[i].before(climber)) std::swap(losers_[i], climber);
    }
    winner_ = climber;
  }

 private:
  std::size_t streams_ = 0;
  std::vector<Entry> losers_, winners_;
  Entry winner_{kFinished, 0};
};

class Turns {
 public:
  using Entry = Tournament::Entry;
  static constexpr double kFinished = Tournament::kFinished;

  // `f(std::span<const Entry>)` is told who plays in a window, each time one begins.
  template <class F>
  Turns(std::vector<double> times, F&& f) : times_(std::move(times)), players_(times_.size()) {
    for (const double time : times_) rest_ = std::min(rest_, time);
    next_window(f);
  }
  bool finished() const { return playing_.finished(); }
  const Entry& winner() const { return playing_.winner(); }
  // Up to here the winner may go on; a stream that comes next, if there is one in this window.
  [[gnu::always_inline]] Entry limit() const {
    const Entry next = playing_.runner_up();
    return next.time < end_ ? next : Entry{end_, 0};
  }
  template <class F>
  [[gnu::always_inline]] void replace(double time, F&& f) {
    if (time < end_) [[likely]]
      return playing_.replace(time);
    times_[playing_.winner().stream] = time;
    rest_ = std::min(rest_, time);
    playing_.replace(kFinished);
    if (playing_.finished()) [[unlikely]]
      next_window(f);
  }

 private:
  static constexpr std::size_t kMany = 512;     // streams
  static constexpr std::size_t kPlayers = 256;  // wanted

  template <class F>
  [[gnu::noinline]] void next_window(F&& f) {
    // (A window is never too short for its first time to lie in it.)
    end_ = times_.size() < kMany ? kFinished
                                 : std::max(rest_ + length_, std::nextafter(rest_, kFinished));
    std::size_t players = 0;
    rest_ = kFinished;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const double time = times_[i];
      const bool plays = time < end_;
      players_[players] = {time, static_cast<std::uint32_t>(i)};
      players += plays ? 1 : 0;
      rest_ = std::min(rest_, plays ? kFinished : time);
    }
    if (players < kPlayers / 2) length_ *= 1.5;
    if (players > kPlayers * 2) length_ /= 1.5;
    const std::span<const Entry> all(players_.data(), players);
    playing_.begin(all);
    f(all);
  }

  std::vector<double> times_;  // of streams that do not play
  std::vector<Entry> players_;
  Tournament playing_;
  double rest_ = kFinished;  // the first of their times
  double end_ = kFinished;   // of the window
  double length_ = 1e-6;
};

}  // namespace kojak::merge
