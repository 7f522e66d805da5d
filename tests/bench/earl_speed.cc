// Speed and memory of EARL on one trace: streaming with all state aspects (and how often it
// allocates), indexing, random events with their pointers (near and far), random states. CPU time
// of this process; it reports, nothing fails for being slow.
//
// earl_speed TRACE
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include "earl/access/archive.h"
#include "earl/index/state_stream.h"

namespace {
std::uint64_t allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const p = std::malloc(size != 0 ? size : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace {

using namespace kojak;
using namespace kojak::earl;

double seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

void stream(const char* path) {
  auto trace = Trace::open(path);
  if (!trace) return;
  sequence::StateStream events(*trace);
  Event e;
  std::uint64_t n = 0;
  const std::uint64_t allocated = allocations;
  const double begin = seconds();
  while (events.next(e)) ++n;
  std::printf("  stream, all aspects  %7.1f M events/s, peak %.0f MB, %.4f allocations an event\n",
              static_cast<double>(n) / (seconds() - begin) / 1e6, peak_megabytes(),
              static_cast<double>(allocations - allocated) / static_cast<double>(n));
}

// The events of the list with all their pointers.
void follow(const char* what, const Archive& archive, const std::vector<std::uint64_t>& list) {
  std::uint64_t sum = 0;
  const double begin = seconds();
  for (const std::uint64_t pos : list) {
    const Event e = archive[pos];
    for (const std::uint64_t to :
         {archive.enterptr(pos), archive.sendptr(e), archive.requestptr(e), archive.startptr(e),
          archive.originptr(e), archive.lockptr(e), archive.forkptr(e), archive.cnodeptr(e)}) {
      sum += to;
    }
    if (const std::uint64_t start = archive.startptr(e); start != kNoEvent) {
      sum += archive[start].pos;
    }
  }
  std::printf("  %-20s %7.3f us each (%u)\n", what,
              1e6 * (seconds() - begin) / static_cast<double>(list.size()),
              static_cast<unsigned>(sum & 0xFF));
}

void random_access(const char* path) {
  double begin = seconds();
  auto archive = Archive::open(path);
  if (!archive) {
    std::fprintf(stderr, "%s\n", archive.error().message().c_str());
    return;
  }
  const auto size = static_cast<double>(archive->size());
  std::printf("  index                %7.1f M events/s, %.2f bytes an event\n",
              size / (seconds() - begin) / 1e6,
              static_cast<double>(archive->index().memory()) / size);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> all, near_ends, far_ends;
  for (int i = 0; i < 500000; ++i) all.push_back(random() % archive->size());
  follow("random events", *archive, all);
  archive->for_each(0, archive->size(), [&](const Event& e) {
    if (!is_rma_end(e.type)) return;
    const std::uint64_t start = archive->startptr(e);
    if (start == kNoEvent) return;
    std::vector<std::uint64_t>& list = e.pos - start < 100000 ? near_ends : far_ends;
    if (list.size() < 500000) list.push_back(e.pos);
  });
  for (auto* list : {&near_ends, &far_ends}) {
    if (list->empty()) continue;
    std::shuffle(list->begin(), list->end(), random);
    follow(list == &near_ends ? "starts near (< 100k)" : "starts farther back", *archive, *list);
  }
  begin = seconds();
  std::size_t open = 0;
  int states = 0;  // fewer where much is open: a state costs what it holds
  for (; states < 2000 && seconds() - begin < 3; ++states) {
    open += archive->state(random() % archive->size())->transfers.size();
  }
  std::printf("  random states        %7.2f us each, %zu transfers open on average\n",
              1e6 * (seconds() - begin) / states, open / static_cast<std::size_t>(states));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: earl_speed TRACE\n");
    return 1;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  stream(argv[1]);
  random_access(argv[1]);
  return 0;
}
