#include "epilog/runtime/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/format/sampled_region.h"
#include "epilog/runtime/call_path.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {

struct Sample {
  Ticks at;
  std::uint32_t count;
  std::uint32_t frames;
  bool more;                             // frames, further out
  std::uintptr_t address[kMostCallers];  // the innermost ones; the first is where the thread is
};

struct Sampler {
  static constexpr std::uint32_t kMost = 1024;

  int timer = -1;
  volatile bool writing = false;
  volatile std::uint32_t size = 0;
  std::uint32_t stride = 1;  // so many intervals are one sample
  std::uint32_t passed = 0;  // since the last one
  Sample samples[kMost];
};

namespace {

constexpr int kSignal = 32;  // glibc: SIGCANCEL

// A call that enters this stands for a sample.
constexpr auto kSampled = static_cast<RegionId>(1023);

thread_local constinit Sampler* the_sampler __attribute__((tls_model("initial-exec"))) = nullptr;
CodeRange own_code;
bool sampling_ready = false;

#if defined(__x86_64__) || defined(__aarch64__)

// The kernel's own, since the C library hands this signal to nobody.
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};
constexpr unsigned long kRestorer = 0x04000000;

#if defined(__x86_64__)
extern "C" void kojak_sample_return() __attribute__((visibility("hidden")));
// The unwinder knows a signal's frame by these instructions; it looks at the byte before them, too.
__asm__(
    ".pushsection .text\n"
    ".p2align 4\n"
    "nop\n"
    ".type kojak_sample_return, @function\n"
    "kojak_sample_return:\n"
    "movq $15, %rax\n"
    "syscall\n"
    ".size kojak_sample_return, . - kojak_sample_return\n"
    ".popsection\n");
#endif

std::uintptr_t place_in(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#else
  return context.uc_mcontext.pc;
#endif
}

long set_action(const KernelAction* action, KernelAction* before) {
  return syscall(SYS_rt_sigaction, kSignal, action, before, sizeof(std::uint64_t));
}

// Every second sample, which then stands for the one after it, too.
void thin(Sampler& s) {
  const std::uint32_t kept = s.size / 2;
  for (std::uint32_t i = 0; i < kept; ++i) {
    const std::uint32_t count = s.samples[2 * i].count + s.samples[2 * i + 1].count;
    if (i != 0) s.samples[i] = s.samples[2 * i];
    s.samples[i].count = count;
  }
  s.size = kept;
  s.stride *= 2;
}

void take_sample(int, siginfo_t* info, void* context) {
  Sampler* const s = the_sampler;
  Recorder& r = the_recorder;
  if (s == nullptr || s->writing || r.frame != nullptr || info->si_code != SI_TIMER ||
      the_session.functions.load(std::memory_order_relaxed) == 0) {
    return;
  }
  const std::uintptr_t at = place_in(*static_cast<const ucontext_t*>(context));
  if (own_code.holds(reinterpret_cast<const void*>(at))) return;  // on its way into a wrapper
  const int missed = info->si_overrun;
  s->passed += 1 + static_cast<std::uint32_t>(missed > 0 && missed < 1000 ? missed : 0);
  if (s->passed < s->stride) return;
  const int saved = errno;
  if (s->size == Sampler::kMost) thin(*s);
  Sample& sample = s->samples[s->size];
  sample.at = ticks();
  sample.count = s->passed;
  sample.frames = interrupted_path(at, sample.address, sample.more);
  s->passed = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  s->size = s->size + 1;
  r.limit.store(nullptr, std::memory_order_relaxed);  // the next record asks for room
  errno = saved;
}

bool take_signal() {
  KernelAction before{};
  if (set_action(nullptr, &before) != 0) return false;
  if (before.handler == take_sample) return true;
  // posix_spawn() has what it starts ignore this signal.
  const auto handler = reinterpret_cast<std::uintptr_t>(before.handler);
  if (handler != reinterpret_cast<std::uintptr_t>(SIG_DFL) &&
      handler != reinterpret_cast<std::uintptr_t>(SIG_IGN)) {
    say("ELG_SAMPLE: the program has ended threads, which takes the signal of the timers; there "
        "are no samples");
    return false;
  }
  KernelAction action{};
  action.handler = take_sample;
  action.flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
#if defined(__x86_64__)
  action.flags |= kRestorer;
  action.restorer = kojak_sample_return;
#endif
  action.mask = ~std::uint64_t{0};
  return set_action(&action, nullptr) == 0;
}

