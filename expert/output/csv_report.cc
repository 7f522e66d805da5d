#include "expert/output/csv_report.h"

#include <vector>

#include "epilog/format/io/writer.h"
#include "epilog/format/text/csv_cell.h"
#include "epilog/format/text/xml_text.h"
#include "expert/profile/report.h"

namespace kojak::expert {
namespace {

constexpr std::size_t kBlock = 1 << 20;

void add_cell(std::string& out, std::string_view text) {
  append_csv_cell(out, text);
  out += ',';
}

// Names as in the CUBE report; regions from the outermost to the call itself: "main/MPI_Put".
std::vector<std::string> call_paths_of(const Report& report) {
  std::vector<std::string> paths;
  for (const CallPathNode& node : report.call_paths()) {
    const std::string name = xml_text(report.region_name(node.region));
    paths.push_back(node.parent == kNone ? name : paths[node.parent] + '/' + name);
  }
  return paths;
}

// "rank,number," of each thread.
std::vector<std::string> threads_of(const Report& report) {
  std::vector<std::string> threads;
  for (const MachineNode& machine : report.machines()) {
    for (const HostNode& node : machine.nodes) {
      for (const ProcessNode& process : node.processes) {
        for (const ThreadNode& thread : process.threads) {
          threads.push_back(std::to_string(process.rank) + ',' + std::to_string(thread.number) +
                            ',');
        }
      }
    }
  }
  return threads;
}

}  // namespace

Status write_csv(const Report& report, const std::string& path) {
  auto file = OutputFile::create(path);
  if (!file) return file.error();
  const std::vector<std::string> paths = call_paths_of(report), threads = threads_of(report);
  std::string out = "metric,title,unit,call_path,process,thread,value\n";
  std::string begin;
  std::vector<double> values(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const Metric& metric = report.metrics()[m].metric;
    for (std::size_t c = 0; c < paths.size(); ++c) {
      if (!report.row(m, c, values)) continue;
      begin.clear();
      add_cell(begin, metric.name);
      add_cell(begin, metric.title);
      add_cell(begin, unit_word(metric.unit));
      add_cell(begin, paths[c]);
      for (std::size_t t = 0; t < values.size(); ++t) {
        out += begin;
        out += threads[t];
        append_number(out, values[t]);
        out += '\n';
      }
      if (out.size() < kBlock) continue;
      if (Status written = file->write(out.data(), out.size()); !written) return written;
      out.clear();
    }
  }
  if (Status written = file->write(out.data(), out.size()); !written) return written;
  return file->commit();
}

}  // namespace kojak::expert
