#include "tests/support/cube_grammar.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kojak::support {
namespace {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Grammar {
 public:
  explicit Grammar(std::string_view text) : text_(text) {}

  void report() {
    token("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    token("<cube version=\"3.0\">");
    while (is("<attr")) {
      start("attr");
      string_attribute("key");
      string_attribute("value");
      token("/>");
    }
    if (is("<doc>")) documents();
    metrics();
    program();
    system();
    severity();
    token("</cube>");
    blanks();
    if (at_ != text_.size()) fail("nothing may follow");
  }

  std::size_t line() const {
    return 1 + static_cast<std::size_t>(std::count(
                   text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Wrong(what + ", here: " + std::string(text_.substr(at_, 40)));
  }

  // The carriage return is no blank for CUBE.
  void blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool is(std::string_view token) {
    blanks();
    return text_.substr(at_).starts_with(token);
  }
  void token(std::string_view expected) {
    if (!is(expected)) fail("expected " + std::string(expected));
    at_ += expected.size();
  }
  // "<name" and no longer name.
  void start(std::string_view name) {
    token("<" + std::string(name));
    if (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != '>')
      fail("expected an attribute or the end of <" + std::string(name));
  }

  // `&` only as the start of a character that is written so.
  void check_text(std::string_view text) const {
    for (std::size_t at = text.find('&'); at != std::string_view::npos;
         at = text.find('&', at + 1)) {
      static constexpr std::array<std::string_view, 5> kNames{"&lt;", "&gt;", "&amp;", "&quot;",
                                                              "&apos;"};
      const std::string_view rest = text.substr(at);
      const bool known = std::any_of(kNames.begin(), kNames.end(),
                                     [&](auto name) { return rest.starts_with(name); });
      if (!known && !rest.starts_with("&#")) fail("an & that starts nothing");
    }
  }

  std::string_view attribute(std::string_view name) {
    token(name);
    if (!text_.substr(at_).starts_with("=\"")) fail("expected =\"");
    at_ += 2;
    const std::size_t end = text_.find('"', at_);
    if (end == std::string_view::npos) fail("an attribute without end");
    const std::string_view value = text_.substr(at_, end - at_);
    if (value.find('<') != std::string_view::npos) fail("a < in an attribute");
    check_text(value);
    at_ = end + 1;
    return value;
  }
  void string_attribute(std::string_view name) { attribute(name); }
  long number(std::string_view text) const {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail("\"" + std::string(text) + "\" is no whole number");
    return value;
  }
  long number_attribute(std::string_view name) { return number(attribute(name)); }
  void id_attribute(std::string_view name, std::size_t& next) {
    const long id = number_attribute(name);
    if (id < 0 || static_cast<std::size_t>(id) != next)
      fail("the " + std::string(name) + " is not the next one, " + std::to_string(next));
    ++next;
  }
  std::size_t reference(std::string_view name, std::size_t defined) {
    const long id = number_attribute(name);
    if (id < 0 || static_cast<std::size_t>(id) >= defined) fail(std::string(name) + " of nothing");
    return static_cast<std::size_t>(id);
  }

  std::string_view text_until(std::string_view end) {
    const std::size_t stop = std::min(text_.find('<', at_), text_.size());
    const std::string_view text = text_.substr(at_, stop - at_);
    check_text(text);
    at_ = stop;
    if (!text_.substr(at_).starts_with(end)) fail("expected text and " + std::string(end));
    at_ += end.size();
    return text;
  }
  std::string_view text_element(std::string_view name) {
    token("<" + std::string(name) + ">");
    return text_until("</" + std::string(name) + ">");
  }
  // The words of a text, which must be separated by CUBE's blanks.
  static std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(" \t\n", at)) != std::string_view::npos) {
      const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
      found.push_back(text.substr(at, end - at));
      at = end;
    }
    return found;
  }

  void documents() {
    token("<doc>");
    if (is("<mirrors>")) {
      token("<mirrors>");
      while (is("<murl>")) text_element("murl");
      token("</mirrors>");
    }
    token("</doc>");
  }

  void metrics() {
    token("<metrics>");
    std::set<std::string_view> names;
    std::size_t open = 0;
    do {
      if (open > 0 && is("</metric>")) {
        token("</metric>");
        --open;
        continue;
      }
      start("metric");
      id_attribute("id", metrics_);
      token(">");
      text_element("disp_name");
      if (!names.insert(text_element("uniq_name")).second) fail("a unique name is there twice");
      const std::string_view type = text_element("dtype");
      if (type != "FLOAT" && type != "INTEGER") fail("dtype is FLOAT or INTEGER");
      const std::string_view unit = text_element("uom");
      static constexpr std::array<std::string_view, 5> kUnits{"sec", "occ", "bytes", "rate", ""};
      if (std::find(kUnits.begin(), kUnits.end(), unit) == kUnits.end()) fail("a unit of its own");
      if (is("<val>")) text_element("val");
      text_element("url");
      text_element("descr");
      ++open;
    } while (open > 0 || !is("</metrics>"));
    token("</metrics>");
  }

