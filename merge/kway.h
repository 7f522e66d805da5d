// A tournament of losers: always knows the stream with the smallest key, and the runner-up.
//
// Keys are (time, index): equal times go to the lower index. Replacing the winner's key costs one
// comparison for each doubling of the number of streams. Owns its arrays; no allocation after the
// start. A finished stream has the key +infinity. Not thread-safe.
// Source: Knuth, The Art of Computer Programming 3, section 5.4.1.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace kojak::merge {

class Tournament {
 public:
  static constexpr double kFinished = std::numeric_limits<double>::infinity();

  explicit Tournament(std::vector<double> keys) : keys_(std::move(keys)) {
    const std::size_t n = keys_.size();
    losers_.assign(n == 0 ? 1 : n, 0);
    if (n == 0) return;
    // Leaves n..2n-1 are the streams; node i plays the winners of 2i and 2i+1.
    std::vector<std::uint32_t> winners(2 * n);
    for (std::size_t i = 0; i < n; ++i) winners[n + i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = n - 1; i >= 1; --i) {
      const std::uint32_t a = winners[2 * i], b = winners[2 * i + 1];
      const bool first = before(a, b);
      winners[i] = first ? a : b;
      losers_[i] = first ? b : a;
    }
    winner_ = n == 1 ? 0 : winners[1];
  }

  bool empty() const { return keys_.empty(); }
  std::uint32_t winner() const { return winner_; }
  double key(std::uint32_t stream) const { return keys_[stream]; }

  struct Limit {
    double time;
    std::uint32_t index;
    // Whether a key may still go before the runner-up.
    [[gnu::always_inline]] bool allows(double key, std::uint32_t stream) const {
      return key < time || (key == time && stream < index);
    }
  };
  // The runner-up: it lost to the winner somewhere on the winner's way up.
  Limit runner_up() const {
    Limit limit{kFinished, static_cast<std::uint32_t>(keys_.size())};
    for (std::size_t i = (winner_ + keys_.size()) / 2; i >= 1; i /= 2) {
      const std::uint32_t loser = losers_[i];
      if (limit.time > keys_[loser] || (limit.time == keys_[loser] && limit.index > loser)) {
        limit = {keys_[loser], loser};
      }
    }
    return limit;
  }
  // The winner's next key.
  void replace(double key) {
    std::uint32_t climber = winner_;
    keys_[climber] = key;
    for (std::size_t i = (climber + keys_.size()) / 2; i >= 1; i /= 2) {
      if (before(losers_[i], climber)) std::swap(losers_[i], climber);
    }
    winner_ = climber;
  }

 private:
  bool before(std::uint32_t a, std::uint32_t b) const {
    return keys_[a] < keys_[b] || (keys_[a] == keys_[b] && a < b);
  }
  std::vector<double> keys_;
  std::vector<std::uint32_t> losers_;
  std::uint32_t winner_ = 0;
};

}  // namespace kojak::merge
