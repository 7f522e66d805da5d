#include "epilog/runtime/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/format/sampled_region.h"
#include "epilog/runtime/call_path.h"
#include "epilog/runtime/keeper.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/python.h"
#include "epilog/runtime/run_properties.h"
#include "epilog/runtime/sample_stacks.h"
#include "epilog/runtime/sampled_modules.h"

namespace kojak::measure {

struct Sampler {
  int timer = -1;
  volatile bool writing = false;
  bool small_stack = false;               // the program's alternate one has no room for samples
  volatile unsigned inside = 0;           // handlers; one that never came back counts for ever
  std::atomic<std::uint32_t> passed = 0;  // intervals since the last sample
  SampleMemory* memory = nullptr;
};

namespace {

constexpr int kSignal = 32;  // glibc: SIGCANCEL

thread_local constinit Sampler* the_sampler __attribute__((tls_model("initial-exec"))) = nullptr;
CodeRange own_code;
bool sampling_ready = false;

// Each of these is said once.
enum Complaint { kGeneral, kEnded, kOwnStack, kAlternateStack, kComplaints };
std::atomic<bool> complained[kComplaints];
bool is_first(Complaint what) {
  return !complained[what].exchange(true) && the_session.run.rank == 0 &&
         the_session.live.load(std::memory_order_relaxed);
}
void complain_once(Complaint what, const char* text) {
  if (is_first(what)) say("ELG_SAMPLE: %s", text);
}

bool set_timer(int timer, std::uint64_t interval) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const timespec period = {static_cast<time_t>(interval / kSecond),
                           static_cast<long>(interval % kSecond)};
  const itimerspec times = {period, period};
  return syscall(SYS_timer_settime, timer, 0, &times, nullptr) == 0;
}

bool make_timer(Sampler& s) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &s.timer) == 0) return true;
  s.timer = -1;
  return false;
}

// Takes note of the calling thread's alternate stack. False if it has no room for samples.
bool has_room(Sampler& s) {
  const bool small = alternate_stack_is_small();
  if (small != s.small_stack) set_timer(s.timer, small ? 0 : the_session.config.sample);
  s.small_stack = small;
  return !small;
}
// Not from the handler, which may be on that stack.
void complain_of_stack(const Sampler& s) {
  if (s.small_stack && is_first(kAlternateStack)) {
    say("ELG_SAMPLE: a thread has an alternate signal stack of less than %zu bytes, on which a "
        "handler of the program and a sample do not both fit; such threads have no samples",
        least_alternate_stack());
  }
}

void complain_of_own_stack() {
  if (!is_first(kOwnStack)) return;
  say("ELG_SAMPLE: threads with a stack of less than %zu bytes have no samples, which might not "
      "fit "
      "there",
      kLeastOwnStack);
}

bool get_memory(Sampler& s, const LocalTrace& trace) {
  s.memory =
      reinterpret_cast<SampleMemory*>(new_buffer(sizeof(SampleMemory), {trace.rank, kAbsent}).data);
  if (s.memory == nullptr) return false;
  s.memory->header.rank = trace.rank;
  s.memory->header.thread = trace.thread;
  memcpy(s.memory->header.magic, SampleMemory::kMagic, sizeof SampleMemory::kMagic);
  return true;
}

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

// Every second sample, which then stands for the one after it, too. What a handler of the program
// that interrupts this finds half done is not there for it.
void thin(SampleMemory& memory, SampleState state) {
  const SampleState next{state.round + 1, static_cast<std::uint16_t>(state.doublings + 1),
                         SampleMemory::kMost / 2};
  for (std::uint32_t i = 0; i < next.size; ++i) {
    const bool first = is_whole(memory, state.round, 2 * i);
    const bool second = is_whole(memory, state.round, 2 * i + 1);
    NotedSample& to = memory.samples[i];
    const NotedSample& kept = memory.samples[first ? 2 * i : 2 * i + 1];
    const std::uint32_t also = first && second ? memory.samples[2 * i + 1].count : 0;
    to.mark = 0;
    if (!first && !second) continue;
    if (&to != &kept) memcpy(&to, &kept, sizeof to);
    to.count += also;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    to.mark = mark_of(to, next.round, i);
  }
  std::uint64_t expected = state.value();
  memory.state.compare_exchange_strong(expected, next.value());
}

