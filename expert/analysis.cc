#include "expert/analysis.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <tuple>

#include "earl/replay.h"
#include "expert/catalogue.h"
#include "expert/notes.h"
#include "expert/profile.h"
#include "expert/trace_findings.h"

namespace kojak::expert {
namespace {

// Receives the replay's events, keeps the profile and hands the rest to the patterns.
class Analysis : public earl::Sink {
 public:
  Analysis(const earl::Trace& trace, const AnalysisOptions& options)
      : trace_(trace),
        options_(options),
        severities_(kMetrics, trace.location_count()),
        profile_(trace.definitions(), trace.location_count()) {
    trace.definitions().nodes.for_each([&](NodeId, const NodeDef& node) {
      if (node.clock_error)
        max_delta_ = std::max(max_delta_, *node.clock_error + *node.clock_error);
    });
  }

  // ---- for the patterns
  template <class Pattern, std::derived_from<earl::OpenCall> At>
  void add(Pattern, const At& at, Seconds severity) {
    static_assert(Pattern::kMetric.unit == Unit::kSeconds);
    if (!(severity > Seconds{0})) return;
    add_value<Pattern>(at, severity.value);
    if (!options_.instance) return;
    Seconds exit = at.enter;
    if constexpr (requires { at.exit; }) exit = at.exit;
    options_.instance({metric_index<Pattern>(), raw(at.cnode), at.index, severity, at.enter, exit});
  }
  template <class Pattern>
  void add(Pattern, const earl::OpenCall& at, std::uint64_t amount) {
    static_assert(Pattern::kMetric.unit != Unit::kSeconds);
    if (amount != 0) add_value<Pattern>(at, static_cast<double>(amount));
  }
  void count(Note note) { ++notes_[static_cast<std::size_t>(note)]; }
  Seconds delta(const earl::OpenCall& a, const earl::OpenCall& b) const {
    return trace_.has_clock_errors() ? trace_.delta(a.index, b.index) : Seconds{0};
  }
  // No two clocks of the trace are further apart.
  Seconds max_delta() const { return max_delta_; }
  const Definitions& definitions() const { return trace_.definitions(); }
  bool native() const { return trace_.native(); }
  bool shared_memory(WindowId window) const {
    const WindowDef* def = trace_.definitions().windows.find(window);
    return def != nullptr && def->flavour == kFlavourShared;
  }

  // ---- from the replay
  void on_call(const earl::Call& call, std::span<const std::uint64_t>) {
    profile_.add(call, severities_);
    if ((++calls_ & 0xFFFFF) == 0 && options_.progress) options_.progress(call.exit_pos);
  }
  void on_collective(const earl::CollectiveInstance& instance) {
    // When the last member came is unknown if one is missing.
    if (!instance.complete || instance.mixed) return;
    for_each([&](auto& pattern) {
      if constexpr (requires { pattern.on_collective(instance, *this); }) {
        pattern.on_collective(instance, *this);
      }
    });
  }
  void on_window_collective(const earl::WindowInstance& instance) {
    if (!instance.complete) return;
    for_each([&](auto& pattern) {
      if constexpr (requires { pattern.on_window_collective(instance, *this); }) {
        pattern.on_window_collective(instance, *this);
      }
    });
  }

#define KOJAK_FORWARD(handler, Type)                              \
  void handler(const earl::Type& what) {                          \
    for_each([&](auto& pattern) {                                 \
      if constexpr (requires { pattern.handler(what, *this); }) { \
        pattern.handler(what, *this);                             \
      }                                                           \
    });                                                           \
  }
  KOJAK_FORWARD(on_send, SendEvent)
  KOJAK_FORWARD(on_receive, RecvEvent)
  KOJAK_FORWARD(on_transfer, Transfer)
  KOJAK_FORWARD(on_collective_exit, CollectiveExit)
  KOJAK_FORWARD(on_message_call, MessageCall)
  KOJAK_FORWARD(on_fence_epoch, FenceEpoch)
  KOJAK_FORWARD(on_access_epoch, AccessEpoch)
  KOJAK_FORWARD(on_access_transaction, AccessEpoch)
  KOJAK_FORWARD(on_exposure_transaction, ExposureEpoch)
#undef KOJAK_FORWARD
  void on_marked_transfer(ProcessId, RmaId rmaid, ProcessId, const earl::AccessEpoch* epoch) {
    for_each([&](auto& pattern) {
      if constexpr (requires { pattern.on_marked_transfer(rmaid, epoch, *this); }) {
        pattern.on_marked_transfer(rmaid, epoch, *this);
      }
    });
  }
  void on_epoch_call(const earl::Call& call, const earl::AccessEpoch& epoch) {
    for_each([&](auto& pattern) {
      if constexpr (requires { pattern.on_epoch_call(call, epoch, *this); }) {
        pattern.on_epoch_call(call, epoch, *this);
      }
    });
  }

  SeverityStore finish() {
    profile_.finish(severities_);
    return std::move(severities_);
  }
  const std::array<std::uint64_t, kNotes>& notes() const {
    return notes_;
  }

 private:
  static constexpr std::uint8_t kFlavourShared = 4;

  template <class F>
  [[gnu::always_inline]] void for_each(F&& f) {
    std::apply([&](auto&... pattern) { (f(pattern), ...); }, patterns_);
  }
  template <class Pattern>
  [[gnu::always_inline]] void add_value(const earl::OpenCall& at, double value) {
    severities_.add(metric_index<Pattern>(), raw(at.cnode), at.index, value);
  }

  const earl::Trace& trace_;
  const AnalysisOptions& options_;
  SeverityStore severities_;
  Profile profile_;
  Catalogue patterns_;
  Seconds max_delta_;
  std::array<std::uint64_t, kNotes> notes_{};
  std::uint64_t calls_ = 0;
};

std::vector<CallPath> call_paths(const earl::CallTree& tree) {
  std::vector<CallPath> paths;
  paths.reserve(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const earl::CallPath& path = tree[static_cast<CallPathId>(static_cast<std::uint32_t>(i))];
    paths.push_back(
        {path.region, path.csite, is_absent(path.parent) ? kNone : std::size_t{raw(path.parent)}});
  }
  return paths;
}

}  // namespace

Report analyse(earl::Trace& trace, const AnalysisOptions& options) {
  Analysis analysis(trace, options);
  earl::Replay replay(trace, analysis);
  replay.run();
  std::vector<LocationId> locations;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) locations.push_back(trace.location(i));
  const std::span<const Metric, kMetrics> metrics = all_metrics();
  return {trace.definitions(),
          std::move(locations),
          {metrics.begin(), metrics.end()},
          call_paths(replay.call_tree()),
          analysis.finish(),
          findings_of(trace, analysis.notes())};
}

}  // namespace kojak::expert
