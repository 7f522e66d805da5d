// Says for whom a process waits where that takes long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace kojak::parallel {

// Says something once if it is there for long, by a thread of its own.
class Watch {
 public:
  Watch(std::chrono::milliseconds patience, std::function<void()> say)
      : thread_([this, patience, say = std::move(say)] {
          std::unique_lock lock(mutex_);
          if (!ended_.wait_for(lock, patience, [this] { return over_; })) say();
        }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

// Of one who waits for others in turn: the first of whom nothing is heard for long is named.
class Patience {
 public:
  // `note`: says a line; empty: nothing is said.
  explicit Patience(std::function<void(const std::string&)> note = {},
                    std::chrono::milliseconds most = std::chrono::seconds(60))
      : note_(std::move(note)), most_(most) {}
  // What `wait` gives, which comes from `whom`.
  template <class Wait>
  auto waiting_for(const std::string& whom, Wait&& wait) {
    if (!note_) return wait();
    const Watch watch(most_, [&] {
      std::exchange(note_, {})("waits for " + whom + ", of which nothing was heard for a minute");
    });
    return wait();
  }

 private:
  std::function<void(const std::string&)> note_;  // empty, too, when it was said
  std::chrono::milliseconds most_;
};

}  // namespace kojak::parallel
