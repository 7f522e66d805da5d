// A tournament of losers: always knows the stream with the smallest key, and the runner-up.
//
// Entries are (time, stream): equal times go to the lower stream. Replacing the winner's time costs
// one match for each doubling of the number of streams. A node of the tree holds its loser's time,
// not only its number, so that a match touches one place in memory (with 1024 streams a third of
// the merge's time). Matches without branches were slower, also there: where ranks take turns, the
// outcome is foreseen. Owns its array; no allocation after the start. A finished stream has the
// time +infinity.
// Source: Knuth, The Art of Computer Programming 3, section 5.4.1.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kojak::merge {

class Tournament {
 public:
  static constexpr double kFinished = std::numeric_limits<double>::infinity();

  struct Entry {
    double time;
    std::uint32_t stream;
    [[gnu::always_inline]] bool before(const Entry& other) const {
      return time < other.time || (time == other.time && stream < other.stream);
    }
  };

  explicit Tournament(const std::vector<double>& times) : streams_(times.size()) {
    if (streams_ == 0) return;
    losers_.resize(streams_);
    // Leaves n..2n-1 are the streams; node i plays the winners of 2i and 2i+1.
    std::vector<Entry> winners(2 * streams_);
    for (std::size_t i = 0; i < streams_; ++i) {
      winners[streams_ + i] = {times[i], static_cast<std::uint32_t>(i)};
    }
    for (std::size_t i = streams_ - 1; i >= 1; --i) {
      const Entry& a = winners[2 * i];
      const Entry& b = winners[2 * i + 1];
      const bool first = a.before(b);
      winners[i] = first ? a : b;
      losers_[i] = first ? b : a;
    }
    winner_ = winners[1];
  }

  // No stream has anything left.
  bool finished() const { return winner_.time == kFinished; }
  const Entry& winner() const { return winner_; }
  // It lost to the winner somewhere on the winner's way up; later than everything if there is none.
  [[gnu::always_inline]] Entry runner_up() const {
    Entry first{kFinished, static_cast<std::uint32_t>(streams_)};
    for (std::size_t i = leaf() / 2; i >= 1; i /= 2) {
      if (losers_[i].before(first)) first = losers_[i];
    }
    return first;
  }
  // The time of the winner's next event.
  [[gnu::always_inline]] void replace(double time) {
    Entry climber{time, winner_.stream};
    for (std::size_t i = leaf() / 2; i >= 1; i /= 2) {
      if (losers_[i].before(climber)) std::swap(losers_[i], climber);
    }
    winner_ = climber;
  }

 private:
  std::size_t leaf() const { return streams_ + winner_.stream; }

  std::size_t streams_;
  std::vector<Entry> losers_;
  Entry winner_{kFinished, 0};
};

}  // namespace kojak::merge
