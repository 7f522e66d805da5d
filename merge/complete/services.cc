#include "merge/complete/services.h"

#include <bit>
#include <charconv>
#include <limits>

#include "epilog/format/communication_libraries.h"
#include "epilog/format/library_thread.h"
#include "epilog/format/mpi_functions.h"
#include "merge/complete/walk.h"
#include "merge/input/local_input.h"

namespace kojak::merge {
namespace {

constexpr std::size_t kReadAhead = 64 * 1024;
constexpr double kNever = std::numeric_limits<double>::infinity();

// In place of a call of a library: the one that the thread's first call comes out of.
constexpr std::uint32_t kTheFirst = kAbsent - 1;

// What one thread calls of MPI, in its order.
class CallsOf {
 public:
  CallsOf(const MergedDefinitions& definitions, const Translation& translation,
          std::uint32_t library_call)
      : definitions_(definitions), translation_(translation), library_call_(library_call) {}

  // Times are as recorded. `after`: calls up to then do not count.
  void read(FileCache& files, const LocalTrace& trace, double after) {
    LocalInput input(files, trace, {kReadAhead, nullptr});
    Dialect dialect = trace.dialect;
    for (;;) {
      if (input.available() < kMaxRecord && !input.exhausted()) input.fill();
      if (input.available() < 2) return;
      const std::byte* const p = input.position();
      const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                             p + 2, 0};
      const std::size_t size = std::size_t{2} + record.length;
      if (input.available() < size) return;
      input.skip(size);
      const Step step = step_of(record.type);
      if (!is_event_step(step) || record.length < 12) continue;
      time_ = event_time(record, dialect.swapped()).value;
      if (step == Step::kEnter) {
        walk(step, record, dialect, *this);
      } else if (record.type == type_of(RecordType::kMpiRecv)) {
        received_ = received_ || since_ < kNever;
      }
      if (since_ <= after) since_ = kNever;
    }
  }

  // What walk() calls.
  void enter(std::uint32_t id, bool call_site) {
    const std::uint32_t region = entered_region(translation_, definitions_, id, call_site);
    if (region == kAbsent || definitions_.regions[region].function == nullptr) return;
    const std::uint32_t site = call_site ? translation_.call_sites[id] : translation_.sites[id];
    const std::uint32_t out_of =
        library_call_ != kAbsent ? library_call_of(definitions_, site) : kAbsent;
    if (library_call_ == kTheFirst) library_call_ = out_of;
    if (out_of != kAbsent && out_of == library_call_) {
      if (since_ == kNever) {
        since_ = time_;
        received_ = false;
      }
      return;
    }
    last_other_ = time_;
    since_ = kNever;
  }
  void pause() {}
  void open() {}
  void leave() {}
  void assertion(std::uint32_t) {}
  void sync(const RawRecord&, const Dialect&) {}

  double since() const { return since_; }
  bool received() const { return received_; }
  double last_other() const { return last_other_; }

 private:
  const MergedDefinitions& definitions_;
  const Translation& translation_;
  std::uint32_t library_call_;
  double time_ = 0, since_ = kNever, last_other_ = -kNever;
  bool received_ = false;
};

}  // namespace

std::uint32_t library_call_of(const MergedDefinitions& definitions, std::uint32_t site) {
  // What calls MPI is a function of the library's; the program's line leads into that.
  if (site == kAbsent) return kAbsent;
  const CallSiteDef& call = definitions.call_sites[site];
  const bool library = !is_absent(call.left) && raw(call.left) < definitions.regions.size() &&
                       definitions.regions[raw(call.left)].type == kLibraryFunction;
  return library ? raw(call.caller) : kAbsent;
}

std::optional<double> told_time(const Definitions& local, const char* key, ProcessId process) {
  const std::string* const text = local.properties.find(key, process);
  if (text == nullptr) return std::nullopt;
  std::uint64_t bits = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, bits);
  if (error != std::errc() || rest != end) return std::nullopt;
  return std::bit_cast<double>(bits);
}

std::optional<std::uint32_t> finalized_in(const MergedDefinitions& definitions,
                                          const Translation& translation,
                                          const Definitions& local) {
  std::optional<std::uint32_t> found;
  const auto look_at = [&](std::uint32_t region, std::uint32_t site) {
    if (region == kAbsent || definitions.regions[region].role() != MpiRole::kFinalize) return;
    const std::uint32_t library_call = library_call_of(definitions, site);
    // A region has a number for each place that it is called from, and one for none.
    if (!found || *found == kAbsent) found = library_call;
  };
  local.regions.for_each([&](RegionId id, const RegionDef&) {
    look_at(translation.regions[raw(id)], translation.sites[raw(id)]);
  });
  local.call_sites.for_each([&](CallSiteId id, const CallSiteDef&) {
    const std::uint32_t site = translation.call_sites[raw(id)];
    if (site != kAbsent) look_at(raw(definitions.call_sites[site].entered), site);
  });
  return found;
}

namespace {

void find_threads(const std::vector<LocalTrace>& traces, FileCache& files, Survey& survey) {
  for (std::size_t i = 0; i < traces.size(); ++i) {
    TraceFacts& facts = survey.traces[i];
    if (traces[i].thread == 0 || !facts.library_thread) continue;
    if (facts.library_thread_since) {
      facts.serves_since = facts.library_thread_since;
      continue;
    }
    CallsOf calls(survey.definitions, *facts.translation, kTheFirst);
    calls.read(files, traces[i], -kNever);
    const bool others = calls.last_other() > -kNever;
    if (!others && calls.since() < kNever && calls.received()) facts.serves_since = calls.since();
  }
}

// Some of those that came to MPI_Finalize did so in the call that starts a library.
void find_starting(const std::vector<LocalTrace>& traces, Survey& survey) {
  std::size_t ended = 0, may = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (traces[i].thread != 0 || !survey.traces[i].finalized_in) continue;
    ++ended;
    may += survey.traces[i].starts_library_since.has_value();
  }
  if (may == ended) return;
  for (TraceFacts& facts : survey.traces) {
    if (facts.starts_library_since) facts.serves_since = facts.starts_library_since;
  }
}

void find_processes(const std::vector<LocalTrace>& traces, FileCache& files, Survey& survey) {
  std::size_t ended = 0, may = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const auto& in = survey.traces[i].finalized_in;
    if (traces[i].thread != 0 || !in) continue;
    ++ended;
    may += *in != kAbsent;
  }
  if (may == 0 || may == ended) return;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    TraceFacts& facts = survey.traces[i];
    if (traces[i].thread != 0 || facts.finalized_in.value_or(kAbsent) == kAbsent) continue;
    double others = -kNever;  // the last call of another of its threads
    for (std::size_t t = i + 1; t < traces.size() && traces[t].rank == traces[i].rank; ++t) {
      CallsOf calls(survey.definitions, *survey.traces[t].translation, kAbsent);
      calls.read(files, traces[t], -kNever);
      others = std::max(others, calls.last_other());
    }
    CallsOf calls(survey.definitions, *facts.translation, *facts.finalized_in);
    calls.read(files, traces[i], others);
    if (calls.since() < kNever && calls.received()) facts.serves_since = calls.since();
  }
}

}  // namespace

void find_services(const std::vector<LocalTrace>& traces, FileCache& files, Survey& survey) {
  find_threads(traces, files, survey);
  find_processes(traces, files, survey);
  find_starting(traces, survey);
}

}  // namespace kojak::merge
