#include "epilog/runtime/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/papi.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {
namespace {

constexpr std::size_t kMostSets = sizeof Metrics{}.sets / sizeof *Metrics{}.sets;
constexpr std::size_t kMostName = 80;

// What the kernel counts of a thread.
struct UsageField {
  const char* name;
  const char* meaning;
  std::uint64_t (*of)(const rusage&);
};
std::uint64_t microseconds(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000 + static_cast<std::uint64_t>(t.tv_usec);
}
std::uint64_t number(long value) {
  return static_cast<std::uint64_t>(value);
}
constexpr UsageField kUsage[] = {
    {"ru_minflt", "Page faults that read no file",
     [](const rusage& u) { return number(u.ru_minflt); }},
    {"ru_majflt", "Page faults that read a file",
     [](const rusage& u) { return number(u.ru_majflt); }},
    {"ru_nvcsw", "How often the thread gave its processor away, because it had to wait",
     [](const rusage& u) { return number(u.ru_nvcsw); }},
    {"ru_nivcsw", "How often the processor was taken from the thread",
     [](const rusage& u) { return number(u.ru_nivcsw); }},
    {"ru_utime", "Microseconds of processor time in the program",
     [](const rusage& u) { return microseconds(u.ru_utime); }},
    {"ru_stime", "Microseconds of processor time in the kernel",
     [](const rusage& u) { return microseconds(u.ru_stime); }},
    {"ru_inblock", "Blocks read from disks", [](const rusage& u) { return number(u.ru_inblock); }},
    {"ru_oublock", "Blocks written to disks", [](const rusage& u) { return number(u.ru_oublock); }},
};

// The usual ones of PAPI; others have their name alone.
struct Meaning {
  const char *name, *meaning;
};
constexpr Meaning kMeanings[] = {
    {"PAPI_TOT_INS", "Instructions completed"},
    {"PAPI_TOT_CYC", "Cycles"},
    {"PAPI_REF_CYC", "Cycles of the reference clock"},
    {"PAPI_STL_ICY", "Cycles in which no instruction was issued"},
    {"PAPI_RES_STL", "Cycles stalled on any resource"},
    {"PAPI_L1_DCM", "Level 1 data cache misses"},
    {"PAPI_L1_TCM", "Level 1 cache misses"},
    {"PAPI_L2_DCM", "Level 2 data cache misses"},
    {"PAPI_L2_TCM", "Level 2 cache misses"},
    {"PAPI_L3_TCM", "Level 3 cache misses"},
    {"PAPI_TLB_DM", "Data translation lookaside buffer misses"},
    {"PAPI_BR_INS", "Branch instructions"},
    {"PAPI_BR_MSP", "Conditional branches mispredicted"},
    {"PAPI_LD_INS", "Load instructions"},
    {"PAPI_SR_INS", "Store instructions"},
    {"PAPI_FP_INS", "Floating point instructions"},
    {"PAPI_FP_OPS", "Floating point operations"},
    {"PAPI_DP_OPS", "Floating point operations, double precision"},
    {"PAPI_VEC_DP", "Vector instructions, double precision"},
    {"perf::TASK-CLOCK", "Nanoseconds of processor time"},
    {"perf::CPU-CLOCK", "Nanoseconds of processor time"},
    {"perf::PAGE-FAULTS", "Page faults"},
    {"perf::MINOR-FAULTS", "Page faults that read no file"},
    {"perf::MAJOR-FAULTS", "Page faults that read a file"},
    {"perf::CONTEXT-SWITCHES", "How often another thread got the processor"},
    {"perf::CPU-MIGRATIONS", "How often the thread went on on another processor"},
};

const char* meaning_of(const char* name) {
  for (const UsageField& field : kUsage) {
    if (strcmp(field.name, name) == 0) return field.meaning;
  }
  for (const Meaning& entry : kMeanings) {
    if (strcmp(entry.name, name) == 0) return entry.meaning;
  }
  return "";
}

// What all threads count, in the order of the values.
struct Wanted {
  char name[kMostName];
  const UsageField* usage;  // null: PAPI counts it
  int code;                 // PAPI's
  std::uint32_t set;        // of PAPI's sets, one for each of its components
  std::uint32_t place;      // in it
};
Wanted wanted[Metrics::kMost];
std::uint32_t wanted_count;
bool any_usage;
struct EventSet {
  int component;
  std::uint32_t size;
};
EventSet sets[kMostSets];
std::uint32_t set_count;
char missing[kMostText + 1];  // names, and why; for the trace

const UsageField* find_usage(const char* name) {
  for (const UsageField& field : kUsage) {
    if (strcmp(field.name, name) == 0) return &field;
  }
  return nullptr;
}

void note_missing(const char* name, const char* why) {
  const std::size_t used = strlen(missing);
  snprintf(missing + used, sizeof missing - used, "%s%s: %s", used != 0 ? "; " : "", name, why);
}

void drop_set(int& set) {
  if (set == papi::kNoSet) return;
  papi::library.cleanup_eventset(set);
  papi::library.destroy_eventset(&set);
}

// The sets of the calling thread, with the first `count` counters. On an error of PAPI none, and
// `failed` is the counter that cannot be there.
int make_sets(int (&made)[kMostSets], std::uint32_t count, std::uint32_t& failed) {
  int error = papi::kOk;
  for (int& set : made) set = papi::kNoSet;
  for (std::uint32_t i = 0; i < count && error == papi::kOk; ++i) {
    if (wanted[i].usage != nullptr) continue;
    int& set = made[wanted[i].set];
    failed = i;
    if (set == papi::kNoSet) error = papi::library.create_eventset(&set);
    if (error == papi::kOk) error = papi::library.add_event(set, wanted[i].code);
  }
  for (std::uint32_t s = 0; s < kMostSets && error == papi::kOk; ++s) {
    if (made[s] != papi::kNoSet) error = papi::library.start(made[s]);
  }
  if (error == papi::kOk) return error;
  for (int& set : made) {
    if (set == papi::kNoSet) continue;
    long long ignored[Metrics::kMost];
    papi::library.stop(set, ignored);
    drop_set(set);
  }
  return error;
}

// Whether PAPI can count this one beside those that are there; says why not.
const char* add_papi(Wanted& metric) {
  int error = papi::library.event_name_to_code(metric.name, &metric.code);
  if (error != papi::kOk) return "PAPI knows no such counter";
  const int component = papi::library.get_event_component(metric.code);
  metric.set = 0;
  while (metric.set < set_count && sets[metric.set].component != component) ++metric.set;
  if (metric.set == kMostSets) return "it is of a fifth component of PAPI";
  metric.place = metric.set < set_count ? sets[metric.set].size : 0;
  wanted[wanted_count] = metric;
  int trial[kMostSets];
  std::uint32_t failed = 0;
  error = make_sets(trial, wanted_count + 1, failed);
  if (error != papi::kOk) return papi::library.strerror(error);
  for (int& set : trial) {
    if (set == papi::kNoSet) continue;
    long long ignored[Metrics::kMost];
    papi::library.stop(set, ignored);
    drop_set(set);
  }
  if (metric.set == set_count) sets[set_count++] = {component, 0};
  ++sets[metric.set].size;
  return nullptr;
}

bool is_there(const char* name) {
  for (std::uint32_t i = 0; i < wanted_count; ++i) {
    if (strcmp(wanted[i].name, name) == 0) return true;
  }
  return false;
}

}  // namespace

