// elg2perfetto: a merged trace as a trace for Perfetto's viewer (ui.perfetto.dev).
#include <algorithm>
#include <bit>
#include <cmath>

#include "earl/file_gaps.h"
#include "earl/index/message_feed.h"
#include "earl/index/region_stacks.h"
#include "earl/index/transfer_queues.h"
#include "epilog/format/field_values.h"
#include "epilog/format/text/counts.h"
#include "expert/analysis.h"
#include "expert/findings/wait_words.h"
#include "expert/metrics/region_kind.h"
#include "expert/patterns/catalogue.h"
#include "tools/cli/trace_input.h"
#include "tools/elg2perfetto/chrome_json.h"
#include "tools/elg2perfetto/packets.h"
#include "tools/export/clock.h"
#include "tools/export/names.h"

namespace kojak::perfetto {
namespace {

using expert::RegionKind;

constexpr cli::ToolInfo kTool = {
    "elg2perfetto", "[options] TRACE",
    "Converts a merged trace for Perfetto's viewer (ui.perfetto.dev): calls, messages,\n"
    "transfers, counters, and the worst waits of each pattern.",
    "elg2perfetto -o a.pftrace a.elg", nullptr};

// The events of a trace, one after the other.
class Export {
 public:
  Export(earl::Trace& trace, ViewerFile& out)
      : trace_(trace), out_(out), regions_(trace), messages_(trace), transfers_(trace) {
    for (std::uint32_t i = 0; i < trace.location_count(); ++i) add_location(i);
  }

  void run(const std::function<void(std::uint64_t)>& progress) {
    for (earl::Event event; trace_.next(event);) {
      regions_.apply(event);
      messages_.apply(event);
      transfers_.apply(event);
      take(event, clock_(event.time));
      if ((event.pos & 0xFFFF) == 0) progress(event.pos);
    }
    messages_.finish();
    take_pairs();
    for (Thread& thread : threads_) {  // regions that the trace does not close
      for (; thread.depth > 0; --thread.depth) out_.end(thread.track, thread.last);
    }
  }
  exporting::Clock& clock() { return clock_; }

 private:
  struct Process {
    TrackId track = 0, bytes = 0, epochs = 0;
    std::int64_t under_way = 0, open = 0;
    std::uint64_t last = 0;
  };
  struct Thread {
    TrackId track = 0;
    std::uint32_t process = 0;
    std::size_t depth = 0;
    std::uint64_t last = 0;
    std::vector<TrackId> counters = {};      // of the trace's counters,
    std::vector<std::int64_t> counted = {};  // and what they show; empty before the first event
  };
  struct Arrival {
    std::uint32_t thread;
    std::uint64_t time;
  };
  struct Started {  // a transfer
    std::uint32_t thread;
    std::int64_t bytes;
  };

  void add_location(std::uint32_t index) {
    const LocationDef& def = trace_.location_def(index);
    const std::uint32_t rank = raw(def.process);
    if (rank >= processes_.size()) processes_.resize(rank + 1);
    Process& process = processes_[rank];
    const Definitions& definitions = trace_.definitions();
    if (process.track == 0) {
      process.track = out_.process(rank + 1, exporting::process_name(definitions, def.process));
      process.bytes = out_.counter(process.track, "one-sided bytes under way");
      process.epochs = out_.counter(process.track, "open epochs");
    }
    // Perfetto shows the thread whose number is that of its process first.
    threads_.push_back({out_.thread(rank + 1, index_of_thread(rank, raw(def.thread)),
                                    exporting::thread_name(definitions, def)),
                        rank, 0, 0});
    definitions.metrics.for_each([&](MetricId, const MetricDef& metric) {
      std::string name = metric.name;
      if (raw(def.thread) != 0) name += ", thread " + std::to_string(raw(def.thread));
      threads_.back().counters.push_back(out_.counter(process.track, name));
    });
  }
  std::uint32_t index_of_thread(std::uint32_t rank, std::uint32_t thread) const {
    return thread == 0 ? rank + 1 : trace_.process_count() + 1 + rank * 1024 + thread;
  }

  void take(const earl::Event& event, std::uint64_t now) {
    const std::uint32_t index = trace_.index(event.loc);
    if (index == kAbsent) return;
    Thread& thread = threads_[index];
    const std::uint64_t time = thread.last = std::max(thread.last, now);
    if (!event.metv.empty()) count_metrics(thread, time, event.metv);
    if (earl::is_enter(event.type)) {
      enter(thread, time, event);
    } else if (earl::is_exit(event.type)) {
      if (event.enterptr != earl::kNoEvent && thread.depth > 0) {
        --thread.depth;
        out_.end(thread.track, time);
      }
      if (earl::is_win_exit(event.type)) leave_epoch_call(thread, time, event);
    } else if (earl::is_send(event.type)) {
      out_.moment(thread.track, time, "MPI_SEND", event.pos + 1, false,
                  {{"to", raw(event.peer)}, {"tag", raw(event.tag)}, {"bytes", raw(event.sent)}});
    } else if (earl::is_recv(event.type)) {
      arrivals_[event.pos] = {index, time};
    } else if (earl::is_rma_start(event.type)) {
      out_.moment(
          thread.track, time, earl::is_put_start(event.type) ? "put starts" : "get starts",
          event.pos + 1, false,
          {{"to", raw(event.peer)}, {"window", raw(event.win)}, {"bytes", raw(event.sent)}});
      const auto bytes = static_cast<std::int64_t>(raw(event.sent));
      under_way_[event.pos] = {index, bytes};
      count_bytes(thread, time, bytes);
    } else if (earl::is_rma_end(event.type)) {
      end_transfer(thread, time, event);
    } else if (earl::is_win_lock(event.type)) {
      count_epoch(thread, time, 1);
    } else if (earl::is_win_unlock(event.type)) {
      count_epoch(thread, time, -1);
    }
    take_pairs();
  }

