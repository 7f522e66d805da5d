#include "expert/cube/reader.h"

#include <libxml/xmlreader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "epilog/format/text/printable.h"
#include "expert/cube/input.h"

namespace kojak::cube {
namespace {

using IdMap = std::unordered_map<long, std::size_t>;

int read_input(void* context, char* out, int size) {
  return static_cast<XmlInput*>(context)->read(out, size);
}
int close_input(void*) {
  return 0;
}

std::string_view view(const xmlChar* text) {
  return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<long> to_long(std::string_view text) {
  text = trimmed(text);
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Parser {
 public:
  explicit Parser(const std::string& path) : input_(path) {
    report_.file = path == "-" ? "standard input" : path;
  }
  Result<Report> run();

 private:
  void start(std::string_view name);
  void end(std::string_view name);
  void start_metric();
  void start_region();
  void start_call_node();
  void start_system_node(SystemKind kind);
  void start_topology(std::string_view name);
  void start_severity(std::string_view name);
  void end_row();
  void finish_system();
  bool start_text(std::string_view name);

  std::string attribute(const char* name) const;
  long number(const char* name, bool needed, long otherwise = -1);
  std::size_t lookup(const IdMap& ids, long id, const char* what);
  void remember(IdMap& ids, long id, std::size_t index, const char* what);
  void fail(std::string reason);
  void warn_once(bool& said, std::string text);
  Error broken() const;

  XmlInput input_;
  xmlTextReaderPtr reader_ = nullptr;
  Report report_;
  std::optional<Error> error_;
  std::string xml_error_;
  std::string section_;  // the child of <cube> that we are in
  bool in_cube_ = false, in_topologies_ = false, system_done_ = false;
  std::size_t metric_ = kNone, call_node_ = kNone, system_node_ = kNone, region_ = kNone;
  std::size_t matrix_ = kNone, row_ = kNone;
  IdMap metrics_, regions_, call_nodes_;
  IdMap system_ids_[4];
  std::string text_;
  bool keep_text_ = false;
  bool said_not_finite_ = false;
};

void Parser::fail(std::string reason) {
  if (error_) return;
  error_ = broken();
  // It may quote the file.
  error_->reason = "line " + std::to_string(xmlTextReaderGetParserLineNumber(reader_)) + ": " +
                   printable_name(reason, 300);
}

Error Parser::broken() const {
  Error error;
  error.file = report_.file;
  const long offset = xmlTextReaderByteConsumed(reader_);
  if (offset >= 0) error.offset = static_cast<std::uint64_t>(offset);
  error.remedy = "the report is damaged or not one of CUBE 3: make it again with `expert`";
  return error;
}

void Parser::warn_once(bool& said, std::string text) {
  if (!said) report_.warnings.push_back(std::move(text));
  said = true;
}

std::string Parser::attribute(const char* name) const {
  xmlChar* value = xmlTextReaderGetAttribute(reader_, reinterpret_cast<const xmlChar*>(name));
  std::string text(view(value));
  xmlFree(value);
  return text;
}

long Parser::number(const char* name, bool needed, long otherwise) {
  const std::string text = attribute(name);
  if (text.empty() && !needed) return otherwise;
  const std::optional<long> value = to_long(text);
  if (!value) fail(std::string("attribute ") + name + " is \"" + text + "\", not a number");
  return value.value_or(otherwise);
}

std::size_t Parser::lookup(const IdMap& ids, long id, const char* what) {
  const auto found = ids.find(id);
  if (found != ids.end()) return found->second;
  fail(std::string("no ") + what + " has the id " + std::to_string(id));
  return kNone;
}

void Parser::remember(IdMap& ids, long id, std::size_t index, const char* what) {
  if (!ids.emplace(id, index).second) {
    fail(std::string("two of kind ") + what + " have the id " + std::to_string(id));
  }
}

void Parser::start_metric() {
  remember(metrics_, number("id", true), report_.metrics.size(), "metric");
  Metric metric;
  metric.parent = metric_;
  metric_ = report_.metrics.size();
  report_.metrics.push_back(std::move(metric));
}

void Parser::start_region() {
  remember(regions_, number("id", true), report_.regions.size(), "region");
  Region region;
  region.module = attribute("mod");
  region.begin = number("begin", false);
  region.end = number("end", false);
  region_ = report_.regions.size();
  report_.regions.push_back(std::move(region));
}

void Parser::start_call_node() {
  remember(call_nodes_, number("id", true), report_.call_nodes.size(), "cnode");
  CallNode node;
  node.parent = call_node_;
  node.region = lookup(regions_, number("calleeId", true), "region");
  node.line = number("line", false);
  node.module = attribute("mod");
  call_node_ = report_.call_nodes.size();
  report_.call_nodes.push_back(std::move(node));
}

void Parser::start_system_node(SystemKind kind) {
  const char* const kNames[] = {"machine", "node", "process", "thread"};
  const auto level = static_cast<std::size_t>(kind);
  const long id = attribute("Id").empty() ? number("id", true) : number("Id", true);
  remember(system_ids_[level], id, report_.system.size(), kNames[level]);
  const bool fits = system_node_ == kNone
                        ? kind == SystemKind::kMachine
                        : static_cast<std::size_t>(report_.system[system_node_].kind) + 1 == level;
  if (!fits) fail(std::string("<") + kNames[level] + "> stands in the wrong place");
  SystemNode node;
  node.parent = system_node_;
  node.kind = kind;
  system_node_ = report_.system.size();
  report_.system.push_back(std::move(node));
}

void Parser::start_topology(std::string_view name) {
  if (name == "cart") {
    Topology topology;
    topology.name = attribute("name");
    report_.topologies.push_back(std::move(topology));
  } else if (report_.topologies.empty()) {
    fail("<" + std::string(name) + "> stands outside of <cart>");
  } else if (name == "dim") {
    report_.topologies.back().dimensions.push_back(
        {attribute("name"), number("size", true), attribute("periodic") == "true"});
  } else if (name == "coord") {
    const char* const kReferences[] = {"machId", "nodeId", "procId", "thrdId"};
    for (std::size_t level = 0; level < 4; ++level) {
      if (attribute(kReferences[level]).empty()) continue;
      const std::size_t node =
          lookup(system_ids_[level], number(kReferences[level], true), "system node");
      report_.topologies.back().points.push_back({node, {}});
      text_.clear();
      keep_text_ = true;
      return;
    }
    fail("<coord> names no thread");
  }
}

void Parser::finish_system() {
  // Columns are in the order of the thread ids, whatever the order in the document.
  std::vector<std::pair<long, std::size_t>> threads(system_ids_[3].begin(), system_ids_[3].end());
  std::sort(threads.begin(), threads.end());
  for (const auto& [id, node] : threads) {
    report_.system[node].location = report_.threads.size();
    report_.threads.push_back(node);
  }
  report_.severities.set_locations(threads.size());
  system_done_ = true;
}

void Parser::start_severity(std::string_view name) {
  if (!system_done_) finish_system();
  if (name == "matrix") {
    matrix_ = lookup(metrics_, number("metricId", true), "metric");
  } else if (name == "row") {
    if (matrix_ == kNone) return fail("<row> stands outside of <matrix>");
    row_ = lookup(call_nodes_, number("cnodeId", true), "cnode");
    text_.clear();
    keep_text_ = true;
  }
}

void Parser::end_row() {
  if (row_ == kNone || matrix_ == kNone || error_) return;
  if (!report_.severities.row(matrix_, row_).empty()) return fail("a row is there twice");
  const std::span<double> row = report_.severities.add_row(matrix_, row_);
  const char* at = text_.data();
  const char* const stop = at + text_.size();
  std::size_t count = 0;
  while (true) {
    while (at != stop && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
    if (at == stop) break;
    double value = 0;
    const auto [next, error] = std::from_chars(at, stop, value);
    if (error == std::errc::invalid_argument || count == row.size()) {
      return fail(count == row.size() ? "a row has more values than there are threads"
                                      : "a row holds something that is no number");
    }
    // What is too small to be told from 0 is 0; what is too large is no severity.
    const std::string digits(at, error == std::errc::result_out_of_range ? next : at);
    if (!digits.empty() && std::abs(std::strtod(digits.c_str(), nullptr)) > 1) {
      return fail("a row holds " + digits + ", which is too large for a number");
    }
    if (!std::isfinite(value)) {
      warn_once(said_not_finite_, "values that are no finite numbers were read as 0");
      value = 0;
    }
    row[count++] = value;
    at = next;
  }
  if (count != row.size()) {
    fail("a row has " + std::to_string(count) + " values for " + std::to_string(row.size()) +
         " threads");
  }
}

bool Parser::start_text(std::string_view name) {
  static constexpr std::string_view kNames[] = {"disp_name", "uniq_name", "dtype", "uom",  "url",
                                                "descr",     "name",      "rank",  "murl", "class"};
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return false;
  text_.clear();
  keep_text_ = true;
  return true;
}

void Parser::start(std::string_view name) {
  const int depth = xmlTextReaderDepth(reader_);
  if (depth == 0) {
    if (name != "cube") return fail("the root element is <" + std::string(name) + ">, not <cube>");
    in_cube_ = true;
    report_.version = attribute("version");
    if (!report_.version.empty() && report_.version.front() > '3') {
      fail("is of CUBE version " + report_.version + ", and 3.0 is what can be read");
    }
    return;
  }
  if (depth == 1) section_ = name;
  if (start_text(name)) return;
  if (name == "attr") {
    report_.attributes.emplace_back(attribute("key"), attribute("value"));
  } else if (section_ == "metrics" && name == "metric") {
    start_metric();
  } else if (section_ == "program" && name == "region") {
    start_region();
  } else if (section_ == "program" && name == "cnode") {
    start_call_node();
  } else if (section_ == "severity") {
    start_severity(name);
  } else if (section_ == "system") {
    if (name == "topologies")
      in_topologies_ = true;
    else if (in_topologies_)
      start_topology(name);
    else if (name == "machine")
      start_system_node(SystemKind::kMachine);
    else if (name == "node")
      start_system_node(SystemKind::kNode);
    else if (name == "process")
      start_system_node(SystemKind::kProcess);
    else if (name == "thread")
      start_system_node(SystemKind::kThread);
  }
}

void Parser::end(std::string_view name) {
  const bool had_text = std::exchange(keep_text_, false);
  if (section_ == "metrics") {
    if (name == "metric" && metric_ != kNone) metric_ = report_.metrics[metric_].parent;
    if (!had_text || metric_ == kNone) return;
    Metric& metric = report_.metrics[metric_];
    if (name == "disp_name") metric.title = text_;
    if (name == "uniq_name") metric.name = text_;
    if (name == "dtype") metric.type = trimmed(text_);
    if (name == "uom") metric.unit = trimmed(text_);
    if (name == "url") metric.url = text_;
    if (name == "descr") metric.description = text_;
  } else if (section_ == "program") {
    if (name == "region") region_ = kNone;
    if (name == "cnode" && call_node_ != kNone) call_node_ = report_.call_nodes[call_node_].parent;
    if (!had_text || region_ == kNone) return;
    Region& region = report_.regions[region_];
    if (name == "name") region.name = text_;
    if (name == "url") region.url = text_;
    if (name == "descr") region.description = text_;
  } else if (section_ == "system") {
    if (name == "topologies") in_topologies_ = false;
    if (name == "coord" && had_text) {
      std::string_view rest = trimmed(text_);
      std::vector<long>& coordinates = report_.topologies.back().points.back().coordinates;
      while (!rest.empty()) {
        const std::size_t size = std::min(rest.find_first_of(" \t\n\r"), rest.size());
        const std::optional<long> value = to_long(rest.substr(0, size));
        if (!value) return fail("a coordinate is no number");
        coordinates.push_back(*value);
        rest = trimmed(rest.substr(size));
      }
    }
    if (in_topologies_ || system_node_ == kNone) return;
    SystemNode& node = report_.system[system_node_];
    if (name == "name" && had_text) node.name = text_;
    if (name == "rank" && had_text) node.rank = to_long(text_).value_or(-1);
    if (name == "machine" || name == "node" || name == "process" || name == "thread") {
      system_node_ = node.parent;
    }
  } else if (section_ == "severity") {
    if (name == "row") {
      end_row();
      row_ = kNone;
    }
    if (name == "matrix") matrix_ = kNone;
  } else if (name == "murl" && had_text) {
    report_.mirrors.push_back(text_);
  }
}

Result<Report> Parser::run() {
  if (!input_.ok()) return input_.error();
  // No entities and no network; HUGE because call trees may be deeper than 256 calls.
  reader_ = xmlReaderForIO(read_input, close_input, &input_, nullptr, nullptr,
                           XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_COMPACT);
  const std::unique_ptr<xmlTextReader, void (*)(xmlTextReaderPtr)> owner(reader_,
                                                                         xmlFreeTextReader);
  if (reader_ == nullptr) {
    Error error;
    error.file = report_.file;
    error.reason = "no XML reader could be made: out of memory";
    return error;
  }
  xmlTextReaderSetStructuredErrorHandler(
      reader_,
      [](void* self, xmlErrorPtr error) {
        std::string& text = static_cast<Parser*>(self)->xml_error_;
        if (text.empty() && error->message != nullptr) text = trimmed(error->message);
      },
      this);
  int status = 1;
  while (!error_ && (status = xmlTextReaderRead(reader_)) == 1) {
    switch (xmlTextReaderNodeType(reader_)) {
      case XML_READER_TYPE_ELEMENT: {
        const bool empty = xmlTextReaderIsEmptyElement(reader_) == 1;
        const std::string name(view(xmlTextReaderConstLocalName(reader_)));
        start(name);
        if (empty && !error_) end(name);
        break;
      }
      case XML_READER_TYPE_END_ELEMENT:
        end(view(xmlTextReaderConstLocalName(reader_)));
        break;
      case XML_READER_TYPE_TEXT:
      case XML_READER_TYPE_CDATA:
      case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        if (keep_text_) text_ += view(xmlTextReaderConstValue(reader_));
        break;
      default:
        break;
    }
  }
  if (!input_.ok()) return input_.error();
  if (status < 0 && in_cube_ && input_.cut()) {
    fail("ends in the middle: the file is not complete");
  } else if (status < 0 || !in_cube_) {
    fail(xml_error_.empty() ? "is no XML" : "is not well-formed XML: " + xml_error_);
  }
  if (!error_ && report_.metrics.empty()) fail("holds no metrics");
  if (error_) return *error_;
  if (!system_done_) finish_system();
  if (input_.repaired() > 0) {
    report_.warnings.push_back(std::to_string(input_.repaired()) +
                               " bytes were no valid text and are shown as U+FFFD");
  }
  return std::move(report_);
}

}  // namespace

Result<Report> read_report(const std::string& path) {
  return Parser(path).run();
}

}  // namespace kojak::cube
