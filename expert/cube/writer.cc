#include "expert/cube/writer.h"

#include <libxml/xmlerror.h>
#include <libxml/xmlwriter.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "epilog/format/text/xml_text.h"
#include "expert/cube/output.h"
#include "expert/profile/region_identity.h"
#include "expert/profile/run_facts.h"

namespace kojak::expert {
namespace {

int write_bytes(void* context, const char* data, int size) {
  auto& output = *static_cast<ReportOutput*>(context);
  return output.write(data, static_cast<std::size_t>(size)) ? size : -1;
}

int close_nothing(void*) {
  return 0;
}

const xmlChar* xml(const char* text) {
  return reinterpret_cast<const xmlChar*>(text);
}

// libxml2 would print what goes wrong; the status says it instead.
void ignore_error(void*, xmlErrorPtr) {}

class SilentXml {
 public:
  SilentXml() : function_(xmlStructuredError), context_(xmlStructuredErrorContext) {
    xmlSetStructuredErrorFunc(nullptr, ignore_error);
  }
  ~SilentXml() { xmlSetStructuredErrorFunc(context_, function_); }
  SilentXml(const SilentXml&) = delete;
  SilentXml& operator=(const SilentXml&) = delete;

 private:
  xmlStructuredErrorFunc function_;
  void* context_;
};

struct FreeWriter {
  void operator()(xmlTextWriter* writer) const { xmlFreeTextWriter(writer); }
};

// Element by element; remembers whether anything failed. Each element that holds others starts a
// line. Indentation ends at a depth that no program reaches by design, so that recursion a million
// calls deep costs no more than its calls.
class Xml {
 public:
  explicit Xml(xmlTextWriter* writer) : writer_(writer) {
    check(xmlTextWriterStartDocument(writer, nullptr, "UTF-8", nullptr));
  }
  void open(const char* name) {
    if (depth_ > 0) new_line();
    check(xmlTextWriterStartElement(writer_, xml(name)));
    ++depth_;
    holds_elements_ = false;
  }
  // With an end tag, also when it is empty: CUBE's readers demand that.
  void close() {
    --depth_;
    if (holds_elements_) new_line();
    check(xmlTextWriterFullEndElement(writer_));
    holds_elements_ = true;
  }
  // Only <attr/> and <dim/> end this way.
  void close_short() {
    --depth_;
    check(xmlTextWriterEndElement(writer_));
    holds_elements_ = true;
  }
  void attribute(const char* name, const std::string& value) {
    check(xmlTextWriterWriteAttribute(writer_, xml(name), xml(xml_text(value).c_str())));
  }
  void attribute(const char* name, std::uint64_t value) { attribute(name, std::to_string(value)); }
  void text(const char* name, std::string_view value) {
    open(name);
    check(xmlTextWriterWriteString(writer_, xml(xml_text(value).c_str())));
    close();
  }
  void raw(const std::string& value) {
    check(xmlTextWriterWriteRawLen(writer_, xml(value.c_str()), static_cast<int>(value.size())));
  }
  void end() { check(xmlTextWriterEndDocument(writer_)); }
  bool failed() const { return failed_; }

 private:
  void new_line() {
    static constexpr std::size_t kDeepest = 40;
    static const std::string kLine = "\n" + std::string(kDeepest, ' ');
    const std::size_t size = 1 + std::min(depth_, kDeepest);
    check(xmlTextWriterWriteRawLen(writer_, xml(kLine.c_str()), static_cast<int>(size)));
  }
  void check(int result) { failed_ = failed_ || result < 0; }
  xmlTextWriter* writer_;
  std::size_t depth_ = 0;        // open elements
  bool holds_elements_ = false;  // the innermost one
  bool failed_ = false;
};

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return "sec";
    case Unit::kOccurrences:
      return "occ";
    case Unit::kBytes:
      return "bytes";
  }
  return "";
}

std::string line_number(Line line) {
  return is_absent(line) ? "-1" : std::to_string(raw(line));
}

// Closes as many elements as needed to go from depth `from` (of an open element) to `to`.
void close_to(Xml& out, unsigned open, unsigned depth) {
  for (; open > depth; --open) out.close();
}

void write_metrics(Xml& out, const Report& report) {
  out.open("metrics");
  unsigned open = 0;
  std::size_t id = 0;
  for (const MetricNode& node : report.metrics()) {
    close_to(out, open, node.depth);
    const Metric& metric = node.metric;
    out.open("metric");
    out.attribute("id", id++);
    out.text("disp_name", metric.title);
    out.text("uniq_name", metric.name);
    out.text("dtype", metric.unit == Unit::kSeconds || metric.fractions ? "FLOAT" : "INTEGER");
    out.text("uom", unit_name(metric.unit));
    out.text("url", "@mirror@patterns.html#" + std::string(metric.name));
    std::string description(metric.summary);
    if (!node.remark.empty()) description += ' ' + node.remark;
    out.text("descr", description);
    open = node.depth + 1;
  }
  close_to(out, open, 0);
  out.close();
}

