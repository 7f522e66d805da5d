#include "expert/page/page.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "epilog/format/io/writer.h"
#include "epilog/format/text/printable.h"
#include "expert/findings/waits.h"
#include "expert/output/json.h"
#include "expert/page/assets.h"
#include "expert/page/blob.h"
#include "expert/page/bottlenecks.h"
#include "expert/page/names.h"
#include "expert/page/run_name.h"
#include "expert/page/severities.h"
#include "expert/page/source_lines.h"
#include "expert/page/verdict/verdict_json.h"
#include "expert/profile/process_word.h"

namespace kojak::html {
namespace {

using cube::Report;

// A parent's position, or -1: what JSON can hold of kNone.
long position(std::size_t index) {
  return index == cube::kNone ? -1 : static_cast<long>(index);
}

// Reports of two runs often have the same name in different folders.
std::string names_of_both(const std::string& before, const std::string& after) {
  const int parts = file_name(before) == file_name(after) ? 2 : 1;
  return file_name(before, parts) + " \u2192 " + file_name(after, parts);
}

void add_metrics(Json& json, const Report& report, std::span<const expert::Metric> catalogue) {
  json.key("metrics").begin_array();
  for (const cube::Metric& metric : report.metrics) {
    json.begin_object();
    json.member("parent", position(metric.parent));
    json.member("title", metric.title.empty() ? metric.name : metric.title);
    json.member("name", metric.name).member("unit", metric.unit);
    const expert::Metric* entry = explanation(metric, catalogue);
    if (!metric.description.empty()) json.member("description", metric.description);
    if (entry != nullptr) {
      json.member("meaning", entry->meaning).member("advice", entry->advice);
      json.member("pattern", entry->kind == expert::Metric::Kind::kPattern);
      if (metric.description.empty()) json.member("description", entry->summary);
    }
    json.end_object();
  }
  json.end_array();
}

// Names of files repeat: each is written once and referred to by number.
class Strings {
 public:
  std::size_t number(const std::string& text) {
    const auto [entry, added] = numbers_.try_emplace(text, strings_.size());
    if (added) strings_.push_back(text);
    return entry->second;
  }
  const std::vector<std::string>& all() const { return strings_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> strings_;
};

template <class Nodes, class Get>
void add_column(Json& json, std::string_view name, const Nodes& nodes, Get get) {
  json.key(name).begin_array();
  for (const auto& node : nodes) json.value(get(node));
  json.end_array();
}

// Without a trace it holds nothing.
const TracePart& part_of(const PageOptions& options) {
  static const TracePart kNone;
  return options.trace != nullptr ? *options.trace : kNone;
}

// False if not all source around the calls has room. `excerpts`: of the groups of root causes.
bool add_program(Json& json, const Report& report, const PageOptions& options,
                 std::vector<GroupSource>& excerpts) {
  const TracePart& part = part_of(options);
  Strings files;
  // Classic reports define every MPI function; only those that are called are shown.
  std::vector<long> numbers(report.regions.size(), -1);
  std::vector<std::size_t> used;
  for (const cube::CallNode& node : report.call_nodes) {
    if (numbers[node.region] >= 0) continue;
    numbers[node.region] = static_cast<long>(used.size());
    used.push_back(node.region);
  }
  const auto region = [&](std::size_t r) -> const cube::Region& { return report.regions[r]; };
  json.key("regions").begin_object();
  const std::size_t longest = longest_name(report);
  add_column(json, "name", used,
             [&](std::size_t r) { return fitting_name(region(r).name, longest); });
  add_column(json, "file", used, [&](std::size_t r) { return files.number(region(r).module); });
  add_column(json, "begin", used, [&](std::size_t r) { return region(r).begin; });
  json.end_object();
  json.key("calls").begin_object();
  const auto& calls = report.call_nodes;
  add_column(json, "parent", calls, [](const auto& node) { return position(node.parent); });
  add_column(json, "region", calls, [&](const auto& node) { return numbers[node.region]; });
  add_column(json, "line", calls, [](const auto& node) { return node.line; });
  add_column(json, "file", calls, [&](const auto& node) { return files.number(node.module); });
  json.end_object();
  if (!part.callers.empty()) {
    add_column(json, "callers", part.callers, [](const auto& text) { return text; });
  }
  std::vector<SourcePlace> places;
  for (const cube::CallNode& node : calls) {
    if (node.line < 1 || node.module.empty()) continue;
    places.push_back(
        {files.number(node.module), static_cast<long>(node.line), region(node.region).name});
  }
  for (const GroupCard& card : part.verdict.groups) {
    const ExcerptLines& lines = card.lines;
    const long line = lines.hot.empty() ? lines.before : lines.hot.front().first;
    if (line >= 1) places.push_back({files.number(lines.file), line, {}});
  }
  add_column(json, "files", files.all(), [](const std::string& text) { return text; });
  bool complete = true;
  if (options.source) {
    SourceSearch search = *options.source;
    search.folders.insert(search.folders.begin(), part.compiled_in.begin(), part.compiled_in.end());
    excerpts = read_excerpts(part.verdict, files.all(), places, search,
                             [&](const std::string& file) { return files.number(file); });
    add_source(json, read_source(files.all(), std::move(places), search, complete));
  }
  return complete;
}

void add_system(Json& json, const Report& report) {
  json.key("system").begin_object();
  const auto& nodes = report.system;
  add_column(json, "parent", nodes, [](const auto& node) { return position(node.parent); });
  add_column(json, "kind", nodes, [](const auto& node) { return static_cast<int>(node.kind); });
  add_column(json, "name", nodes, [](const auto& node) { return node.name; });
  add_column(json, "rank", nodes, [](const auto& node) { return node.rank; });
  add_column(json, "location", nodes, [](const auto& node) { return position(node.location); });
  json.end_object();
  json.key("topologies").begin_array();
  for (const cube::Topology& topology : report.topologies) {
    json.begin_object().member("name", topology.name);
    add_column(json, "sizes", topology.dimensions, [](const auto& d) { return d.size; });
    add_column(json, "periodic", topology.dimensions, [](const auto& d) { return d.periodic; });
    add_column(json, "names", topology.dimensions, [](const auto& d) { return d.name; });
    json.key("points").begin_array();
    for (const auto& point : topology.points) {
      json.begin_array().value(point.system_node);
      for (const long coordinate : point.coordinates) json.value(coordinate);
      json.end_array();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void add_overview(Json& json, const Report& report, const Overview& overview) {
  json.key("overview").begin_object().member("seconds", overview.seconds);
  json.member("whole", overview.time.whole).member("wholeWords", overview.time.words());
  json.key("shares").begin_array();
  for (const TimeShare& share : overview.shares) {
    json.begin_object().member("kind", share.kind).member("seconds", share.seconds).end_object();
  }
  json.end_array();
  json.key("consumers").begin_array();
  for (const Consumer& consumer : overview.consumers) {
    json.begin_object().member("metric", consumer.metric).member("call", consumer.call_node);
    json.member("seconds", consumer.seconds).member("part", consumer.part).end_object();
  }
  json.end_array();
  json.member("below", overview.below_threshold);
  json.member("belowSeconds", overview.seconds_below_threshold);
  json.key("bottlenecks").begin_array();
  for (const Bottleneck& found : overview.bottlenecks) {
    json.begin_object().member("metric", found.metric).member("call", found.call_node);
    json.member("seconds", found.seconds).member("share", found.share);
    json.member("waiting", found.waiting_locations);
    if (found.waited_for != cube::kNone) {
      json.member("waitedFor", report.location_name(found.waited_for));
    }
    json.key("worst").begin_array();
    for (const auto& [location, seconds] : found.worst_locations) {
      json.begin_array().value(report.location_name(location)).value(seconds).end_array();
    }
    json.end_array();
    add_column(json, "profile", found.profile, [](double value) { return value; });
    json.key("parts").begin_array();
    for (const auto& [metric, seconds] : found.parts) {
      json.begin_array().value(metric).value(seconds).end_array();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

void add_partners(Json& json, const std::vector<WaitedFor>& partners) {
  if (partners.empty()) return;
  json.key("partners").begin_array();
  for (const WaitedFor& partner : partners) {
    json.begin_object().member("metric", partner.metric).member("call", partner.call_node);
    json.member("row", partner.row).member("by", partner.call);
    if (partner.at_exit) json.member("exit", true);
    json.member("seconds", partner.seconds).end_object();
  }
  json.end_array();
}

void add_instances(Json& json, const std::vector<Instance>& instances) {
  json.key("instances").begin_array();
  for (const Instance& instance : instances) {
    json.begin_object().member("metric", instance.metric).member("seconds", instance.seconds);
    json.member("begin", instance.begin).member("end", instance.end);
    json.member("call", position(instance.call_node));
    if (instance.cause_row != cube::kNone) {
      json.member("cause", instance.cause_row).member("causeCall", instance.cause_call);
      if (instance.cause_at_exit) json.member("causeExit", true);
      if (instance.further_causes > 0) json.member("furtherCauses", instance.further_causes);
    }
    if (!instance.object.empty()) json.member("object", instance.object);
    if (instance.beside) json.member("beside", true);
    add_column(json, "rows", instance.rows, [](std::size_t i) { return i; });
    if (instance.further_rows > 0) json.member("further", instance.further_rows);
    add_chain(json, instance.chain);
    json.end_object();
  }
  json.end_array();
}

// Of thousands of processes that each stand elsewhere the page lists those that wait longest.
void add_last_calls(Json& json, const TracePart& part) {
  constexpr std::size_t kMost = 100;
  if (part.last_calls.empty()) return;
  json.key("lastCalls").begin_array();
  for (std::size_t i = 0; i < std::min(part.last_calls.size(), kMost); ++i) {
    const LastCall& last = part.last_calls[i];
    json.begin_object().member("who", last.who).member("does", last.does);
    json.member("name", last.call).member("times", last.times).member("awaits", last.awaits);
    json.member("call", position(last.call_node)).end_object();
  }
  json.end_array().member("furtherLastCalls",
                          part.last_calls.size() - std::min(part.last_calls.size(), kMost));
  json.key("deadlocks").begin_array();
  for (std::size_t i = 0; i < std::min(part.deadlocks.size(), kMost); ++i) {
    json.value(part.deadlocks[i]);
  }
  json.end_array();
}

void add_failed_calls(Json& json, const TracePart& part) {
  constexpr std::size_t kMost = 100, kMostMarks = 256;
  if (part.failed_calls.empty()) return;
  const std::size_t shown = std::min(part.failed_calls.size(), kMost);
  json.key("failedCalls").begin_array();
  for (std::size_t i = 0; i < shown; ++i) {
    const FailedCallLine& line = part.failed_calls[i];
    json.begin_object().member("words", line.words).member("call", position(line.call_node));
    const std::size_t marks = std::min(line.firsts.size(), kMostMarks);
    json.key("rows").begin_array();
    for (std::size_t m = 0; m < marks; ++m) json.value(line.firsts[m].first);
    json.end_array().key("times").begin_array();
    for (std::size_t m = 0; m < marks; ++m) json.value(line.firsts[m].second);
    json.end_array().end_object();
  }
  json.end_array().member("furtherFailedCalls", part.failed_calls.size() - shown);
}

void add_packed(Json& json, std::string_view name, const PackedSeverities& packed) {
  json.key(name).begin_object().member("precision", packed.precision);
  json.member("rows", packed.rows).member("leftOut", packed.rows_left_out);
  json.key("columns").raw(packed.directory).end_object();
}

// An element that no script runs and no markup is found in; its content has no '<'.
std::string data_element(std::string_view id, std::string_view type, std::string_view content) {
  return "<script type=\"" + std::string(type) + "\" id=\"" + std::string(id) + "\">" +
         std::string(content) + "</script>\n";
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable_name(text, 200)) {
    if (std::string_view("&<>\"'").find(c) != std::string_view::npos) {
      out += "&#" + std::to_string(static_cast<int>(c)) + ";";
    } else {
      out += c;
    }
  }
  return out;
}

std::string head(const std::string& title) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  out +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "script-src 'sha256-" +
      std::string(kScriptDigest) + "'; style-src 'sha256-" + std::string(kStyleDigest) +
      "'; base-uri 'none'; form-action 'none'\">\n";
  out += "<title>" + escaped(title) + "</title>\n<style>" + std::string(kStyle) + "</style>\n";
  out +=
      "</head>\n<body>\n<noscript>This report needs JavaScript: everything it shows is in this "
      "file, nothing is loaded.</noscript>\n<div id=\"app\"></div>\n";
  return out;
}

Status write_file(const std::string& path, const std::vector<std::string>& parts) {
  auto file = OutputFile::create(path);
  if (!file) return file.error();
  for (const std::string& part : parts) {
    if (Status status = file->write(part.data(), part.size()); !status) return status;
  }
  return file->commit();
}

std::string unexplained_note(const Report& report, const Consumer& found, double whole) {
  char numbers[3][32];
  std::snprintf(numbers[0], sizeof numbers[0], "%.1f %%", 100 * found.seconds / whole);
  std::snprintf(numbers[1], sizeof numbers[1], "%.3f", found.seconds);
  std::snprintf(numbers[2], sizeof numbers[2], "%.0f %%", 100 * found.part);
  return report.metrics[found.metric].title + ": " +
         expert::unexplained_words(numbers[0], numbers[1], numbers[2]) +
         report.call_path(found.call_node) + ".";
}

// The common form of both pages. `difference` is null for a report.
Status write(const Report& report, const cube::Difference* difference, const PageOptions& options,
             const std::string& path) {
  const Report* before = difference == nullptr ? nullptr : &difference->before;
  const TracePart& part = part_of(options);
  const std::string title = !options.title.empty() ? options.title
                            : before == nullptr    ? program_or_file(report)
                                                   : names_of_both(before->file, report.file);
  Json json;
  json.begin_object().member("title", title).member("tool", "kojak " + options.version);
  json.member("file", report.file).member("cubeVersion", report.version);
  json.member("byLocation", difference == nullptr || difference->by_location);
  json.member("locations", report.locations()).member("processWord", cube::process_word(report));
  std::optional<Overview> overview;
  if (before == nullptr) {
    overview = find_bottlenecks(report, options.catalogue);
    json.member("ran", run_words(report, part.verdict.run_seconds));
  }
  std::vector<GroupSource> excerpts;
  const bool all_source = add_program(json, report, options, excerpts);
  json.key("notes").begin_array();
  for (const std::string& note : options.notes) json.value(note);
  if (!all_source)
    json.value("Lines of source are shown for some calls only, to keep this file small.");
  if (overview && overview->unexplained) {
    json.value(unexplained_note(report, *overview->unexplained, overview->time.whole));
  }
  for (const std::string& warning : report.warnings) json.value(warning);
  if (const std::size_t longest = longest_name(report); longest != kAnyLength) {
    json.value("To keep this file small, names of functions are shortened to " +
               std::to_string(longest) + " characters.");
  }
  json.end_array();
  json.key("run").begin_array();
  for (const auto& [key, value] : report.attributes) {
    constexpr std::string_view kRun = "run.";
    if (key.starts_with(kRun))
      json.begin_array().value(key.substr(kRun.size())).value(value).end_array();
  }
  json.end_array();
  add_metrics(json, report, options.catalogue);
  add_system(json, report);
  if (before == nullptr) {
    add_overview(json, report, *overview);
    add_last_calls(json, part);
    add_failed_calls(json, part);
    add_verdict(json, part, excerpts);
    add_instances(json, part.instances);
    add_partners(json, part.partners);
  } else {
    json.member("beforeFile", before->file);
    json.key("locationsOfBoth").begin_array().value(difference->locations_before);
    json.value(difference->locations_after).end_array();
  }
  const PackedSeverities sums = pack_sums(report);
  const PackedSeverities sums_before = before != nullptr ? pack_sums(*before) : PackedSeverities{};
  // Base64 makes four bytes of three; what is left of the budget goes to the locations' values.
  const std::size_t trace_size = part.packed.data.size() / 3 * 4 + part.packed.json.size();
  const std::size_t fixed = json.text().size() + kScript.size() + kStyle.size() + trace_size +
                            (sums.data.size() + sums_before.data.size()) / 3 * 4 + 4096;
  const std::size_t left = options.max_bytes > fixed ? (options.max_bytes - fixed) / 4 * 3 : 0;
  const PackedSeverities rows = pack_severities(report, before, left);
  add_packed(json, "sums", sums);
  if (before != nullptr) add_packed(json, "sumsBefore", sums_before);
  add_packed(json, "values", rows);
  if (options.trace != nullptr) json.key("trace").raw(part.packed.json);
  json.end_object();

  const bool named = !options.title.empty() || before != nullptr;
  std::vector<std::string> parts{head(named ? title : title + ": " + processes_of(report))};
  parts.push_back(data_element("kojak-report", "application/json", json.text()));
  parts.push_back(data_element("kojak-sums", "text/plain", base64(sums.data)));
  if (before != nullptr) {
    parts.push_back(data_element("kojak-sumsBefore", "text/plain", base64(sums_before.data)));
  }
  // The script comes before the large elements, so that the first screen need not wait for them.
  parts.push_back("<script>" + std::string(kScript) + "</script>\n");
  parts.push_back(data_element("kojak-values", "text/plain", base64(rows.data)));
  if (options.trace != nullptr) {
    parts.push_back(data_element("kojak-trace", "text/plain", base64(part.packed.data)));
  }
  parts.emplace_back("</body>\n</html>\n");
  return write_file(path, parts);
}

}  // namespace

Status write_page(const Report& report, const PageOptions& options, const std::string& path) {
  return write(report, nullptr, options, path);
}

Status write_difference_page(const cube::Difference& difference, const PageOptions& options,
                             const std::string& path) {
  return write(difference.after, &difference, options, path);
}

}  // namespace kojak::html
