#include "merge/input/helpers.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace kojak::merge {

void Helpers::Job::run_and_catch() noexcept {
  try {
    run();
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

Helpers::Helpers(unsigned threads) {
  threads_.reserve(threads);
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
    // Fewer of them are as good.
  }
}

Helpers::~Helpers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Helpers::post(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    job.state_ = Job::State::kPosted;
    jobs_.push_back(&job);
  }
  posted_.notify_one();
}

// The job that was posted first.
void Helpers::do_first(std::unique_lock<std::mutex>& lock) {
  Job& job = *jobs_.front();
  jobs_.pop_front();
  job.state_ = Job::State::kBegun;
  lock.unlock();
  job.run_and_catch();
  lock.lock();
  job.state_ = Job::State::kDone;
}

void Helpers::finish(Job& job) {
  std::unique_lock lock(mutex_);
  if (job.state_ == Job::State::kPosted) {
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    jobs_.push_front(&job);
    do_first(lock);
  }
  while (job.state_ == Job::State::kBegun) {
    if (jobs_.empty()) {
      done_.wait(lock);
    } else {
      do_first(lock);
    }
  }
  job.state_ = Job::State::kIdle;
  lock.unlock();
  if (job.thrown_) std::rethrow_exception(std::exchange(job.thrown_, nullptr));
}

void Helpers::drop(Job& job) noexcept {
  std::unique_lock lock(mutex_);
  if (job.state_ == Job::State::kPosted) {
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  } else {
    done_.wait(lock, [&job] { return job.state_ != Job::State::kBegun; });
  }
  job.state_ = Job::State::kIdle;
}

void Helpers::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [this] { return !jobs_.empty() || stop_; });
    if (stop_) return;
    do_first(lock);
    done_.notify_all();
  }
}

}  // namespace kojak::merge