void prepare_metrics() {
  Session& s = the_session;
  const char* list = s.config.metrics;
  if (list == nullptr) return;
  const int error = errno;
  wanted_count = set_count = 0;
  any_usage = false;
  missing[0] = '\0';
  bool asked_papi = false, has_papi = false;
  char no_papi[400] = "";
  char without_papi[200] = "";  // names
  while (*list != '\0') {
    const std::size_t length = strcspn(list, ",");
    Wanted metric{};
    const bool fits = length < kMostName;
    snprintf(metric.name, sizeof metric.name, "%.*s", static_cast<int>(length), list);
    list += length + (list[length] == ',' ? 1 : 0);
    if (length == 0 || is_there(metric.name)) continue;
    const char* why = nullptr;
    if (wanted_count == Metrics::kMost) {
      why = "15 counters are the most";
    } else if (!fits) {
      why = "no counter has so long a name";
    } else if ((metric.usage = find_usage(metric.name)) != nullptr) {
      any_usage = true;
      wanted[wanted_count] = metric;
    } else {
      if (!asked_papi) has_papi = papi::open_papi(s.config.papi, no_papi, sizeof no_papi);
      asked_papi = true;
      if (!has_papi) {
        const std::size_t used = strlen(without_papi);
        snprintf(without_papi + used, sizeof without_papi - used, "%s%s", used != 0 ? ", " : "",
                 metric.name);
        continue;
      }
      why = add_papi(metric);
    }
    if (why == nullptr) {
      ++wanted_count;
      continue;
    }
    complain(s.config, "ELG_METRICS: %s is not counted: %s", metric.name, why);
    note_missing(metric.name, why);
  }
  if (without_papi[0] != '\0') {
    complain(s.config, "ELG_METRICS: %s: not counted, for %s", without_papi, no_papi);
    note_missing(without_papi, no_papi);
  }
  if (missing[0] != '\0') {
    complain(s.config,
             "machines without hardware counters, as virtual ones are, have perf::TASK-CLOCK, "
             "perf::PAGE-FAULTS and perf::CONTEXT-SWITCHES, and every machine has ru_minflt, "
             "ru_nvcsw and the like (elg_config --settings)");
  }
  errno = error;
}

