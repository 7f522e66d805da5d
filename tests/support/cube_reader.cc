#include "tests/support/cube_reader.h"

#include <libxml/xmlreader.h>

#include <charconv>
#include <memory>

#include "tests/support/cube_grammar.h"

namespace kojak::support {
namespace {

class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {}

  Cube read() {
    const std::unique_ptr<xmlTextReader, void (*)(xmlTextReaderPtr)> reader(
        xmlReaderForFile(path_.c_str(), nullptr,
                         XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING),
        xmlFreeTextReader);
    if (reader == nullptr) throw CubeError(path_ + ": cannot be opened");
    reader_ = reader.get();
    int more = xmlTextReaderRead(reader_);
    for (; more == 1; more = xmlTextReaderRead(reader_)) node();
    if (more != 0) fail("is not well-formed XML");
    if (!closed_) fail("holds no <cube version=\"3.0\">");
    return std::move(cube_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw CubeError(path_ + ":" + std::to_string(xmlTextReaderGetParserLineNumber(reader_)) + ": " +
                    what);
  }

  std::string attribute(const char* name) const {
    xmlChar* value = xmlTextReaderGetAttribute(reader_, reinterpret_cast<const xmlChar*>(name));
    if (value == nullptr) return {};
    std::string text(reinterpret_cast<const char*>(value));
    xmlFree(value);
    return text;
  }

  int to_int(const std::string& text, const char* what) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail(std::string(what) + " is no number: '" + text + "'");
    return value;
  }

  // An attribute that numbers things in document order.
  void expect_id(const char* name, std::size_t next) const {
    const int id = to_int(attribute(name), name);
    if (id < 0 || static_cast<std::size_t>(id) != next)
      fail(std::string(name) + " " + std::to_string(id) + " where " + std::to_string(next) +
           " follows");
  }

  template <typename Items>
  int reference(const char* name, const Items& items) const {
    const int id = to_int(attribute(name), name);
    if (id < 0 || static_cast<std::size_t>(id) >= items.size())
      fail(std::string(name) + " " + std::to_string(id) + " is not defined");
    return id;
  }

  void node() {
    switch (xmlTextReaderNodeType(reader_)) {
      case XML_READER_TYPE_ELEMENT: {
        const std::string name(reinterpret_cast<const char*>(xmlTextReaderConstName(reader_)));
        const bool empty = xmlTextReaderIsEmptyElement(reader_) == 1;
        open_.push_back(name);
        text_.clear();
        begin(name);
        if (empty) end(name);
        break;
      }
      case XML_READER_TYPE_TEXT:
      case XML_READER_TYPE_CDATA:
        text_ += reinterpret_cast<const char*>(xmlTextReaderConstValue(reader_));
        break;
      case XML_READER_TYPE_END_ELEMENT:
        end(reinterpret_cast<const char*>(xmlTextReaderConstName(reader_)));
        break;
      default:
        break;
    }
  }

  void begin(const std::string& name) {
    if (name == "cube") {
      if (open_.size() != 1 || attribute("version") != "3.0") fail("is no CUBE 3.0 report");
    } else if (name == "attr") {
      cube_.attributes[attribute("key")] = attribute("value");
    } else if (name == "metric") {
      expect_id("id", cube_.metrics.size());
      CubeMetric metric;
      metric.parent = metrics_.empty() ? -1 : metrics_.back();
      metrics_.push_back(static_cast<int>(cube_.metrics.size()));
      cube_.metrics.push_back(metric);
    } else if (name == "region") {
      expect_id("id", cube_.regions.size());
      cube_.regions.push_back({"", attribute("mod"), "", "", to_int(attribute("begin"), "begin"),
                               to_int(attribute("end"), "end")});
    } else if (name == "cnode") {
      begin_cnode();
    } else if (name == "machine") {
      expect_id("Id", machines_++);
    } else if (name == "node") {
      expect_id("Id", nodes_++);
    } else if (name == "process") {
      expect_id("Id", processes_++);
      process_rank_ = -1;
    } else if (name == "thread") {
      expect_id("Id", cube_.threads.size());
      if (process_rank_ < 0) fail("a thread of a process without rank");
      cube_.threads.push_back(
          {names_["machine"], names_["node"], names_["process"], "", process_rank_, -1});
    } else if (name == "matrix") {
      matrix_ = reference("metricId", cube_.metrics);
      cube_.matrices.push_back(matrix_);
      if (!cube_.rows.try_emplace(matrix_).second) fail("a second matrix of one metric");
    } else if (name == "row") {
      row_ = reference("cnodeId", cube_.cnodes);
    }
  }

  void begin_cnode() {
    expect_id("id", cube_.cnodes.size());
    CubeCnode cnode;
    cnode.parent = cnodes_.empty() ? -1 : cnodes_.back();
    cnode.region = reference("calleeId", cube_.regions);
    cnode.mod = attribute("mod");
    if (const std::string line = attribute("line"); !line.empty())
      cnode.line = to_int(line, "line");
    if (cnode.parent >= 0)
      cnode.path = cube_.cnodes[static_cast<std::size_t>(cnode.parent)].path + "/";
    cnode.path += cube_.regions[static_cast<std::size_t>(cnode.region)].name;
    cnodes_.push_back(static_cast<int>(cube_.cnodes.size()));
    cube_.cnodes.push_back(cnode);
  }

