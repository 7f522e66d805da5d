// elg2prv: a merged trace for Paraver: .prv, and beside it .pcf (names and colours) and .row (names
// of processes and threads).
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
    "elg2prv", "[options] TRACE",
    "Converts a merged trace for Paraver: states, events and communications, and beside\n"
    "FILE.prv its FILE.pcf and FILE.row.",
    "elg2prv -o a.prv a.elg", nullptr};

// States, as Paraver's own configurations count them.
enum State : std::uint8_t {
  kIdle = 0,
  kRunning = 1,
  kReceiving = 3,
  kSending = 4,
  kSynchronising = 5,
  kTesting = 6,
  kWaiting = 8,
  kOneSided = 9,
  kIo = 12,
  kCollective = 13,
  kNotRecorded = 14,
  kOther = 15,
};
struct StateName {
  State state;
  const char* name;
  const char* colour;
};
constexpr StateName kStates[] = {
    {kIdle, "Idle", "{117,195,255}"},
    {kRunning, "Running", "{0,0,255}"},
    {kReceiving, "Waiting for a message", "{255,0,0}"},
    {kSending, "Sending", "{255,0,174}"},
    {kSynchronising, "Synchronisation", "{179,0,0}"},
    {kTesting, "Test and probe", "{0,255,0}"},
    {kWaiting, "Waiting for requests", "{235,0,0}"},
    {kOneSided, "One-sided", "{0,162,0}"},
    {kIo, "I/O", "{255,235,0}"},
    {kCollective, "Collective", "{255,144,26}"},
    {kNotRecorded, "Not recorded", "{2,177,119}"},
    {kOther, "Other MPI", "{192,224,0}"},
};

// Types of events.
constexpr std::uint64_t kFunctionType = 60000019, kSiteType = 60000119, kWindowType = 60000201,
                        kBytesType = 60000202, kFirstCounterType = 42000000;
// Tags of communications that are no messages.
constexpr std::uint64_t kTags[] = {0, 1000000001, 1000000002, 1000000003, 1000000004};

State state_of(const RegionDef* region) {
  if (region == nullptr) return kRunning;
  switch (expert::kind_of(*region)) {
    case RegionKind::kProgram:
      return kRunning;
    case RegionKind::kMeasurement:
      return kNotRecorded;
    case RegionKind::kPointToPoint: {
      const MpiRole role = region->function != nullptr ? region->function->role : MpiRole::kRecv;
      if (role >= MpiRole::kWait && role <= MpiRole::kWaitsome) return kWaiting;
      if ((role >= MpiRole::kTest && role <= MpiRole::kRequestGetStatus) ||
          role == MpiRole::kIprobe || role == MpiRole::kImprobe) {
        return kTesting;
      }
      return role >= MpiRole::kSend && role <= MpiRole::kSendInit ? kSending : kReceiving;
    }
    case RegionKind::kBarrier:
    case RegionKind::kFence:
    case RegionKind::kActiveTarget:
    case RegionKind::kPassiveTarget:
    case RegionKind::kWindow:
      return kSynchronising;
    case RegionKind::kCollective:
      return kCollective;
    case RegionKind::kTransfer:
      return kOneSided;
    case RegionKind::kIo:
      return kIo;
    case RegionKind::kInitExit:
    case RegionKind::kManagement:
      return kOther;
  }
  return kOther;
}

void add(std::string& out, std::uint64_t number, char behind = ':') {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  out.append(text, end);
  if (behind != '\0') out += behind;
}

// Names stand in lines.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return printable(text);
}

class Prv : public Shown {
 public:
  explicit Prv(const earl::Trace& trace) : trace_(trace), threads_(trace.location_count()) {
    number_objects();
  }

