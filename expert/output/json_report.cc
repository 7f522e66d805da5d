// Long because every part of the JSON is written here, one after the other.
#include "expert/output/json_report.h"

#include <algorithm>
#include <array>
#include <span>

#include "epilog/format/io/writer.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/failed_call_words.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/wait_words.h"
#include "expert/output/json.h"
#include "expert/output/json_groups.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/efficiency.h"
#include "expert/profile/run_facts.h"

namespace kojak::expert {
namespace {

using html::Json;

void add_metrics(Json& json, const Report& report) {
  json.key("metrics").begin_array();
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    json.begin_object()
        .member("name", node.metric.name)
        .member("title", node.metric.title)
        .member("parent", node.metric.parent)
        .member("unit", unit_word(node.metric.unit))
        .member("pattern", node.metric.kind == Metric::Kind::kPattern)
        .member("total", report.total(m));
    if (!node.remark.empty()) json.member("remark", node.remark);
    json.end_object();
  }
  json.end_array();
}

void add_call_paths(Json& json, const Report& report) {
  json.key("call_paths").begin_array();
  const Definitions& definitions = report.definitions();
  for (const CallPathNode& node : report.call_paths()) {
    json.begin_object().member("region", report.region_name(node.region));
    json.key("parent");
    if (node.parent == kNone) {
      json.null();
    } else {
      json.value(node.parent);
    }
    const CallSiteDef* site =
        is_absent(node.site) ? nullptr : definitions.call_sites.find(node.site);
    if (site != nullptr) {
      const std::string* file = definitions.files.find(site->file);
      json.member("file", file != nullptr ? *file : std::string());
      if (!is_absent(site->line)) json.member("line", raw(site->line));
      json.member("caller", report.region_name(site->left));
    }
    json.end_object();
  }
  json.end_array();
}

void add_threads(Json& json, const Report& report) {
  json.key("threads").begin_array();
  for (const MachineNode& machine : report.machines()) {
    for (const HostNode& node : machine.nodes) {
      for (const ProcessNode& process : node.processes) {
        for (const ThreadNode& thread : process.threads) {
          json.begin_object()
              .member("rank", process.rank)
              .member("thread", thread.number)
              .member("node", node.name)
              .member("machine", machine.name)
              .end_object();
        }
      }
    }
  }
  json.end_array();
}

// The call that ended a wait, with what a reader would else look up.
void add_call(Json& json, const Report& report, LocationIndex location, CallPathIndex call_path,
              bool at_exit) {
  const std::size_t path = report.path_at(call_path);
  json.member("thread", report.thread_at(location)).member("call_path", path);
  json.member("by", at_exit ? "exit" : "enter");
  const CallPathNode& node = report.call_paths()[path];
  json.member("function", report.region_name(node.region));
  const CallSiteDef* site =
      is_absent(node.site) ? nullptr : report.definitions().call_sites.find(node.site);
  if (site == nullptr) return;
  const std::string* file = report.definitions().files.find(site->file);
  if (file != nullptr) json.member("file", *file);
  if (!is_absent(site->line)) json.member("line", raw(site->line));
}

void add_partners(Json& json, const Report& report, std::span<const Partner> partners) {
  json.key("waited_for").begin_array();
  for (const Partner& p : partners) {
    json.begin_object();
    add_call(json, report, p.location, p.call_path, p.at_exit);
    json.member("seconds", p.waited.seconds()).end_object();
  }
  json.end_array();
}

void add_stretch(Json& json, const Report& report, const Stretch& stretch) {
  constexpr const char* kKinds[] = {"before_recording", "computing", "call",
                                    "overhead",         "starting",  "answering"};
  static_assert(std::size(kKinds) == std::size_t{Stretch::kKinds});
  json.member("kind", kKinds[static_cast<std::size_t>(stretch.kind)]);
  const auto path = [&](const char* key, CallPathIndex index) {
    const std::size_t place = index == kNoCallPath ? kNone : report.path_at(index);
    if (place != kNone) json.member(key, place);
  };
  if (stretch.kind == Stretch::Kind::kAnswering) {
    json.member("answered", report.thread_at(stretch.whom));
  }
  path("call_path", stretch.path);
  path("after", stretch.before);
  path("before", stretch.after);
}

void add_chain(Json& json, const Report& report, const Chain& chain) {
  json.key("chain").begin_object().member("left_out", chain.left_out);
  json.key("waits").begin_array();
  for (const ChainLink& link : chain.links) {
    json.begin_object()
        .member("thread", report.thread_at(link.waiter))
        .member("metric", all_metrics()[link.metric].name)
        .member("call_path", report.path_at(link.call_path))
        .member("begin", link.begin)
        .member("end", link.end);
    if (link.awaited != kNoLocation) json.member("awaited", report.thread_at(link.awaited));
    json.end_object();
  }
  json.end_array();
  if (chain.explained) {
    json.key("cause").begin_object().member("begin", chain.begin).member("end", chain.end);
    add_stretch(json, report, chain.stretch);
    json.end_object();
  }
  json.end_object();
}

// The name of an object, and the call that made it.
void add_created(Json& json, const Report& report, const Operation& operation) {
  if (const auto name = given_name(report.definitions(), operation); !name.empty())
    json.member("name", name);
  const auto* const all = calls_that_made(report.waits(), operation.object);
  if (all == nullptr) return;
  if (const auto created = all->find(operation.id); created != all->end()) {
    json.member("created", report.path_at(created->second));
  }
}

void add_instances(Json& json, const Report& report) {
  json.key("instances").begin_array();
  for (std::size_t n = 0; n < report.waits().worst.size(); ++n) {
    const Instance& i = report.waits().worst[n];
    const std::size_t metric = report.metric_at(i.metric);
    if (metric == kNone) continue;
    json.begin_object()
        .member("metric", report.metrics()[metric].metric.name)
        .member("waiting", i.waiting.seconds())
        .member("begin", i.begin.value)
        .member("end", i.end.value);
    json.key("object");
    if (object_name(i.operation).empty()) {
      json.null();
    } else {
      json.begin_object().member("kind", object_kind(i.operation)).member("id", i.operation.id);
      if (i.operation.process != kNoLocation) json.member("rank", i.operation.process);
      add_created(json, report, i.operation);
      json.end_object();
    }
    json.key("waits").begin_array();
    for (const Waiter& w : i.waiters) {
      json.begin_object()
          .member("thread", report.thread_at(w.location))
          .member("call_path", report.path_at(w.call_path))
          .member("enter", w.enter.value)
          .member("exit", w.exit.value)
          .member("waiting", w.waiting.seconds());
      if (w.ended_by.known()) {
        json.key("until").begin_object().member("time", w.ended_by.time.value);
        json.member("thread", report.thread_at(w.ended_by.location));
        json.member("call_path", report.path_at(w.ended_by.call_path)).end_object();
      }
      json.end_object();
    }
    json.end_array().member("further_waits", i.further);
    if (i.without_processor > 0) json.member("without_processor", i.without_processor);
    if (report.root_causes()) add_chain(json, report, report.root_causes()->asked[n]);
    add_partners(json, report, partners_of(i));
    json.end_object();
  }
  json.end_array();
}

// For whom each call path waited, over the whole run.
void add_waited_for(Json& json, const Report& report) {
  constexpr std::size_t kListed = 10;
  json.key("partners").begin_array();
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricIndex metric = report.metrics()[m].own.front();
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      const std::vector<Partner> partners = partners_of(report, metric, report.call_paths()[c]);
      if (partners.empty()) continue;
      json.begin_object().member("metric", report.metrics()[m].metric.name).member("call_path", c);
      add_partners(json, report, std::span(partners).first(std::min(partners.size(), kListed)));
      json.member("further", partners.size() - std::min(partners.size(), kListed)).end_object();
    }
  }
  json.end_array();
}

