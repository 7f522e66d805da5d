// Writes a large CUBE report for the tests of the page: as many call paths and locations as asked
// for, with values that do not compress, every fifth call path in MPI, most of these waiting.
//
// Usage: make_report LOCATIONS CALL_PATHS OUTPUT
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace {

// Of each metric: title, unique name, and which call paths have it.
struct Metric {
  const char* title;
  const char* name;
  int depth;
  enum class At { kAll, kMpi, kWaiting, kNowhere } at;
};
constexpr std::array kMetrics{
    Metric{"Time", "time", 0, Metric::At::kAll},
    Metric{"Execution", "execution", 1, Metric::At::kAll},
    Metric{"MPI", "mpi", 2, Metric::At::kMpi},
    Metric{"Synchronization", "mpi_synchronization", 3, Metric::At::kMpi},
    Metric{"Barrier", "mpi_sync_collective", 4, Metric::At::kMpi},
    Metric{"Wait at Barrier", "mpi_barrier_wait", 5, Metric::At::kWaiting},
    Metric{"Overhead", "overhead", 1, Metric::At::kNowhere},
    Metric{"Visits", "visits", 0, Metric::At::kAll},
};

class Writer {
 public:
  Writer(std::size_t locations, std::size_t calls, const char* path)
      : locations_(locations), calls_(calls), out_(path, std::ios::binary) {}

  bool write() {
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"3.0\">\n<metrics>\n";
    int open = 0;
    for (std::size_t m = 0; m < kMetrics.size(); ++m) {
      for (; open > kMetrics[m].depth; --open) out_ << "</metric>\n";
      out_ << "<metric id=\"" << m << "\"><disp_name>" << kMetrics[m].title
           << "</disp_name><uniq_name>" << kMetrics[m].name
           << "</uniq_name><dtype>FLOAT</dtype><uom>" << (m == 7 ? "occ" : "sec")
           << "</uom><url></url><descr></descr>\n";
      ++open;
    }
    for (; open > 0; --open) out_ << "</metric>\n";
    out_ << "</metrics>\n<program>\n";
    program();
    out_ << "</program>\n<system>\n";
    system();
    out_ << "</system>\n<severity>\n";
    for (std::size_t m = 0; m < kMetrics.size(); ++m) matrix(m);
    out_ << "</severity>\n</cube>\n";
    out_.close();
    return !out_.fail();
  }

 private:
  void program() {
    const std::size_t functions = 400;
    for (std::size_t r = 0; r < functions; ++r) {
      out_ << "<region id=\"" << r << "\" mod=\"solver/kernel_" << r % 40
           << ".cc\" begin=\"1\" end=\"2\"><name>" << (r == 0 ? "MPI_Barrier" : "")
           << (r == 0 ? "" : "solver::Kernel&lt;double, " + std::to_string(r) + "&gt;::apply")
           << "</name><url></url><descr></descr></region>\n";
    }
    // A tree in which each node has up to four callees; every fifth call path is a barrier.
    std::vector<std::vector<std::size_t>> callees(calls_);
    std::vector<std::size_t> inner{0};
    std::size_t next = 0;
    for (std::size_t c = 1; c < calls_; ++c) {
      callees[inner[next]].push_back(c);
      if (callees[inner[next]].size() == 4) ++next;
      if (!in_mpi(c)) inner.push_back(c);
    }
    number_.resize(calls_);
    std::size_t id = 0;
    const auto node = [&](auto&& self, std::size_t c) -> void {
      number_[id] = c;
      out_ << "<cnode id=\"" << id++ << "\" calleeId=\""
           << (in_mpi(c) ? 0 : 1 + c % (functions - 1)) << "\" line=\"" << 10 + c % 900
           << "\" mod=\"solver/kernel_" << c % 40 << ".cc\">\n";
      for (const std::size_t callee : callees[c]) self(self, callee);
      out_ << "</cnode>\n";
    };
    node(node, 0);
  }

  void system() {
    out_ << "<machine Id=\"0\"><name>cluster</name>\n";
    for (std::size_t i = 0; i < locations_; ++i) {
      if (i % 64 == 0) {
        out_ << (i > 0 ? "</node>\n" : "") << "<node Id=\"" << i / 64 << "\"><name>node" << i / 64
             << "</name>\n";
      }
      out_ << "<process Id=\"" << i << "\"><name></name><rank>" << i << "</rank><thread Id=\"" << i
           << "\"><name></name><rank>0</rank></thread></process>\n";
    }
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(locations_)));
    out_ << "</node></machine>\n<topologies><cart ndims=\"2\"><dim size=\"" << side
         << "\" periodic=\"true\"/><dim size=\"" << (locations_ + side - 1) / side
         << "\" periodic=\"false\"/>\n";
    for (std::size_t i = 0; i < locations_; ++i) {
      out_ << "<coord thrdId=\"" << i << "\">" << i % side << ' ' << i / side << "</coord>\n";
    }
    out_ << "</cart></topologies>\n";
  }

  static bool in_mpi(std::size_t call) { return call % 5 == 4; }
  static bool waits(std::size_t call) { return call % 10 == 4; }

  // The same cell has the same value in all metrics above one another; a wait is half of it.
  void matrix(std::size_t m) {
    out_ << "<matrix metricId=\"" << m << "\">\n";
    std::string text;
    for (std::size_t id = 0; id < calls_; ++id) {
      const std::size_t c = number_[id];
      const Metric::At at = kMetrics[m].at;
      if (at == Metric::At::kNowhere || (at == Metric::At::kMpi && !in_mpi(c)) ||
          (at == Metric::At::kWaiting && !waits(c))) {
        continue;
      }
      text = "<row cnodeId=\"" + std::to_string(id) + "\">\n";
      std::minstd_rand random(static_cast<unsigned>(c + 1));
      const double size = 10.0 / static_cast<double>(1 + c);
      for (std::size_t i = 0; i < locations_; ++i) {
        const double part = static_cast<double>(random()) / 2147483647.0;
        const double value = m == 7 ? static_cast<double>(1 + c % 7) : size * (1 + part);
        std::array<char, 32> digits;
        const double shown = at == Metric::At::kWaiting ? value / 2 * part : value;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), shown,
                                       std::chars_format::general, 9);
        text.append(digits.data(), end.ptr);
        text += '\n';
      }
      out_ << text << "</row>\n";
    }
    out_ << "</matrix>\n";
  }

  std::size_t locations_, calls_;
  std::ofstream out_;
  std::vector<std::size_t> number_;  // call path by identifier
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: make_report LOCATIONS CALL_PATHS OUTPUT\n";
    return 1;
  }
  const auto locations = std::strtoul(argv[1], nullptr, 10);
  const auto calls = std::strtoul(argv[2], nullptr, 10);
  return Writer(locations, calls, argv[3]).write() ? 0 : 4;
}
