// elg2paje: a merged trace in Paje's format, for ViTE and the tools of pajeng.
#include <charconv>
#include <map>

#include "epilog/format/text/printable.h"
#include "expert/metrics/region_kind.h"
#include "tools/export/names.h"
#include "tools/export/sorted_lines.h"
#include "tools/export/tool.h"

namespace kojak::exporting {
namespace {

using expert::RegionKind;

constexpr cli::ToolInfo kTool = {
    "elg2paje", "[options] TRACE",
    "Converts a merged trace into Paje's format, for ViTE and pajeng: calls as states, messages\n"
    "and one-sided transfers as arrows.",
    "elg2paje -o a.paje a.elg", nullptr};

// Numbers of the event definitions below.
constexpr const char* kHeader =
    "%EventDef PajeDefineContainerType 0\n%  Alias string\n%  Type string\n%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineStateType 1\n%  Alias string\n%  Type string\n%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineLinkType 2\n%  Alias string\n%  Type string\n%  StartContainerType "
    "string\n"
    "%  EndContainerType string\n%  Name string\n%EndEventDef\n"
    "%EventDef PajeDefineEntityValue 3\n%  Alias string\n%  Type string\n%  Name string\n"
    "%  Color color\n%EndEventDef\n"
    "%EventDef PajeCreateContainer 4\n%  Time date\n%  Alias string\n%  Type string\n"
    "%  Container string\n%  Name string\n%EndEventDef\n"
    "%EventDef PajeDestroyContainer 5\n%  Time date\n%  Type string\n%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajePushState 6\n%  Time date\n%  Type string\n%  Container string\n"
    "%  Value string\n%EndEventDef\n"
    "%EventDef PajePopState 7\n%  Time date\n%  Type string\n%  Container string\n%EndEventDef\n"
    "%EventDef PajeStartLink 8\n%  Time date\n%  Type string\n%  Container string\n"
    "%  StartContainer string\n%  Value string\n%  Key string\n%EndEventDef\n"
    "%EventDef PajeEndLink 9\n%  Time date\n%  Type string\n%  Container string\n"
    "%  EndContainer string\n%  Value string\n%  Key string\n%EndEventDef\n";

constexpr const char* kLines[] = {"message", "put", "get", "request", "dependency"};
constexpr const char* kLineColours[] = {"0.2 0.2 0.2", "0.9 0.4 0.0", "0.6 0.0 0.7", "0.6 0.6 0.6",
                                        "0.0 0.5 0.2"};

const char* colour_of(const RegionDef& region) {
  switch (expert::kind_of(region)) {
    case RegionKind::kProgram:
      return "0.6 0.8 0.6";
    case RegionKind::kMeasurement:
      return "0.4 0.4 0.4";
    case RegionKind::kPointToPoint:
      return "0.9 0.2 0.2";
    case RegionKind::kCollective:
    case RegionKind::kBarrier:
      return "0.9 0.8 0.2";
    case RegionKind::kTransfer:
      return "0.9 0.5 0.1";
    case RegionKind::kWindow:
    case RegionKind::kFence:
    case RegionKind::kActiveTarget:
    case RegionKind::kPassiveTarget:
      return "0.3 0.4 0.9";
    case RegionKind::kIo:
      return "0.2 0.7 0.8";
    case RegionKind::kInitExit:
    case RegionKind::kManagement:
      return "0.8 0.8 0.8";
  }
  return "0.8 0.8 0.8";
}

// Quoted; a quote in a name becomes an apostrophe, since the format has no escapes.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) out += c == '"' ? '\'' : c;
  return out + '"';
}

// Nanoseconds as seconds.
void add_time(std::string& out, std::uint64_t ns) {
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%llu.%09llu",
                                 static_cast<unsigned long long>(ns / 1'000'000'000),
                                 static_cast<unsigned long long>(ns % 1'000'000'000));
  out.append(text, static_cast<std::size_t>(size));
}
void add(std::string& out, const char* before, std::uint64_t number) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  out += before;
  out.append(text, end);
}

class Paje : public Shown {
 public:
  explicit Paje(const earl::Trace& trace) : trace_(trace), depth_(trace.location_count()) {}

  void enter(std::uint32_t location, std::uint64_t time, RegionId region, CallSiteId) override {
    begin("6 ", time);
    add(line_, " S L", location);
    add(line_, " R", trace_.known_region(region) ? raw(region) : raw(trace_.unknown_region()));
    lines_.add(time, line_);
    ++depth_[location];
  }
  void leave(std::uint32_t location, std::uint64_t time) override {
    if (depth_[location] == 0) return;
    --depth_[location];
    begin("7 ", time);
    add(line_, " S L", location);
    lines_.add(time, line_);
  }
  void line(const Line& line) override {
    const std::uint64_t key = links_++;
    const auto kind = static_cast<std::size_t>(line.kind);
    begin("8 ", line.begin);
    add(line_, " K 0 L", line.from);
    add(line_, " V", kind);
    add(line_, " ", key);
    lines_.add(line.begin, line_);
    begin("9 ", line.end);
    add(line_, " K 0 L", line.to);
    add(line_, " V", kind);
    add(line_, " ", key);
    lines_.add(line.end, line_);
  }

  Status write(OutputFile& out, std::uint64_t end) {
    const std::string head = header();
    if (Status status = out.write(head.data(), head.size()); !status) return status;
    if (Status status = lines_.write(out); !status) return status;
    std::string tail;
    for (std::uint32_t i = 0; i < trace_.location_count(); ++i) {
      tail += "5 ";
      add_time(tail, end);
      add(tail, " T L", i);
      tail += '\n';
    }
    for (const auto& [rank, index] : processes_) {
      tail += "5 ";
      add_time(tail, end);
      add(tail, " P P", rank);
      tail += '\n';
    }
    return out.write(tail.data(), tail.size());
  }

 private:
  void begin(const char* event, std::uint64_t time) {
    line_ = event;
    add_time(line_, time);
  }

  std::string header() {
    const Definitions& d = trace_.definitions();
    std::string out = kHeader;
    out += "0 P 0 \"Process\"\n0 T P \"Thread\"\n1 S T \"Call\"\n2 K 0 T T \"Communication\"\n";
    for (std::size_t i = 0; i < std::size(kLines); ++i) {
      add(out, "3 V", i);
      out += std::string(" K ") + in_quotes(kLines[i]) + " \"" + kLineColours[i] + "\"\n";
    }
    d.regions.for_each([&](RegionId id, const RegionDef& region) {
      add(out, "3 R", raw(id));
      out += " S " + in_quotes(region.name) + " \"" + colour_of(region) + "\"\n";
    });
    if (!trace_.known_region(trace_.unknown_region())) {
      add(out, "3 R", raw(trace_.unknown_region()));
      out += " S \"unknown region\" \"0.5 0.5 0.5\"\n";
    }
    for (std::uint32_t i = 0; i < trace_.location_count(); ++i) {
      const LocationDef& def = trace_.location_def(i);
      const std::uint32_t rank = raw(def.process);
      if (processes_.try_emplace(rank, i).second) {
        add(out, "4 0.000000000 P", rank);
        out += " P 0 " + in_quotes(process_name(d, def.process)) + '\n';
      }
      add(out, "4 0.000000000 L", i);
      add(out, " T P", rank);
      out += ' ' +
             in_quotes("Rank " + std::to_string(rank) +
                       (raw(def.thread) == 0 ? "" : ", " + thread_name(d, def))) +
             '\n';
    }
    return out;
  }

  const earl::Trace& trace_;
  SortedLines lines_;
  std::vector<std::uint64_t> depth_;
  std::map<std::uint32_t, std::uint32_t> processes_;  // by rank: their first location
  std::uint64_t links_ = 0;
  std::string line_;
};

ExitCode run(const cli::po::variables_map& values) {
  return convert<Paje>(values);
}

}  // namespace
}  // namespace kojak::exporting

int main(int argc, char** argv) {
  kojak::cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", kojak::cli::po::value<std::string>()->default_value("a.paje")->value_name("FILE"),
      "the trace in Paje's format; - is standard output");
  kojak::exporting::add_view(options);
  return kojak::cli::run_tool(argc, argv, kojak::exporting::kTool, options, kojak::exporting::run);
}