// Who created the tasks of OpenMP, and who executed them.
void add_tasks(Json& json, const Report& report) {
  if (report.tasks().empty()) return;
  json.key("tasks").begin_array();
  for (const CreatedTasks& tasks : report.tasks()) {
    json.begin_object()
        .member("call_path", report.path_at(tasks.call_path))
        .member("created_by", report.thread_at(tasks.creator));
    json.key("executed_by").begin_array();
    for (const CreatedTasks::Share& share : tasks.shares) {
      json.begin_object()
          .member("thread", report.thread_at(share.thread))
          .member("count", share.count)
          .member("seconds", share.sum.seconds())
          .end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

// A function and its line, in an object that stays open.
void add_function_at(Json& json, const Report& report, CallSiteId place) {
  const Definitions& definitions = report.definitions();
  const CallSiteDef& site = *definitions.call_sites.find(place);
  const std::string* file = definitions.files.find(site.file);
  json.begin_object().member("function", report.region_name(site.left));
  if (file != nullptr) json.member("file", *file);
  if (!is_absent(site.line)) json.member("line", raw(site.line));
}

void add_failed_calls(Json& json, const Report& report) {
  const std::vector<FailedCallGroup> groups = failed_call_groups(report);
  if (groups.empty()) return;
  json.key("failed_calls").begin_array();
  for (const FailedCallGroup& group : groups) {
    json.begin_object()
        .member("function", group.function)
        .member("place", group.place)
        .member("call_path", report.path_at(group.call_path))
        .member("class", error_name(group))
        .member("count", group.count)
        .member("first", group.first.value);
    json.key("ranks").begin_array();
    for (const std::uint32_t rank : group.ranks) json.value(rank);
    json.end_array().member("words", failed_call_words(group)).end_object();
  }
  json.end_array();
}

// Only of a run that was ended before its processes were.
void add_last_calls(Json& json, const Report& report) {
  const LastCalls& last = report.last_calls();
  if (last.empty()) return;
  const auto ranks = [&](const std::vector<std::uint32_t>& all) {
    json.begin_array();
    for (const std::uint32_t rank : all) json.value(rank);
    json.end_array();
  };
  static constexpr std::array<std::string_view, 6> kStates{"waits", "computes", "in call",
                                                           "ended", "polls",    "unknown"};
  json.key("last_calls").begin_array();
  for (const LastCall& call : last.calls) {
    json.begin_object()
        .member("thread", report.thread_at(call.location))
        .member("rank", call.process)
        .member("call_path", report.path_at(call.call_path))
        .member("in_mpi", call.function != nullptr || call.shmem != nullptr)
        .member("since", call.since.value)
        .member("until", call.until.value)
        .member("awaits", call.awaits)
        .member("state", kStates[static_cast<std::size_t>(call.state)])
        .member("one_is_enough", call.any);
    if (call.polls != 0) json.member("polls", call.polls);
    if (!call.polls_for.empty()) json.member("polls_for", call.polls_for);
    if (!is_absent(call.computes)) {
      json.key("computes");
      add_function_at(json, report, call.computes);
      json.end_object();
    }
    json.key("ranks");
    ranks(call.ranks);
    json.end_object();
  }
  json.end_array().key("deadlocks").begin_array();
  for (std::size_t i = 0; i < last.deadlocks.size(); ++i) {
    const Deadlock& deadlock = last.deadlocks[i];
    json.begin_object().member("certain", deadlock.certain).key("ranks");
    ranks(deadlock.ranks);
    json.key("behind");
    ranks(deadlock.behind);
    json.key("calls").begin_array();  // their places in last_calls
    for (std::size_t c = 0; c < last.calls.size(); ++c) {
      if (last.calls[c].deadlock == i) json.value(c);
    }
    json.end_array().member("words", deadlock_words(report, deadlock)).end_object();
  }
  json.end_array();
  if (const std::string words = verdict_words(report); !words.empty()) json.member("ended", words);
}

// The functions that the process computed more than the others did, if there are samples.
void add_sampled(Json& json, const Report& report, const RootCause& cause) {
  if (cause.sampled.empty()) return;
  json.key("sampled").begin_array();
  for (const SampledPlace& place : cause.sampled) {
    add_function_at(json, report, place.site);
    json.member("samples", place.samples).member("others", place.others).end_object();
  }
  json.end_array();
}

// What the counters say of the stretch, if the trace has any.
void add_counted(Json& json, const Report& report, const RootCause& cause) {
  if (cause.counted.empty()) return;
  std::vector<std::string> names;
  report.definitions().metrics.for_each(
      [&](MetricId, const MetricDef& def) { names.push_back(def.name); });
  json.key("counters").begin_array();
  for (const CountedThere& c : cause.counted) {
    json.begin_object().member("name", names[c.counter]).member("counted", c.own);
    if (c.compared) json.member("others", c.others);
    json.end_object();
  }
  json.end_array();
}

void add_root_causes(Json& json, const Report& report) {
  constexpr std::size_t kListed = 1000;
  if (!report.root_causes()) return;
  const RootCauses& found = *report.root_causes();
  json.key("root_causes").begin_object();
  json.member("waits", found.waits).member("unexplained", found.unexplained);
  json.key("causes").begin_array();
  const std::size_t listed = std::min(found.causes.size(), kListed);
  for (const RootCause& cause : std::span(found.causes).first(listed)) {
    json.begin_object()
        .member("thread", report.thread_at(cause.location))
        .member("seconds", cause.seconds)
        .member("longer", cause.longer)
        .member("compared", cause.compared);
    add_stretch(json, report, cause.stretch);
    add_spending(json, cause.spent);
    if (cause.gain) json.member("gain", *cause.gain);
    json.member("words", cause_words(report, cause));
    json.member("effect", effect_words(report, cause));
    json.member("chain_words", chain_words(report, cause.chain));
    add_chain(json, report, cause.chain);
    add_sampled(json, report, cause);
    add_counted(json, report, cause);
    json.key("objects").begin_array();
    for (const CostOfObject& o : cause.objects) {
      const Operation operation{.object = o.object, .id = o.id};
      json.begin_object().member("kind", object_kind(operation)).member("id", o.id);
      add_created(json, report, operation);
      json.member("seconds", o.seconds).end_object();
    }
    json.end_array();
    json.key("patterns").begin_array();
    for (const CostOfPattern& p : cause.patterns) {
      json.begin_object()
          .member("metric", all_metrics()[p.metric].name)
          .member("short_term", p.short_term)
          .member("long_term", p.long_term)
          .end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().member("further_causes", found.causes.size() - listed);
  json.member("path_length", found.path_length).key("critical_path").begin_array();
  for (const PathShare& share :
       std::span(found.critical_path).first(std::min(found.critical_path.size(), kListed))) {
    json.begin_object()
        .member("thread", report.thread_at(share.location))
        .member("seconds", share.seconds)
        .member("imbalance", share.imbalance);
    add_stretch(json, report, share.stretch);
    json.end_object();
  }
  json.end_array().end_object();
}

void add_send_modes(Json& json, const Report& report, const JsonInput& input) {
  json.key("send_cost").begin_object();
  for (const bool same : {true, false}) {
    const SendCost::Fit& fit = input.send_cost.fit(same);
    json.key(same ? "same_node" : "other_node")
        .begin_object()
        .member("latency", fit.latency)
        .member("seconds_per_byte", fit.per_byte)
        .member("messages", fit.messages)
        .end_object();
  }
  json.end_object().key("send_modes").begin_array();
  for (const SendModeFinding& f : input.send_modes) {
    json.begin_object()
        .member("kind", name_of(f.kind))
        .member("call_path", report.path_at(f.call_path))
        .member("count", f.count)
        .member("total", f.total)
        .member("advice", advice_of(f.kind));
    json.key("threads").begin_array();
    for (const LocationIndex location : f.locations) json.value(report.thread_at(location));
    json.end_array().key("worst").begin_object();
    json.member("thread", report.thread_at(f.worst.location))
        .member("enter", f.worst.enter.value)
        .member("exit", f.worst.exit.value)
        .member("waiting", f.worst.waiting.value);
    if (f.worst.distance > 0) json.member("distance", f.worst.distance);
    json.end_object().end_object();
  }
  json.end_array();
}

void add_processors(Json& json, const Report& report) {
  const ProcessorUse& use = report.processors();
  if (use.threads.empty() && use.sharing.empty() && use.limits.empty()) return;
  json.key("processors").begin_object().key("threads").begin_array();
  for (const ProcessorUse::Thread& t : use.threads) {
    json.begin_object()
        .member("thread", report.thread_at(t.location))
        .member("time", t.covered)
        .member("ran", t.ran)
        .member("without", t.wanted)
        .member("preempted", t.preempted)
        .end_object();
  }
  json.end_array().key("shared").begin_array();
  for (const ProcessorUse::Sharing& s : use.sharing) {
    json.begin_object()
        .member("node", s.node)
        .member("processes", s.processes)
        .member("processors", s.processors)
        .member("count", s.count)
        .end_object();
  }
  json.end_array().key("limits").begin_array();
  for (const ProcessorUse::Limit& l : use.limits) {
    json.begin_object()
        .member("node", l.node)
        .member("group", l.group)
        .member("processors", l.processors)
        .member("stops", l.stops)
        .member("stopped", l.stopped)
        .end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Status write_json(const Report& report, const JsonInput& input, const std::string& path) {
  Json json;
  json.begin_object().member("format", "kojak.expert").member("version", 3);
  json.member("trace", input.trace).member("events", input.events);
  json.key("run").begin_object();
  for (const auto& [name, value] : run_facts(report)) json.member(name, value);
  json.end_object();
  add_verdict(json, report);
  add_groups(json, report);
  add_what_if(json, report);
  add_root_causes(json, report);
  add_metrics(json, report);
  add_call_paths(json, report);
  add_threads(json, report);
  json.key("findings").begin_array();
  for (const Finding& finding : report.findings()) {
    json.begin_object()
        .member("severity", finding.severity == Finding::Severity::kSuspect ? "suspect" : "note")
        .member("count", finding.count)
        .member("what", finding.what)
        .member("advice", finding.advice)
        .end_object();
  }
  json.end_array();
  add_instances(json, report);
  add_waited_for(json, report);
  add_tasks(json, report);
  add_failed_calls(json, report);
  add_last_calls(json, report);
  if (const std::optional<Efficiency> e = efficiency_of(report)) {
    json.key("efficiency")
        .begin_object()
        .member("run_time", e->run_time)
        .member("parallel", e->parallel())
        .member("load_balance", e->load_balance)
        .member("communication", e->communication())
        .member("serialisation", e->serialisation)
        .member("transfer", e->transfer)
        .end_object();
  }
  add_processors(json, report);
  add_send_modes(json, report, input);
  json.end_object();

  return OutputFile::write_whole(path, json.text() + "\n");
}

}  // namespace kojak::expert
