#include "expert/json_report.h"

#include "epilog/format/writer.h"
#include "expert/html/json.h"
#include "expert/store_places.h"

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

void add_instances(Json& json, const Report& report, const StorePlaces& places,
                   const std::vector<PatternInstance>& instances) {
  json.key("instances").begin_array();
  for (const PatternInstance& i : instances) {
    const std::size_t metric = places.metric(i.metric);
    if (metric == kNone) continue;
    json.begin_object()
        .member("metric", report.metrics()[metric].metric.name)
        .member("call_path", places.call_path(i.call_path))
        .member("thread", places.thread(i.location))
        .member("enter", i.enter.value)
        .member("exit", i.exit.value)
        .member("waiting", i.waiting.value)
        .end_object();
  }
  json.end_array();
}

void add_send_modes(Json& json, const StorePlaces& places, const JsonInput& input) {
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
        .member("call_path", places.call_path(f.call_path))
        .member("count", f.count)
        .member("total", f.total)
        .member("advice", advice_of(f.kind));
    json.key("threads").begin_array();
    for (const LocationIndex location : f.locations) json.value(places.thread(location));
    json.end_array().key("worst").begin_object();
    json.member("thread", places.thread(f.worst.location))
        .member("enter", f.worst.enter.value)
        .member("exit", f.worst.exit.value)
        .member("waiting", f.worst.waiting.value);
    if (f.worst.distance > 0) json.member("distance", f.worst.distance);
    json.end_object().end_object();
  }
  json.end_array();
}

}  // namespace

Status write_json(const Report& report, const JsonInput& input, const std::string& path) {
  const StorePlaces places(report);
  Json json;
  json.begin_object().member("format", "kojak.expert").member("version", 1);
  json.member("trace", input.trace).member("events", input.events);
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
  add_instances(json, report, places, input.instances);
  add_send_modes(json, places, input);
  json.end_object();

  auto file = OutputFile::create(path);
  if (!file) return file.error();
  const std::string text = json.text() + "\n";
  if (const Status written = file->write(text.data(), text.size()); !written) return written;
  return file->commit();
}

}  // namespace kojak::expert