  void enter(Thread& thread, std::uint64_t time, const earl::Event& event) {
    const Definitions& definitions = trace_.definitions();
    const RegionDef* region = definitions.regions.find(event.reg);
    const std::string_view name =
        region == nullptr ? std::string_view("unknown region") : std::string_view(region->name);
    const RegionKind kind = region == nullptr ? RegionKind::kProgram : expert::kind_of(*region);
    const std::string_view category = kind == RegionKind::kProgram       ? "program"
                                      : kind == RegionKind::kMeasurement ? "overhead"
                                      : region->function != nullptr      ? "MPI"
                                                                         : "PGAS";
    ViewerFile::Place place;
    const CallSiteDef* site = definitions.call_sites.find(event.csite);
    if (site != nullptr && !is_absent(site->line)) {
      if (const std::string* file = definitions.files.find(site->file)) place.file = *file;
      place.line = raw(site->line);
    }
    out_.begin(thread.track, time, name, category, place.file.empty() ? nullptr : &place);
    ++thread.depth;
  }

  // (Classic traces have such an exit of a test that gave false, too.)
  void leave_epoch_call(Thread& thread, std::uint64_t time, const earl::Event& event) {
    const MpiRole role = trace_.definitions().role(event.reg);
    if (event.code == 1) {
      count_epoch(thread, time, -1);
    } else if (role == MpiRole::kWinPost || role == MpiRole::kWinStart) {
      count_epoch(thread, time, 1);
    }
  }

  void end_transfer(Thread& thread, std::uint64_t time, const earl::Event& event) {
    const std::uint64_t start = transfers_.startptr();
    if (start == earl::kNoEvent) return;
    out_.moment(thread.track, time,
                earl::is_put_end(event.type) ? "put has ended" : "get has ended", start + 1, true,
                {{"from", raw(event.peer)}, {"window", raw(event.win)}});
    const auto known = under_way_.find(start);
    if (known == under_way_.end()) return;
    count_bytes(threads_[known->second.thread], time, -known->second.bytes);
    under_way_.erase(known);
  }

  // Pairs of messages that are final now; the receive may lie further back.
  void take_pairs() {
    for (const earl::MessageQueue::Departure& pair : messages_.departed()) {
      const auto arrival = arrivals_.find(pair.recv);
      if (arrival == arrivals_.end()) continue;
      Thread& thread = threads_[arrival->second.thread];
      out_.moment(thread.track, arrival->second.time, "MPI_RECV", pair.send + 1, true, {});
      arrivals_.erase(arrival);
    }
  }

  // What the trace's counters stand at, where that changes. Fractions are rounded.
  void count_metrics(Thread& thread, std::uint64_t time, const MetricValues& values) {
    const bool first = thread.counted.empty();
    thread.counted.resize(thread.counters.size());
    std::size_t i = 0;
    trace_.definitions().metrics.for_each([&](MetricId, const MetricDef& metric) {
      if (i >= values.size()) return;
      const std::uint64_t bits = values[static_cast<std::uint32_t>(i)];
      const double real = metric.dtype == kFloatCounter ? std::bit_cast<double>(bits) : 0;
      const std::int64_t value = metric.dtype != kFloatCounter ? static_cast<std::int64_t>(bits)
                                 : std::abs(real) < 9e18       ? std::llround(real)
                                                               : 0;
      if (first || thread.counted[i] != value) out_.count(thread.counters[i], time, value);
      thread.counted[i++] = value;
    });
  }

  void count_bytes(const Thread& thread, std::uint64_t time, std::int64_t change) {
    Process& process = processes_[thread.process];
    count(process, time, process.bytes, process.under_way += change);
  }
  void count_epoch(const Thread& thread, std::uint64_t time, std::int64_t change) {
    Process& process = processes_[thread.process];
    count(process, time, process.epochs, process.open += change);
  }
  // Counters of a process are fed by several threads, whose times may be out of order.
  void count(Process& process, std::uint64_t time, TrackId counter, std::int64_t value) {
    process.last = std::max(process.last, time);
    out_.count(counter, process.last, value);
  }