bool still_ours() {
  KernelAction now{};
  return set_action(nullptr, &now) == 0 && now.handler == take_sample;
}

#else

bool take_signal() {
  return false;
}
bool still_ours() {
  return true;
}

#endif

bool start_timer(Sampler& s) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &s.timer) != 0) {
    s.timer = -1;
    return false;
  }
  const auto interval = static_cast<long>(the_session.config.sample);  // nanoseconds
  constexpr long kSecond = 1'000'000'000;
  const timespec period = {interval / kSecond, interval % kSecond};
  const itimerspec times = {period, period};
  return syscall(SYS_timer_settime, s.timer, 0, &times, nullptr) == 0;
}

void complain_once(const char* what) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true) && the_session.run.rank == 0) say("ELG_SAMPLE: %s", what);
}

}  // namespace

void prepare_sampling() {
  sampling_ready = false;
  if (the_session.config.sample == 0) return;
  own_code = code_around(reinterpret_cast<const void*>(&prepare_sampling));
  sampling_ready = take_signal();
  if (!sampling_ready) complain_once("the timers' signal cannot be had here; there are no samples");
  if (sampling_ready && !prepare_interrupted_paths()) {
    complain_once("what led to a place cannot be followed here; samples have the place alone");
  }
}

void start_sampling(Recorder& r) {
  if (!sampling_ready || the_sampler != nullptr || r.trace->code == nullptr) return;
  auto* const s = static_cast<Sampler*>(allocate(sizeof(Sampler)));
  if (s == nullptr) return complain_once("there is no memory for samples");
  s->timer = -1;
  s->stride = 1;
  const StringId name = define_string(r, kSampledRegion, strlen(kSampledRegion));
  publish(r, put(r, r.cursor,
                 Region{kSampled, name, absent<FileId>(), absent<Line>(), absent<Line>(),
                        absent<StringId>(), Byte{0}}));
  if (r.trace->thread == 0) {
    char text[32];
    const ProgramFloats floats;
    snprintf(text, sizeof text, "%.9g", static_cast<double>(the_session.config.sample) * 1e-9);
    define_property(r, run_property::kSampleInterval, text);
  }
  the_sampler = s;
  r.trace->sampler = s;
  if (!start_timer(*s)) complain_once("a thread's timer cannot be started; it has no samples");
}

void write_samples(Recorder& r) {
  Sampler* const s = the_sampler;
  if (s == nullptr || s->writing || s->size == 0 || r.trace == nullptr || r.trace->sampler != s) {
    return;
  }
  s->writing = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < s->size; ++i) {
    const Sample& sample = s->samples[i];
    const RegionId place =
        define_sampled(r, kSampled, {sample.address, sample.frames}, sample.more);
    if (!make_room_for(r, kMaxRecord)) break;
    // A flush for room may have been recorded.
    if (static_cast<std::int64_t>(sample.at - r.last) > 0) r.last = sample.at;
    publish(r,
            put(r, r.cursor, LocalSample{r.lid, record_time(r.last), place, Count{sample.count}}));
  }
  s->size = 0;
  s->stride = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  s->writing = false;
}

void end_sampling(LocalTrace& trace) {
  Sampler* const s = trace.sampler;
  if (s == nullptr) return;
  if (s->timer >= 0) syscall(SYS_timer_delete, s->timer);
  if (!still_ours()) {
    complain_once(
        "the program has ended threads, which takes the signal of the timers; there are "
        "no samples from there on");
  }
  // Another thread's handler may still look at it.
  if (s != the_sampler) return;
  if (!the_session.stopped) write_samples(*trace.recorder);
  trace.sampler = nullptr;
  the_sampler = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  release(s, sizeof(Sampler));
}

}  // namespace kojak::measure