// A place for a sample, which nobody else gets in this round.
SampleState take_place(SampleMemory& memory) {
  std::uint64_t value = memory.state.load();
  for (;;) {
    const SampleState state = SampleState::of(value);
    if (state.size >= SampleMemory::kMost) {
      thin(memory, state);
      value = memory.state.load();
    } else if (memory.state.compare_exchange_weak(value, value + 1)) {
      return state;
    }
  }
}

NextNumbers next_numbers(const LocalTrace& trace) {
  const CodeTable& code = *trace.code;
  return {trace.next_string, code.next_module, code.next_frame, code.next_place};
}

void note_sample(Sampler& s, Recorder& r, std::uintptr_t at, std::uint32_t intervals) {
  SampleMemory& memory = *s.memory;
  const std::uint32_t passed = s.passed.fetch_add(intervals) + intervals;
  if (passed >> SampleState::of(memory.state.load()).doublings == 0) return;
  const std::uint32_t count = s.passed.exchange(0);
  if (count == 0) return;
  const Ticks now = ticks();
  const SampleState place = take_place(memory);
  // From here on whoever writes a record writes the samples first, and ends this round.
  r.limit.store(nullptr, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (r.trace == nullptr) return;
  NotedSample& sample = memory.samples[place.size];
  sample.mark = 0;
  sample.at = now;
  sample.count = count;
  sample.next = next_numbers(*r.trace);
  bool more = false;
  sample.frames = static_cast<std::uint16_t>(interrupted_path(at, sample.address, more));
  sample.more = more ? 1 : 0;
  interrupted_python({sample.address, sample.frames}, sample.python);
  for (unsigned i = 0; i < sample.frames; ++i) note_sampled_module(memory, sample.address[i]);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  sample.mark = mark_of(sample, place.round, place.size);
}

// The first walk out of a handler needs more stack than those after it: functions are bound, the
// unwinder sets itself up.
std::atomic<bool> warming_up{false};
void warm_up(std::uintptr_t at) {
  static std::uintptr_t unused[kMostCallers];
  bool more = false;
  interrupted_path(at, unused, more);
  warming_up = false;
}

// A handler of the program may interrupt this anywhere, and need not come back.
void take_sample(int, siginfo_t* info, void* context) {
  const std::uintptr_t at = place_in(*static_cast<const ucontext_t*>(context));
  if (warming_up && info->si_code == SI_QUEUE) return warm_up(at);
  Sampler* const s = the_sampler;
  Recorder& r = the_recorder;
  if (s == nullptr || s->writing || r.frame != nullptr || info->si_code != SI_TIMER ||
      the_session.functions.load(std::memory_order_relaxed) == 0 ||
      (r.trace != nullptr && r.trace->paused_apart)) {
    return;
  }
  if (own_code.holds(reinterpret_cast<const void*>(at))) return;  // on its way into a wrapper
  const int saved = errno;
  s->inside = s->inside + 1;
  if (has_room(*s)) {
    const int missed = info->si_overrun;
    note_sample(*s, r, at,
                1 + static_cast<std::uint32_t>(missed > 0 && missed < 1000 ? missed : 0));
  }
  s->inside = s->inside - 1;
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
  // Nothing is blocked, not even the signal itself: what the kernel has for the process it gives to
  // the thread that would have got it without us, and a handler that never comes back leaves
  // nothing blocked.
  action.flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
#if defined(__x86_64__)
  action.flags |= kRestorer;
  action.restorer = kojak_sample_return;
#endif
  return set_action(&action, nullptr) == 0;
}

bool still_ours() {
  KernelAction now{};
  return set_action(nullptr, &now) == 0 && now.handler == take_sample;
}

void warm_up_handler() {
  siginfo_t info{};
  info.si_signo = kSignal;
  info.si_code = SI_QUEUE;
  warming_up = true;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), kSignal, &info);
}

#else

bool take_signal() {
  return false;
}
bool still_ours() {
  return true;
}
void warm_up_handler() {}

#endif

}  // namespace

void alternate_stack_changed() {
  Sampler* const s = the_sampler;
  if (s != nullptr && !has_room(*s)) complain_of_stack(*s);
}

