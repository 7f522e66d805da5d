// The runtime of the measurement under the thread sanitizer, without MPI: threads that record,
// begin and end, while others pause, resume and flush. Compiled with the sanitizer in every build;
// a race ends the program with an error. Checks besides that each thread's trace is complete.
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "epilog/format/check/verify.h"
#include "epilog/format/io/local_buffer.h"
#include "epilog/runtime/elg_user.h"
#include "epilog/runtime/local_trace.h"

namespace {

using namespace kojak;
using namespace kojak::measure;

constexpr int kThreads = 4, kGenerations = 3, kRounds = 3000, kTasks = 50;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// What a wrapper does for a call, without the call.
void call(unsigned function, const void* caller) {
  Recorder& r = the_recorder;
  if (the_session.functions.load(std::memory_order_relaxed) == 0) return;
  const std::uint64_t key = site_key(function, caller);
  const CodeSlot& slot = r.sites[code_slot(key)];
  const RegionId region = slot.key == key ? slot.id : define_site(r, function, caller, &r);
  if (region == absent<RegionId>()) return;
  if (r.cursor > r.limit.load(std::memory_order_relaxed) && !make_room(r)) return;
  const Ticks enter = ticks();
  r.last = ticks();
  publish(r, put(r, r.cursor, MpiCall{r.lid, record_time(enter), record_time(r.last), region}));
}

void work(int thread) {
  static const char* const kNames[] = {"one", "two", "three", "four"};
  for (int i = 0; i < kRounds; ++i) {
    const elg_region* const same = [] {
      static const elg_region region = {"all threads", __FILE__, __LINE__};
      return &region;
    }();
    elg_region_begin(same);
    static const elg_region own[] = {{kNames[0], nullptr, 0},
                                     {kNames[1], nullptr, 0},
                                     {kNames[2], nullptr, 0},
                                     {kNames[3], nullptr, 0}};
    elg_region_begin(&own[thread]);
    call(static_cast<unsigned>(10 + i % 7), reinterpret_cast<const char*>(&work) + i % 50);
    elg_region_end(kNames[thread]);
    elg_region_end("all threads");
  }
}

std::size_t check(const std::filesystem::path& path, std::size_t& threads) {
  auto source = open_local_source(path.string());
  if (!source) fail(source.error().message());
  auto reader = TraceReader::from(std::move(*source), path.string());
  if (!reader) fail(reader.error().message());
  auto verification = verify_trace(*reader);
  if (!verification) fail(verification.error().message());
  for (const Finding& finding : verification->findings) {
    if (finding.level == Level::kError) fail(path.string() + ": " + finding.message());
  }
  RawRecord record;
  auto again = open_local_source(path.string());
  auto parts = TraceReader::from(std::move(*again), path.string());
  while (parts->next(record) == TraceReader::Next::kRecord) {
    threads += record.type == static_cast<std::uint8_t>(RecordType::kLocalRun);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: thread_safety DIRECTORY");
  const std::filesystem::path directory = argv[1];
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  Session& s = the_session;
  std::snprintf(s.directory, sizeof s.directory, "%s", directory.c_str());
  struct stat made {};
  if (stat(s.directory, &made) != 0) fail("no directory");
  s.directory_device = made.st_dev;
  s.directory_inode = made.st_ino;
  std::snprintf(s.program, sizeof s.program, "thread_safety");
  std::snprintf(s.node_name, sizeof s.node_name, "here");
  s.config.buffer_size = 64 * 1024;
  s.run.size = 1;
  s.multi_threaded = true;
  choose_clock();
  s.clock_start = read_both_clocks();
  s.init_time = ticks();
  s.live = true;
  start_recording();

  for (int generation = 0; generation < kGenerations; ++generation) {
    std::vector<std::thread> threads;
    std::atomic<int> running{kThreads};
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        work(t);
        // Threads that record next to nothing share a file.
        for (int i = 0; i < kTasks; ++i) {
          std::thread([] { call(11, reinterpret_cast<const void*>(&fail)); }).join();
        }
        --running;
      });
    }
    for (int i = 0; running != 0; ++i) {
      pause_recording(the_recorder);
      resume_recording(the_recorder);
      if (i % 4 == 0) flush_now(the_recorder);
      std::this_thread::yield();
    }
    for (std::thread& thread : threads) thread.join();
  }
  finish_recording();
  leave_session();

  std::size_t files = 0, recorded = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".elg") fail(entry.path().string() + " was left");
    files += check(entry.path(), recorded);
  }
  // A thread that is over before a pause ends records nothing.
  const std::size_t most = 1 + kThreads * kGenerations * (1 + kTasks);
  if (files > 2 + kThreads * kGenerations || recorded > most || recorded <= files)
    fail(std::to_string(files) + " files of " + std::to_string(recorded) + " threads");
  return 0;
}