void start_metrics(Recorder& r) {
  r.metrics = nullptr;
  if (wanted_count == 0) return;
  const int error = errno;
  const ProgramFloats floats;
  Metrics* const m = [] {
    const BookkeepingLock memory;
    return create<Metrics>();
  }();
  if (m != nullptr) {
    m->count = wanted_count;
    std::uint32_t failed = 0;
    for (int& set : m->sets) set = papi::kNoSet;
    if (set_count != 0) papi::library.register_thread();
    if (set_count == 0 || make_sets(m->sets, wanted_count, failed) == papi::kOk) {
      read_metrics(*m, m->start);
      r.metrics = m;
    } else {
      const BookkeepingLock memory;
      destroy(m);
    }
  }
  errno = error;
}

void define_metrics(Recorder& r) {
  if (missing[0] != '\0' && r.trace->thread == 0) {
    define_property(r, run_property::kNoMetrics, missing);
  }
  if (r.metrics == nullptr) return;
  for (std::uint32_t i = 0; i < r.metrics->count; ++i) {
    const char* const name = wanted[i].name;
    const char* const meaning = meaning_of(name);
    const StringId name_id = define_string(r, name, strlen(name));
    const StringId meaning_id = define_string(r, meaning, strlen(meaning));
    publish(r, put(r, r.cursor,
                   LocalMetric{MetricId{i}, name_id, meaning_id, Byte{0}, Byte{0}, Byte{0}}));
  }
}

void end_metrics(Recorder& r) {
  Metrics* const m = r.metrics;
  r.metrics = nullptr;
  if (m == nullptr) return;
  const int error = errno;
  const ProgramFloats floats;
  for (int& set : m->sets) {
    if (set == papi::kNoSet) continue;
    long long ignored[Metrics::kMost];
    papi::library.stop(set, ignored);
    drop_set(set);
  }
  if (set_count != 0) papi::library.unregister_thread();
  {
    const BookkeepingLock memory;
    destroy(m);
  }
  errno = error;
}

void read_metrics(Metrics& m, std::uint64_t* to) {
  const int error = errno;
  if (set_count != 0) {
    const ProgramFloats floats;  // it may weight what it counted
    for (std::uint32_t s = 0; s < set_count; ++s) {
      papi::library.read(m.sets[s], m.read + s * Metrics::kMost);
    }
  }
  rusage usage{};
  if (any_usage) getrusage(RUSAGE_THREAD, &usage);
  for (std::uint32_t i = 0; i < m.count; ++i) {
    const Wanted& metric = wanted[i];
    const std::uint64_t value =
        metric.usage != nullptr
            ? metric.usage->of(usage)
            : static_cast<std::uint64_t>(m.read[metric.set * Metrics::kMost + metric.place]);
    to[i] = value - m.start[i];
  }
  errno = error;
}

std::byte* put_values(const Recorder& r, const std::uint64_t* values, std::uint32_t count,
                      std::byte* to) {
  return put(r, to, AttrMetrics{{reinterpret_cast<const std::byte*>(values), count, false}});
}

std::byte* put_now(const Recorder& r, std::byte* to) {
  if (r.metrics == nullptr) return to;
  std::uint64_t values[Metrics::kMost];
  read_metrics(*r.metrics, values);
  return put_values(r, values, r.metrics->count, to);
}

}  // namespace kojak::measure