  struct Region {
    std::string_view name, module;
    long begin = 0, end = 0;
    auto operator<=>(const Region&) const = default;
  };
  // CUBE's algebra finds a call path in another report by regions and lines of calls: siblings that
  // agree in both are one to it. A function of known place has one entry below a caller, but for
  // several known lines.
  class Siblings {
   public:
    void add(const Grammar& grammar, const Region& region, long line, std::string_view file) {
      if (!calls_.emplace(region, line, file).second) grammar.fail("a sibling is the same");
      std::array<bool, 2>& lines = lines_[region];
      lines[line == -1] = true;
      if (region.begin != -1 && lines[0] && lines[1])
        grammar.fail("a function with and without the line of its call");
    }

   private:
    std::set<std::tuple<Region, long, std::string_view>> calls_;
    std::map<Region, std::array<bool, 2>> lines_;  // with and without
  };

  void program() {
    token("<program>");
    std::size_t regions = 0;
    std::vector<Region> known;
    do {
      start("region");
      id_attribute("id", regions);
      Region region;
      region.module = attribute("mod");
      region.begin = number_attribute("begin");
      region.end = number_attribute("end");
      token(">");
      region.name = text_element("name");
      known.push_back(region);
      text_element("url");
      text_element("descr");
      token("</region>");
    } while (is("<region"));
    std::vector<Siblings> open(1);  // those of each open element so far
    do {
      if (open.size() > 1 && is("</cnode>")) {
        token("</cnode>");
        open.pop_back();
        continue;
      }
      start("cnode");
      id_attribute("id", call_nodes_);
      const Region& region = known[reference("calleeId", regions)];
      long line = -1;
      std::string_view file;
      if (is("line=")) {
        line = number_attribute("line");
        file = attribute("mod");
      }
      token(">");
      open.back().add(*this, region, line, line == -1 ? std::string_view() : file);
      open.emplace_back();
    } while (open.size() > 1 || !is("</program>"));
    token("</program>");
  }

  void rank() {
    const std::vector<std::string_view> ranks = words(text_element("rank"));
    if (ranks.size() != 1 || number(ranks[0]) < 0) fail("a rank is a number, not below 0");
  }

  void system() {
    token("<system>");
    std::size_t machines = 0, nodes = 0, processes = 0;
    do {
      start("machine");
      id_attribute("Id", machines);
      token(">");
      text_element("name");
      if (is("<descr>")) text_element("descr");
      do {
        start("node");
        id_attribute("Id", nodes);
        token(">");
        text_element("name");
        do {
          start("process");
          id_attribute("Id", processes);
          token(">");
          text_element("name");
          rank();
          do {
            start("thread");
            id_attribute("Id", threads_);
            token(">");
            text_element("name");
            rank();
            token("</thread>");
          } while (is("<thread"));
          token("</process>");
        } while (is("<process"));
        token("</node>");
      } while (is("<node"));
      token("</machine>");
    } while (is("<machine"));
    if (is("<topologies")) {
      token("<topologies>");
      while (is("<cart")) grid();
      token("</topologies>");
    }
    token("</system>");
  }

  void grid() {
    start("cart");
    if (is("name=")) string_attribute("name");
    const long dimensions = number_attribute("ndims");
    token(">");
    std::vector<long> sizes;
    do {
      start("dim");
      if (is("name=")) string_attribute("name");
      sizes.push_back(number_attribute("size"));
      if (sizes.back() <= 0) fail("a dimension without size");
      const std::string_view periodic = attribute("periodic");
      if (periodic != "true" && periodic != "false") fail("periodic is true or false");
      token("/>");
    } while (is("<dim"));
    if (std::cmp_not_equal(sizes.size(), dimensions)) fail("ndims is not how many there are");
    do {
      start("coord");
      reference("thrdId", threads_);
      token(">");
      const std::vector<std::string_view> place = words(text_until("</coord>"));
      if (place.size() != sizes.size()) fail("a place with another number of dimensions");
      for (std::size_t d = 0; d < place.size(); ++d) {
        const long at = number(place[d]);
        if (at < 0 || at >= sizes[d]) fail("a place outside of its grid");
      }
    } while (is("<coord"));
    token("</cart>");
  }

  void severity() {
    token("<severity>");
    std::set<std::size_t> seen;
    while (is("<matrix")) {
      start("matrix");
      if (!seen.insert(reference("metricId", metrics_)).second) fail("a second matrix");
      token(">");
      std::optional<std::size_t> last;
      while (is("<row")) {
        start("row");
        const std::size_t call_node = reference("cnodeId", call_nodes_);
        if (last && *last >= call_node) fail("rows are not in their order");
        last = call_node;
        token(">");
        row(text_until("</row>"));
      }
      token("</matrix>");
    }
    token("</severity>");
  }

  void row(std::string_view text) {
    std::size_t count = 0;
    for (const std::string_view word : words(text)) {
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
        fail("\"" + std::string(word) + "\" is no finite number");
      ++count;
    }
    if (count != threads_) fail("a row that is not one number for each thread");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t metrics_ = 0, call_nodes_ = 0, threads_ = 0;
};

// Plain files are read by zlib as they are.
std::optional<std::string> read_all(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::vector<char> buffer(1 << 20);
  int count = 0;
  while ((count = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  const bool complete = gzclose(file) == Z_OK && count == 0;
  return complete ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace

std::string check_cube_grammar(const std::string& path) {
  const std::optional<std::string> text = read_all(path);
  if (!text) return path + ": cannot be read";
  Grammar grammar(*text);
  try {
    grammar.report();
  } catch (const Wrong& wrong) {
    return path + ":" + std::to_string(grammar.line()) + ": " + wrong.what();
  }
  return {};
}

}  // namespace kojak::support