void write_nothing(Xml& out) {
  out.open("region");
  out.attribute("id", std::uint64_t{0});
  out.attribute("mod", std::string());
  out.attribute("begin", std::string("-1"));
  out.attribute("end", std::string("-1"));
  out.text("name", "(nothing was recorded)");
  out.text("url", "");
  out.text("descr", "the trace holds no call of any function");
  out.close();
  out.open("cnode");
  out.attribute("id", std::uint64_t{0});
  out.attribute("calleeId", std::uint64_t{0});
  out.close();
}

void write_program(Xml& out, const Report& report) {
  const Definitions& definitions = report.definitions();
  out.open("program");
  // Only the regions that were entered, in the order of their identifiers.
  std::map<RegionId, std::size_t> ids;
  for (const CallPathNode& node : report.call_paths()) ids.emplace(node.region, 0);
  std::size_t id = 0;
  for (auto& [region, number] : ids) {
    number = id++;
    const RegionDef* def = definitions.regions.find(region);
    const RegionIdentity identity = identity_of(definitions, region, report.region_name(region));
    out.open("region");
    out.attribute("id", number);
    out.attribute("mod", identity.module);
    out.attribute("begin", line_number(identity.begin));
    out.attribute("end", line_number(identity.end));
    out.text("name", identity.name);
    out.text("url", "");
    out.text("descr", def != nullptr              ? def->description
                      : report.is_stretch(region) ? "what its caller computes between two calls"
                                                  : "");
    out.close();
  }
  // A program has a function at least, or CUBE does not read it.
  if (report.call_paths().empty()) write_nothing(out);
  unsigned open = 0;
  id = 0;
  for (const CallPathNode& node : report.call_paths()) {
    close_to(out, open, node.depth);
    out.open("cnode");
    out.attribute("id", id++);
    out.attribute("calleeId", ids[node.region]);
    const CallSiteDef* site =
        is_absent(node.site) ? nullptr : definitions.call_sites.find(node.site);
    if (site != nullptr) {
      const std::string* file = definitions.files.find(site->file);
      out.attribute("line", line_number(site->line));
      out.attribute("mod", file != nullptr ? *file : "");
    }
    open = node.depth + 1;
  }
  close_to(out, open, 0);
  out.close();
}

// CUBE refuses a file with a place outside of its grid.
bool within(const std::vector<std::uint32_t>& coord, const std::vector<std::uint32_t>& size) {
  return std::equal(coord.begin(), coord.end(), size.begin(), size.end(), std::less<>());
}

void write_topologies(Xml& out, const Report& report) {
  out.open("topologies");
  report.definitions().topologies.for_each([&](TopologyId, const TopologyDef& topology) {
    std::vector<std::pair<std::size_t, const std::vector<std::uint32_t>*>> coords;
    for (const auto& [location, coord] : topology.coords) {
      const std::size_t thread = report.thread_of(location);
      if (thread != kNone && within(coord, topology.size)) coords.emplace_back(thread, &coord);
    }
    if (topology.size.empty() || coords.empty()) return;
    std::sort(coords.begin(), coords.end());
    out.open("cart");
    out.attribute("ndims", topology.size.size());
    for (std::size_t d = 0; d < topology.size.size(); ++d) {
      out.open("dim");
      out.attribute("size", topology.size[d]);
      out.attribute(
          "periodic",
          std::string(d < topology.periodic.size() && topology.periodic[d] ? "true" : "false"));
      out.close_short();
    }
    for (const auto& [thread, coord] : coords) {
      std::string text;
      for (const std::uint32_t c : *coord) {
        if (!text.empty()) text += ' ';
        text += std::to_string(c);
      }
      out.open("coord");
      out.attribute("thrdId", thread);
      out.raw(text);
      out.close();
    }
    out.close();
  });
  out.close();
}

// The same for a trace without locations: a system has a thread at least.
void write_no_thread(Xml& out) {
  constexpr const char* kLevels[] = {"machine", "node", "process", "thread"};
  for (const std::string level : kLevels) {
    out.open(level.c_str());
    out.attribute("Id", std::uint64_t{0});
    out.text("name", "(nothing was recorded)");
    if (level == "process" || level == "thread") out.text("rank", "0");
  }
  for (std::size_t i = 0; i < std::size(kLevels); ++i) out.close();
}

