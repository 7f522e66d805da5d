// Threads that take work off the merge's own: to decode what it will read soon, to write what it
// has written.
//
// The merge posts a Job and finishes it later. If no helper has begun it by then, the merge does it
// itself; if one has, the merge does other jobs until that is done. So nobody waits while there is
// work, and without helpers all goes on as in one thread. Jobs belong to who posts them, and must
// be finished or dropped before they go. All calls from one thread. What a job throws is thrown
// again by finish(). If the system gives fewer threads than were asked for, there are fewer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kojak::merge {

class Helpers {
 public:
  class Job {
   public:
    Job() = default;
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

   private:
    friend class Helpers;
    virtual void run() = 0;
    void run_and_catch() noexcept;
    enum class State : std::uint8_t { kIdle, kPosted, kBegun, kDone };
    State state_ = State::kIdle;
    std::exception_ptr thrown_;
  };

  explicit Helpers(unsigned threads);
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  bool any() const { return !threads_.empty(); }
  std::size_t count() const { return threads_.size(); }
  // It must not be posted already.
  void post(Job& job);
  // Returns when it is done, at once if it is not posted.
  void finish(Job& job);
  // Returns when the job runs no more; one that has not begun is left undone.
  void drop(Job& job) noexcept;

 private:
  void help();
  void do_first(std::unique_lock<std::mutex>& lock);
  std::mutex mutex_;
  std::condition_variable posted_, done_;
  std::deque<Job*> jobs_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kojak::merge
