#include "tools/profile_output.h"

#include <algorithm>
#include <ostream>
#include <set>

namespace kojak {
namespace {

std::string seconds(double value, Digits digits) {
  return cli::format_seconds(value, static_cast<int>(digits));
}

// A column of calls that failed only where there are any.
bool any_failed(const std::vector<RegionTotals>& regions) {
  return std::any_of(regions.begin(), regions.end(),
                     [](const RegionTotals& region) { return region.failed != 0; });
}

std::vector<std::string> region_cells(const RegionTotals& region, Digits digits, bool with_failed) {
  const char* const not_recorded = digits == Digits::kPeople ? "-" : "";
  std::vector<std::string> cells{region.name,
                                 region.calls == 0 ? not_recorded : std::to_string(region.calls),
                                 seconds(region.inclusive, digits),
                                 seconds(region.exclusive, digits),
                                 std::to_string(region.sent),
                                 std::to_string(region.received)};
  if (with_failed) cells.push_back(std::to_string(region.failed));
  return cells;
}
std::vector<cli::Table::Column> region_columns(bool with_failed) {
  std::vector<cli::Table::Column> columns{{"region", cli::Align::kLeft},
                                          {"calls"},
                                          {"inclusive s"},
                                          {"exclusive s"},
                                          {"sent B"},
                                          {"received B"}};
  if (with_failed) columns.push_back({"failed"});
  return columns;
}

void print_regions(const std::vector<RegionTotals>& regions, const char* indent,
                   std::ostream& out) {
  const char* comma = "";
  out << "[";
  for (const RegionTotals& region : regions) {
    out << comma << "\n"
        << indent << "{\"name\": " << cli::quoted_json(region.name)
        << ", \"calls\": " << (region.calls == 0 ? "null" : std::to_string(region.calls))
        << ", \"inclusive\": " << seconds(region.inclusive, Digits::kPrograms)
        << ", \"exclusive\": " << seconds(region.exclusive, Digits::kPrograms)
        << ", \"sent\": " << region.sent << ", \"received\": " << region.received;
    if (region.failed != 0) out << ", \"failed\": " << region.failed;
    out << "}";
    comma = ",";
  }
  out << "]";
}

}  // namespace

cli::Table region_table(const std::vector<RegionTotals>& regions, std::size_t top, Digits digits) {
  const bool with_failed = any_failed(regions);
  cli::Table table(region_columns(with_failed));
  for (const RegionTotals& region : regions) {
    if (top-- == 0) break;
    table.add(region_cells(region, digits, with_failed));
  }
  return table;
}

cli::Table process_table(const TraceProfile& profile, Digits digits) {
  cli::Table table({{"process"},
                    {"time s"},
                    {"MPI s"},
                    {"messages"},
                    {"sent B"},
                    {"received B"},
                    {"transfers"},
                    {"put B"},
                    {"got B"}});
  for (const ProcessTotals& p : profile.processes) {
    table.add({std::to_string(p.rank), seconds(p.time, digits), seconds(p.mpi, digits),
               std::to_string(p.messages), std::to_string(p.sent), std::to_string(p.received),
               std::to_string(p.operations), std::to_string(p.put), std::to_string(p.got)});
  }
  return table;
}

cli::Table call_table(const TraceProfile& profile, Digits digits) {
  const bool with_failed = any_failed(profile.regions);
  std::vector<cli::Table::Column> columns = region_columns(with_failed);
  columns.insert(columns.begin(), {"process"});
  cli::Table table(std::move(columns));
  for (const ProcessTotals& p : profile.processes) {
    for (const RegionTotals& region : p.regions) {
      std::vector<std::string> cells = region_cells(region, digits, with_failed);
      cells.insert(cells.begin(), std::to_string(p.rank));
      table.add(std::move(cells));
    }
  }
  return table;
}

cli::Table flow_table(const TraceProfile& profile) {
  cli::Table table({{"from"}, {"to"}, {"messages"}, {"message B"}, {"transfers"}, {"one-sided B"}});
  for (const Flow& flow : profile.flows) {
    table.add({std::to_string(flow.from), std::to_string(flow.to), std::to_string(flow.messages),
               std::to_string(flow.message_bytes), std::to_string(flow.transfers),
               std::to_string(flow.transfer_bytes)});
  }
  return table;
}

void print_matrices(const TraceProfile& profile, std::ostream& out) {
  std::set<std::uint32_t> ranks;
  for (const ProcessTotals& p : profile.processes) ranks.insert(p.rank);
  for (const Flow& flow : profile.flows) ranks.insert({flow.from, flow.to});
  const auto matrix = [&](const char* title, std::uint64_t Flow::*bytes) {
    std::vector<cli::Table::Column> columns{{"from \\ to"}};
    for (const std::uint32_t rank : ranks) columns.push_back({std::to_string(rank)});
    cli::Table table(std::move(columns));
    auto flow = profile.flows.begin();
    for (const std::uint32_t from : ranks) {
      std::vector<std::string> cells{std::to_string(from)};
      for (const std::uint32_t to : ranks) {
        const bool there = flow != profile.flows.end() && flow->from == from && flow->to == to;
        cells.push_back(std::to_string(there ? (*flow).*bytes : 0));
        if (there) ++flow;
      }
      table.add(std::move(cells));
    }
    out << title << "\n";
    table.print(out);
  };
  matrix("bytes of messages", &Flow::message_bytes);
  out << '\n';
  matrix("bytes of one-sided transfers", &Flow::transfer_bytes);
}

void print_json(const TraceProfile& profile, std::ostream& out) {
  out << "{\"events\": " << profile.events << ", \"locations\": " << profile.locations
      << ", \"time\": " << seconds(profile.time(), Digits::kPrograms) << ",\n \"regions\": ";
  print_regions(profile.regions, "  ", out);
  out << ",\n \"processes\": [";
  const char* comma = "";
  for (const ProcessTotals& p : profile.processes) {
    out << comma << "\n  {\"rank\": " << p.rank
        << ", \"time\": " << seconds(p.time, Digits::kPrograms)
        << ", \"mpi\": " << seconds(p.mpi, Digits::kPrograms) << ", \"messages\": " << p.messages
        << ", \"sent\": " << p.sent << ", \"received\": " << p.received
        << ", \"transfers\": " << p.operations << ", \"put\": " << p.put << ", \"got\": " << p.got
        << ", \"regions\": ";
    print_regions(p.regions, "   ", out);
    out << "}";
    comma = ",";
  }
  out << "],\n \"flows\": [";
  comma = "";
  for (const Flow& flow : profile.flows) {
    out << comma << "\n  {\"from\": " << flow.from << ", \"to\": " << flow.to
        << ", \"messages\": " << flow.messages << ", \"message_bytes\": " << flow.message_bytes
        << ", \"transfers\": " << flow.transfers << ", \"transfer_bytes\": " << flow.transfer_bytes
        << "}";
    comma = ",";
  }
  out << "],\n \"records\": {";
  comma = "";
  for (const auto& [name, count] : profile.records) {
    out << comma << "\n  " << cli::quoted_json(name) << ": " << count;
    comma = ",";
  }
  out << "}}\n";
}

}  // namespace kojak
