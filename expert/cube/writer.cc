#include "expert/cube/writer.h"

#include <libxml/xmlerror.h>
#include <libxml/xmlwriter.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "epilog/format/text/xml_text.h"
#include "expert/cube/output.h"
#include "expert/profile/from_analysis.h"

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

// The elements of a tree that are open, each inside the one before.
class OpenNodes {
 public:
  explicit OpenNodes(Xml& out) : out_(out) {}
  // Before the next node of the tree.
  void close_to(std::size_t parent) {
    while (!nodes_.empty() && nodes_.back() != parent) close_last();
  }
  void opened(std::size_t node) { nodes_.push_back(node); }
  void close_all() {
    while (!nodes_.empty()) close_last();
  }

 private:
  void close_last() {
    out_.close();
    nodes_.pop_back();
  }
  Xml& out_;
  std::vector<std::size_t> nodes_;
};

void write_metrics(Xml& out, const cube::Report& report) {
  out.open("metrics");
  OpenNodes open(out);
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    const cube::Metric& metric = report.metrics[m];
    open.close_to(metric.parent);
    out.open("metric");
    out.attribute("id", m);
    out.text("disp_name", metric.title);
    out.text("uniq_name", metric.name);
    out.text("dtype", metric.type);
    out.text("uom", metric.unit);
    out.text("url", metric.url);
    out.text("descr", metric.description);
    open.opened(m);
  }
  open.close_all();
  out.close();
}

void write_program(Xml& out, const cube::Report& report) {
  out.open("program");
  for (std::size_t r = 0; r < report.regions.size(); ++r) {
    const cube::Region& region = report.regions[r];
    out.open("region");
    out.attribute("id", r);
    out.attribute("mod", region.module);
    out.attribute("begin", std::to_string(region.begin));
    out.attribute("end", std::to_string(region.end));
    out.text("name", region.name);
    out.text("url", region.url);
    out.text("descr", region.description);
    out.close();
  }
  OpenNodes open(out);
  for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
    const cube::CallNode& node = report.call_nodes[c];
    open.close_to(node.parent);
    out.open("cnode");
    out.attribute("id", c);
    out.attribute("calleeId", node.region);
    if (node.has_site) {
      out.attribute("line", std::to_string(node.line));
      out.attribute("mod", node.module);
    }
    open.opened(c);
  }
  open.close_all();
  out.close();
}

void write_topologies(Xml& out, const cube::Report& report) {
  out.open("topologies");
  for (const cube::Topology& topology : report.topologies) {
    out.open("cart");
    out.attribute("ndims", topology.dimensions.size());
    for (const cube::Topology::Dimension& dimension : topology.dimensions) {
      out.open("dim");
      out.attribute("size", std::to_string(dimension.size));
      out.attribute("periodic", std::string(dimension.periodic ? "true" : "false"));
      out.close_short();
    }
    for (const cube::Topology::Point& point : topology.points) {
      std::string text;
      for (const long c : point.coordinates) {
        if (!text.empty()) text += ' ';
        text += std::to_string(c);
      }
      out.open("coord");
      out.attribute("thrdId", report.system[point.system_node].location);
      out.raw(text);
      out.close();
    }
    out.close();
  }
  out.close();
}

void write_system(Xml& out, const cube::Report& report) {
  constexpr const char* kLevels[] = {"machine", "node", "process", "thread"};
  std::size_t numbers[4] = {};
  out.open("system");
  OpenNodes open(out);
  for (std::size_t n = 0; n < report.system.size(); ++n) {
    const cube::SystemNode& node = report.system[n];
    const auto level = static_cast<std::size_t>(node.kind);
    open.close_to(node.parent);
    out.open(kLevels[level]);
    out.attribute("Id", numbers[level]++);
    out.text("name", node.name);
    if (node.kind >= cube::SystemKind::kProcess) out.text("rank", std::to_string(node.rank));
    open.opened(n);
  }
  open.close_all();
  write_topologies(out, report);
  out.close();
}

void write_severities(Xml& out, const cube::Report& report, const Report& analysis) {
  out.open("severity");
  std::vector<double> values(report.locations());
  std::string lines;
  for (std::size_t m = 0; m < report.metrics.size() && !out.failed(); ++m) {
    out.open("matrix");
    out.attribute("metricId", m);
    for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
      if (!profile_row(analysis, m, c, values)) continue;
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

void write_document(Xml& out, const cube::Report& report, const Report& analysis) {
  out.open("cube");
  out.attribute("version", std::string("3.0"));
  for (const auto& [key, value] : report.attributes) {
    out.open("attr");
    out.attribute("key", key);
    out.attribute("value", value);
    out.close_short();
  }
  out.open("doc");
  out.open("mirrors");
  for (const std::string& mirror : report.mirrors) out.text("murl", mirror);
  out.close();
  out.close();
  write_metrics(out, report);
  write_program(out, report);
  write_system(out, report);
  write_severities(out, report, analysis);
  out.close();
  out.end();
}

// Whether two siblings are the same to CUBE, whose algebra would mix them up: the report is made so
// that none are (unite_twins.h). Looks at what is written, not at what made it so.
bool any_equal_siblings(const cube::Report& report) {
  using Identity = std::tuple<std::string_view, std::string_view, long, long>;
  std::map<Identity, std::size_t> identities;
  std::vector<std::size_t> same;  // of each region the first that is the same to CUBE
  for (const cube::Region& region : report.regions) {
    const Identity identity{region.name, region.module, region.begin, region.end};
    same.push_back(identities.try_emplace(identity, same.size()).first->second);
  }
  std::set<std::tuple<std::size_t, std::size_t, std::string_view, long>> seen;
  return std::any_of(
      report.call_nodes.begin(), report.call_nodes.end(), [&](const cube::CallNode& node) {
        const std::string_view file = node.line < 0 ? std::string_view() : node.module;
        return !seen.emplace(node.parent, same[node.region], file, node.line).second;
      });
}

}  // namespace

Status write_cube(const Report& report, const std::string& path, const CubeOptions& options) {
  cube::Report profile = profile_of(report);
  profile.mirrors = {options.doc_url};
  if (any_equal_siblings(profile)) {
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
    write_document(out, profile, report);
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