void write_system(Xml& out, const Report& report) {
  out.open("system");
  if (report.machines().empty()) write_no_thread(out);
  std::size_t machine_id = 0, node_id = 0, process_id = 0, thread_id = 0;
  for (const MachineNode& machine : report.machines()) {
    out.open("machine");
    out.attribute("Id", machine_id++);
    out.text("name", machine.name);
    for (const HostNode& node : machine.nodes) {
      out.open("node");
      out.attribute("Id", node_id++);
      out.text("name", node.name);
      for (const ProcessNode& process : node.processes) {
        out.open("process");
        out.attribute("Id", process_id++);
        out.text("name", process.name);
        out.text("rank", std::to_string(process.rank));
        for (const ThreadNode& thread : process.threads) {
          out.open("thread");
          out.attribute("Id", thread_id++);
          out.text("name", thread.name);
          out.text("rank", std::to_string(thread.number));
          out.close();
        }
        out.close();
      }
      out.close();
    }
    out.close();
  }
  write_topologies(out, report);
  out.close();
}

void write_severities(Xml& out, const Report& report) {
  out.open("severity");
  std::vector<double> values(report.threads());
  std::string lines;
  for (std::size_t m = 0; m < report.metrics().size() && !out.failed(); ++m) {
    out.open("matrix");
    out.attribute("metricId", m);
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(m, c, values)) continue;
      out.open("row");
      out.attribute("cnodeId", c);
      lines = "\n";
      for (const double value : values) {
        append_number(lines, value);
        lines += '\n';
      }
      out.raw(lines);
      out.close();
    }
    out.close();
  }
  out.close();
}

void write_document(Xml& out, const Report& report, const CubeOptions& options) {
  out.open("cube");
  out.attribute("version", std::string("3.0"));
  out.open("attr");
  out.attribute("key", std::string("CUBE_CT_AGGR"));
  out.attribute("value", std::string("SUM"));
  out.close_short();
  for (const auto& [name, value] : run_facts(report)) {
    out.open("attr");
    out.attribute("key", kFactAttribute + name);
    out.attribute("value", value);
    out.close_short();
  }
  out.open("doc");
  out.open("mirrors");
  out.text("murl", options.doc_url);
  out.close();
  out.close();
  write_metrics(out, report);
  write_program(out, report);
  write_system(out, report);
  write_severities(out, report);
  out.close();
  out.end();
}

// Whether two siblings are the same to CUBE, whose algebra would mix them up: the report is made so
// that none are (unite_twins.h). Looks at what is written, not at what made it so.
bool any_equal_siblings(const Report& report) {
  const Definitions& definitions = report.definitions();
  std::map<RegionId, std::size_t> regions;
  std::map<RegionIdentity, std::size_t> identities;
  std::set<std::tuple<std::size_t, std::size_t, std::string, Line>> seen;
  for (const CallPathNode& node : report.call_paths()) {
    const auto [region, fresh] = regions.try_emplace(node.region, identities.size());
    if (fresh) {
      const RegionIdentity identity =
          identity_of(definitions, node.region, report.region_name(node.region));
      region->second = identities.try_emplace(identity, region->second).first->second;
    }
    const CallSiteDef* site =
        is_absent(node.site) ? nullptr : definitions.call_sites.find(node.site);
    const std::string* file =
        site == nullptr || is_absent(site->line) ? nullptr : definitions.files.find(site->file);
    const bool first =
        seen.emplace(node.parent, region->second, file != nullptr ? *file : std::string(),
                     site != nullptr ? site->line : absent<Line>())
            .second;
    if (!first) return true;
  }
  return false;
}

}  // namespace

Status write_cube(const Report& report, const std::string& path, const CubeOptions& options) {
  if (any_equal_siblings(report)) {
    return Error{.code = ExitCode::kOutputFailed,
                 .file = path,
                 .offset = {},
                 .record = {},
                 .field = {},
                 .reason = "two entries of the call tree are the same to CUBE",
                 .remedy = "this is a fault of kojak: please report it"};
  }
  auto output = ReportOutput::create(path);
  if (!output) return output.error();
  const auto no_memory = [&] {
    return Error{.code = ExitCode::kOutputFailed,
                 .file = path,
                 .offset = {},
                 .record = {},
                 .field = {},
                 .reason = "the XML writer ran out of memory",
                 .remedy = "free memory and run it again"};
  };
  {
    const SilentXml silent;
    xmlOutputBuffer* buffer =
        xmlOutputBufferCreateIO(write_bytes, close_nothing, &*output, nullptr);
    if (buffer == nullptr) return no_memory();
    std::unique_ptr<xmlTextWriter, FreeWriter> writer(xmlNewTextWriter(buffer));  // takes buffer
    if (writer == nullptr) {
      xmlOutputBufferClose(buffer);
      return no_memory();
    }
    Xml out(writer.get());
    write_document(out, report, options);
    writer.reset();  // flushes
    if (!output->status()) {
      Error error = output->status().error();
      if (path != "-") error.file = path;  // devices, too, by their names
      return error;
    }
    if (out.failed()) return no_memory();
  }
  return output->commit();
}

}  // namespace kojak::expert