  void enter(std::uint32_t location, std::uint64_t time, RegionId region,
             CallSiteId site) override {
    const RegionDef* def = trace_.definitions().regions.find(region);
    Thread& thread = threads_[location];
    turn(location, time, state_of(def));
    thread.open.push_back({raw(region) + std::uint64_t{1}, thread.state});
    event(location, time, kFunctionType, thread.open.back().value);
    if (!is_absent(site)) {
      line_ += ':';
      add(line_, kSiteType);
      add(line_, raw(site) + std::uint64_t{1}, '\0');
    }
    lines_.add(time, line_);
  }
  void leave(std::uint32_t location, std::uint64_t time) override {
    Thread& thread = threads_[location];
    if (thread.open.empty()) return;
    thread.open.pop_back();
    turn(location, time, thread.open.empty() ? kIdle : thread.open.back().state);
    event(location, time, kFunctionType, thread.open.empty() ? 0 : thread.open.back().value);
    lines_.add(time, line_);
  }
  void transfer(std::uint32_t location, std::uint64_t time, WindowId window,
                std::uint64_t bytes) override {
    event(location, time, kWindowType, is_absent(window) ? 0 : raw(window) + std::uint64_t{1});
    line_ += ':';
    add(line_, kBytesType);
    add(line_, bytes, '\0');
    lines_.add(time, line_);
  }
  void counters(std::uint32_t location, std::uint64_t time,
                std::span<const std::uint64_t> values) override {
    event(location, time, kFirstCounterType, values[0]);
    for (std::size_t i = 1; i < values.size(); ++i) {
      line_ += ':';
      add(line_, kFirstCounterType + i);
      add(line_, values[i], '\0');
    }
    lines_.add(time, line_);
  }
  void line(const Line& line) override {
    line_ = "3:";
    line_ += threads_[line.from].object;
    add(line_, line.begin);
    add(line_, line.begin);
    line_ += threads_[line.to].object;
    add(line_, line.end);
    add(line_, line.end);
    add(line_, line.bytes);
    add(line_, line.kind == Line::Kind::kMessage ? line.tag : kTags[static_cast<int>(line.kind)],
        '\0');
    lines_.add(line.begin, line_);
  }