void prepare_sampling() {
  sampling_ready = false;
  if (the_session.config.sample == 0) return;
  own_code = code_around(reinterpret_cast<const void*>(&prepare_sampling));
  sampling_ready = take_signal();
  if (!sampling_ready) {
    return complain_once(kGeneral, "the timers' signal cannot be had here; there are no samples");
  }
  if (!prepare_interrupted_paths()) {
    complain_once(kGeneral,
                  "what led to a place cannot be followed here; samples have the place alone");
  }
  prepare_sampled_modules();
  prepare_python_samples();
  prepare_sample_stacks();
  warm_up_handler();
}

void start_sampling(Recorder& r) {
  LocalTrace& trace = *r.trace;
  if (!sampling_ready || the_sampler != nullptr || trace.code == nullptr) return;
  if (!own_stack_has_room()) return complain_of_own_stack();
  auto* const s = create<Sampler>();
  if (s == nullptr || !get_memory(*s, trace)) {
    destroy(s);
    return complain_once(kGeneral, "there is no memory for samples");
  }
  const StringId name = define_string(r, kSampledRegion, strlen(kSampledRegion));
  publish(r, put(r, r.cursor,
                 Region{kSampled, name, absent<FileId>(), absent<Line>(), absent<Line>(),
                        absent<StringId>(), Byte{0}}));
  if (trace.thread == 0) {
    char text[32];
    const ProgramFloats floats;
    snprintf(text, sizeof text, "%.9g", static_cast<double>(the_session.config.sample) * 1e-9);
    define_property(r, run_property::kSampleInterval, text);
  }
  the_sampler = s;
  trace.sampler = s;
  if (!make_timer(*s) || !set_timer(s->timer, the_session.config.sample)) {
    complain_once(kGeneral, "a thread's timer cannot be started; it has no samples");
  }
  if (!has_room(*s)) complain_of_stack(*s);
}

namespace {
thread_local constinit bool recording_begins __attribute__((tls_model("initial-exec"))) = false;
}
void drop_samples(bool begins) {
  recording_begins = begins;
}

void write_samples(Recorder& r) {
  Sampler* const s = the_sampler;
  if (s == nullptr || s->writing || r.trace == nullptr || r.trace->sampler != s) return;
  complain_of_stack(*s);
  SampleMemory& memory = *s->memory;
  const SampleState state = SampleState::of(memory.state.load());
  if (state.size == 0) return;
  s->writing = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  note_before_samples(r);
  if (recording_begins) s->passed.exchange(0);
  for (std::uint32_t i = 0; i < state.size && !recording_begins; ++i) {
    if (!is_whole(memory, state.round, i)) continue;
    const NotedSample& sample = memory.samples[i];
    RegionId place = define_python_sample(r, kSampled, sample.python);
    if (place == absent<RegionId>()) {
      place = define_sampled(r, kSampled, {sample.address, sample.frames}, sample.more != 0);
    }
    if (!make_room_for(r, kMaxRecord)) break;
    // A flush for room may have been recorded.
    if (static_cast<std::int64_t>(sample.at - r.last) > 0) r.last = sample.at;
    // Where not each interval is a sample, the last ones are none yet.
    const std::uint32_t rest = i + 1 == state.size ? s->passed.exchange(0) : 0;
    publish(r, put(r, r.cursor,
                   LocalSample{r.lid, record_time(r.last), place, Count{sample.count + rest}}));
  }
  memory.state.store(SampleState{state.round + 1, 0, 0}.value());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  s->writing = false;
}

void end_sampling(LocalTrace& trace) {
  Sampler* const s = trace.sampler;
  if (s == nullptr) return;
  if (s->timer >= 0) syscall(SYS_timer_delete, s->timer);
  if (!still_ours()) {
    complain_once(kEnded,
                  "the program has ended threads, which takes the signal of the timers; there are "
                  "no samples from there on");
  }
  if (s == the_sampler && !the_session.stopped) write_samples(*trace.recorder);
  std::atomic_ref<std::uint32_t>(s->memory->header.state).store(LocalBufferHeader::kClosed);
  // Another thread's handler may still look at it.
  if (s != the_sampler) return;
  trace.sampler = nullptr;
  the_sampler = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // So may our own, where a handler of the program has interrupted it and ends the session.
  if (s->inside != 0) return;
  munmap(s->memory, sizeof(SampleMemory));
  destroy(s);
}

}  // namespace kojak::measure