  void end(const std::string& name) {
    open_.pop_back();
    const std::string parent = open_.empty() ? "" : open_.back();
    if (name == "cube") {
      closed_ = true;
    } else if (name == "metric") {
      metrics_.pop_back();
    } else if (name == "cnode") {
      cnodes_.pop_back();
    } else if (name == "murl") {
      cube_.mirrors.push_back(text_);
    } else if (name == "row") {
      end_row();
    } else if (parent == "metric") {
      end_of_metric(name);
    } else if (parent == "region") {
      CubeRegion& region = cube_.regions.back();
      if (name == "name") region.name = text_;
      if (name == "url") region.url = text_;
      if (name == "descr") region.descr = text_;
    } else if (parent == "machine" || parent == "node" || parent == "process" ||
               parent == "thread") {
      if (name == "name") names_[parent] = text_;
      if (name == "name" && parent == "thread") cube_.threads.back().name = text_;
      if (name == "rank" && parent == "process") process_rank_ = to_int(text_, "rank");
      if (name == "rank" && parent == "thread") cube_.threads.back().rank = to_int(text_, "rank");
    }
    text_.clear();
  }

  void end_of_metric(const std::string& name) {
    CubeMetric& metric = cube_.metrics[static_cast<std::size_t>(metrics_.back())];
    if (name == "uniq_name") metric.uniq_name = text_;
    if (name == "disp_name") metric.disp_name = text_;
    if (name == "dtype") metric.dtype = text_;
    if (name == "uom") metric.uom = text_;
    if (name == "url") metric.url = text_;
    if (name == "descr") metric.descr = text_;
  }

  void end_row() {
    std::vector<double> values;
    const char* at = text_.data();
    const char* const stop = at + text_.size();
    constexpr std::string_view kBlank = " \t\r\n";
    while (true) {
      while (at != stop && kBlank.find(*at) != std::string_view::npos) ++at;
      if (at == stop) break;
      double value = 0;
      const auto [next, error] = std::from_chars(at, stop, value);
      if (error != std::errc()) fail("a severity is no number");
      values.push_back(value);
      at = next;
    }
    if (values.size() != cube_.threads.size())
      fail("a row of " + std::to_string(values.size()) + " values for " +
           std::to_string(cube_.threads.size()) + " threads");
    if (!cube_.rows[matrix_].emplace(row_, std::move(values)).second)
      fail("a second row of one call path");
  }

  std::string path_;
  xmlTextReaderPtr reader_ = nullptr;
  Cube cube_;
  std::vector<std::string> open_;
  std::string text_;
  std::vector<int> metrics_, cnodes_;  // enclosing ones
  std::map<std::string, std::string> names_;
  std::size_t machines_ = 0, nodes_ = 0, processes_ = 0;
  int process_rank_ = -1;
  int matrix_ = -1, row_ = -1;
  bool closed_ = false;
};

}  // namespace

int Cube::find_metric(const std::string& uniq_name) const {
  for (std::size_t m = 0; m < metrics.size(); ++m)
    if (metrics[m].uniq_name == uniq_name) return static_cast<int>(m);
  return -1;
}

const std::string& Cube::region_of(int cnode) const {
  return regions.at(static_cast<std::size_t>(cnodes.at(static_cast<std::size_t>(cnode)).region))
      .name;
}

double Cube::severity(int metric, int cnode, int thread) const {
  const auto matrix = rows.find(metric);
  if (matrix == rows.end()) return 0;
  const auto row = matrix->second.find(cnode);
  return row == matrix->second.end() ? 0 : row->second.at(static_cast<std::size_t>(thread));
}

namespace {

template <typename Wanted>
double sum_if(const Cube& cube, const std::string& metric, int process_rank, Wanted wanted) {
  const int m = cube.find_metric(metric);
  if (m < 0) throw CubeError("the report has no metric " + metric);
  double sum = 0;
  const auto matrix = cube.rows.find(m);
  if (matrix == cube.rows.end()) return 0;
  for (const auto& [cnode, values] : matrix->second) {
    if (!wanted(cnode)) continue;
    for (std::size_t t = 0; t < values.size(); ++t)
      if (cube.threads[t].process_rank == process_rank) sum += values[t];
  }
  return sum;
}

}  // namespace

double Cube::sum(const std::string& metric, const std::string& region, int process_rank) const {
  return sum_if(*this, metric, process_rank,
                [&](int cnode) { return region == "*" || region_of(cnode) == region; });
}

double Cube::at_site(const std::string& metric, const std::string& region,
                     const std::string& caller, int line, int process_rank) const {
  return sum_if(*this, metric, process_rank, [&](int cnode) {
    const CubeCnode& c = cnodes[static_cast<std::size_t>(cnode)];
    return c.line == line && region_of(cnode) == region && c.parent >= 0 &&
           region_of(c.parent) == caller;
  });
}

double Cube::at_path(const std::string& metric, const std::string& path, int process_rank) const {
  return sum_if(*this, metric, process_rank,
                [&](int cnode) { return cnodes[static_cast<std::size_t>(cnode)].path == path; });
}

Cube read_cube(const std::string& path) {
  Cube cube = Parser(path).read();
  if (const std::string wrong = check_cube_grammar(path); !wrong.empty()) throw CubeError(wrong);
  return cube;
}

}  // namespace kojak::support