  Status write(OutputFile& out, std::uint64_t end) {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) turn(i, end, kIdle, true);
    const std::string head = "#Paraver (01/01/00 at 00:00):" + std::to_string(end) +
                             "_ns:" + node_list_ + ":1:" + task_list_ + "\n";
    if (Status status = out.write(head.data(), head.size()); !status) return status;
    return lines_.write(out);
  }

  std::string pcf() const {
    std::string out =
        "DEFAULT_OPTIONS\n\nLEVEL THREAD\nUNITS NANOSEC\nLOOK_BACK 100\nSPEED 1\n"
        "FLAG_ICONS ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE 37\n\n"
        "DEFAULT_SEMANTIC\n\nTHREAD_FUNC State As Is\n\nSTATES\n";
    for (const StateName& s : kStates) out += std::to_string(s.state) + "    " + s.name + '\n';
    out += "\nSTATES_COLOR\n";
    for (const StateName& s : kStates) out += std::to_string(s.state) + "    " + s.colour + '\n';
    const Definitions& d = trace_.definitions();
    type(out, kFunctionType, "Innermost region");
    out += "VALUES\n0      End\n";
    d.regions.for_each([&](RegionId id, const RegionDef& region) {
      out += std::to_string(raw(id) + std::uint64_t{1}) + "      " + one_line(region.name) + '\n';
    });
    type(out, kSiteType, "Call site");
    if (!d.call_sites.empty()) out += "VALUES\n";
    d.call_sites.for_each([&](CallSiteId id, const CallSiteDef& site) {
      const std::string* file = d.files.find(site.file);
      out += std::to_string(raw(id) + std::uint64_t{1}) + "      " +
             one_line(file == nullptr ? "unknown" : *file) +
             (is_absent(site.line) ? "" : ":" + std::to_string(raw(site.line))) + '\n';
    });
    type(out, kWindowType, "Window of a transfer");
    out += "VALUES\n0      No window\n";
    d.windows.for_each([&](WindowId id, const WindowDef& window) {
      const std::string name = window.name.empty() ? std::to_string(raw(id)) : window.name;
      out += std::to_string(raw(id) + std::uint64_t{1}) + "      window " + one_line(name) + '\n';
    });
    type(out, kBytesType, "Bytes of a transfer");
    d.metrics.for_each([&](MetricId id, const MetricDef& metric) {
      type(out, kFirstCounterType + raw(id), one_line(metric.name).c_str());
    });
    return out;
  }
  const std::string& row() const { return row_; }

 private:
  struct Open {
    std::uint64_t value;
    State state;
  };
  struct Thread {
    std::string object;  // cpu:application:task:thread:
    State state = kIdle;
    std::uint64_t since = 0;
    std::vector<Open> open;
  };

  static void type(std::string& out, std::uint64_t number, const char* name) {
    out += "\n\nEVENT_TYPE\n0    " + std::to_string(number) + "    " + name + '\n';
  }

  // Node by node, as the header lists them; processes that are missing have one thread.
  void number_objects() {
    const Definitions& d = trace_.definitions();
    std::map<NodeId, std::vector<std::uint32_t>> on_node;
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_task;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      on_node[trace_.location_def(i).node].push_back(i);
      of_task[raw(trace_.process(i))].push_back(i);
    }
    std::vector<std::uint32_t> cpu(threads_.size());
    std::map<NodeId, std::size_t> node_number;
    std::uint32_t next = 0;
    std::string nodes, cpus, names;
    for (const auto& [id, locations] : on_node) {
      node_number.emplace(id, node_number.size() + 1);
      for (const std::uint32_t i : locations) cpu[i] = ++next;
      nodes += (nodes.empty() ? "" : ",") + std::to_string(locations.size());
      const NodeDef* def = d.nodes.find(id);
      const std::string name = one_line(def == nullptr ? "node" : def->name);
      names += name + '\n';
      for (std::size_t c = 0; c < locations.size(); ++c) {
        cpus += std::to_string(c + 1) + '.' + name + '\n';
      }
    }
    node_list_ = std::to_string(on_node.size()) + '(' + nodes + ')';
    const std::uint32_t tasks = of_task.empty() ? 0 : of_task.rbegin()->first + 1;
    std::string list, thread_names, task_names;
    std::size_t threads = 0;
    for (std::uint32_t rank = 0; rank < tasks; ++rank) {
      const auto known = of_task.find(rank);
      const std::size_t count = known == of_task.end() ? 1 : known->second.size();
      const std::size_t node =
          known == of_task.end() ? 1 : node_number[trace_.location_def(known->second[0]).node];
      list += (list.empty() ? "" : ",") + std::to_string(count) + ':' + std::to_string(node);
      task_names += one_line(process_name(d, ProcessId{rank})) + '\n';
      for (std::size_t t = 0; t < count; ++t) {
        ++threads;
        thread_names += "THREAD 1." + std::to_string(rank + 1) + '.' + std::to_string(t + 1) + '\n';
        if (known == of_task.end()) continue;
        const std::uint32_t i = known->second[t];
        threads_[i].object = std::to_string(cpu[i]) + ":1:" + std::to_string(rank + 1) + ':' +
                             std::to_string(t + 1) + ':';
      }
    }
    task_list_ = std::to_string(tasks) + '(' + list + ')';
    row_ = "LEVEL CPU SIZE " + std::to_string(next) + '\n' + cpus + "\nLEVEL NODE SIZE " +
           std::to_string(on_node.size()) + '\n' + names + "\nLEVEL TASK SIZE " +
           std::to_string(tasks) + '\n' + task_names + "\nLEVEL THREAD SIZE " +
           std::to_string(threads) + '\n' + thread_names;
  }

  // Another state from here on; what was before becomes a record.
  void turn(std::uint32_t location, std::uint64_t time, State state, bool end = false) {
    Thread& thread = threads_[location];
    if (state == thread.state && !end) return;
    if (time > thread.since) {
      line_ = "1:";
      line_ += thread.object;
      add(line_, thread.since);
      add(line_, time);
      add(line_, thread.state, '\0');
      lines_.add(thread.since, line_);
      thread.since = time;
    }
    thread.state = state;
  }
  void event(std::uint32_t location, std::uint64_t time, std::uint64_t type, std::uint64_t value) {
    line_ = "2:";
    line_ += threads_[location].object;
    add(line_, time);
    add(line_, type);
    add(line_, value, '\0');
  }

  const earl::Trace& trace_;
  SortedLines lines_;
  std::vector<Thread> threads_;
  std::string node_list_, task_list_, row_, line_;
};

std::string beside(const std::string& prv, const char* ending) {
  constexpr std::string_view kEnding = ".prv";
  return (prv.ends_with(kEnding) ? prv.substr(0, prv.size() - kEnding.size()) : prv) + ending;
}

ExitCode run(const cli::po::variables_map& values) {
  const auto output = values["output"].as<std::string>();
  if (output == "-") return cli::usage_error("three files are written: name one with -o");
  return convert<Prv>(values,
                      {{beside(output, ".pcf"), &Prv::pcf}, {beside(output, ".row"), &Prv::row}});
}

}  // namespace
}  // namespace kojak::exporting

int main(int argc, char** argv) {
  kojak::cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", kojak::cli::po::value<std::string>()->default_value("a.prv")->value_name("FILE"),
      "the trace for Paraver; beside it come .pcf and .row");
  kojak::exporting::add_view(options);
  return kojak::cli::run_tool(argc, argv, kojak::exporting::kTool, options, kojak::exporting::run);
}