  earl::Trace& trace_;
  ViewerFile& out_;
  earl::sequence::RegionStacks regions_;
  earl::MessageFeed messages_;
  earl::sequence::TransferQueues transfers_;
  exporting::Clock clock_;
  std::vector<Process> processes_;  // by rank
  std::vector<Thread> threads_;     // by the location's dense number
  std::unordered_map<std::uint64_t, Arrival> arrivals_;
  std::unordered_map<std::uint64_t, Started> under_way_;  // by the number of the start
};

// The worst instances of each pattern, on tracks of their own: one beside the other where they
// overlap.
void write_waits(const expert::Report& report, exporting::Clock& clock, ViewerFile& out) {
  std::vector<const expert::Instance*> instances;
  for (const expert::Instance& i : report.waits().worst) instances.push_back(&i);
  std::stable_sort(instances.begin(), instances.end(), [](const auto* a, const auto* b) {
    return std::pair(a->metric, a->begin) < std::pair(b->metric, b->begin);
  });
  TrackId waits = 0;
  struct Lane {
    TrackId track;
    Seconds until;
  };
  std::vector<Lane> lanes;
  for (std::size_t n = 0; n < instances.size(); ++n) {
    const expert::Instance& i = *instances[n];
    const std::string title(expert::all_metrics()[i.metric].title);
    if (waits == 0) waits = out.track(0, "Worst waits");
    if (n == 0 || instances[n - 1]->metric != i.metric) lanes.clear();
    auto lane =
        std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.until <= i.begin; });
    if (lane == lanes.end()) {
      lanes.push_back({out.track(waits, title), {}});
      lane = lanes.end() - 1;
    }
    lane->until = i.end;
    std::vector<ViewerFile::Text> texts{
        {"waiting, all processes", fixed(i.waiting.seconds(), 6) + " s"}};
    const expert::Waiter& worst = i.waiters.front();
    texts.push_back({"where", expert::call_name(report, worst.call_path)});
    if (const auto partners = expert::partners_of(i); !partners.empty()) {
      const expert::Partner& p = partners.front();
      texts.push_back({"until", expert::ending(report, p.location, p.call_path, p.at_exit)});
    }
    if (const std::string object = expert::object_words(report, i.operation); !object.empty()) {
      texts.push_back({"object", object});
    }
    out.slice(lane->track, clock(i.begin), clock(i.end), title, texts);
  }
}

ExitCode run(const cli::po::variables_map& values) {
  if (values.count("trace") == 0) return cli::usage_error("name a trace");
  const auto input = values["trace"].as<std::string>();
  const bool json = values.count("json") != 0;
  const std::string output = values.count("output") != 0 ? values["output"].as<std::string>()
                             : json                      ? "a.json"
                                                         : "a.pftrace";
  const auto instances = values["waits"].as<std::size_t>();
  if (input == "-" && instances != 0) {
    return cli::usage_error("standard input is read once: with --waits 0 the waits are left out");
  }
  if (const auto refused = cli::overwrites({input}, {output})) return *refused;
  auto trace = earl::Trace::open(input);
  if (!trace) return cli::failed(trace.error());
  auto file = OutputFile::create(output);
  if (!file) return cli::failed(file.error());
  Packets packets(*file);
  ChromeJson chrome(*file);
  ViewerFile& viewer = json ? static_cast<ViewerFile&>(chrome) : packets;
  Export events(*trace, viewer);
  {
    cli::Progress bar("writing", trace->declared_events().value_or(0));
    events.run([&](std::uint64_t at) { bar.update_now(at); });
  }
  const bool suspect = cli::print_faults(input, earl::gaps_of(*trace), trace->damage());
  if (instances != 0) {
    auto again = earl::Trace::open(input);
    if (!again) return cli::failed(again.error());
    cli::Progress bar("analysing", again->declared_events().value_or(0));
    expert::AnalysisOptions options;
    options.instances = instances;
    options.progress = [&](std::uint64_t at) { bar.update_now(at); };
    write_waits(expert::analyse(*again, options), events.clock(), viewer);
  }
  if (const Status written = viewer.flush(); !written) return cli::failed(written.error());
  if (const Status written = file->commit(); !written) return cli::failed(written.error());
  return suspect ? ExitCode::kSuspect : ExitCode::kFine;
}

}  // namespace
}  // namespace kojak::perfetto

int main(int argc, char** argv) {
  kojak::cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", kojak::cli::po::value<std::string>()->value_name("FILE"),
      "the trace for the viewer (default: a.pftrace, or a.json); - is standard output")(
      "json", "Chrome's format, for viewers that know no other: larger and slower")(
      "waits", kojak::cli::po::value<std::size_t>()->default_value(10)->value_name("N"),
      "the N worst instances of each pattern, on tracks of their own; 0: none");
  options.hidden.add_options()("trace", kojak::cli::po::value<std::string>(), "");
  options.positional.add("trace", 1);
  return kojak::cli::run_tool(argc, argv, kojak::perfetto::kTool, options, kojak::perfetto::run);
}
