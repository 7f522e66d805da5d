// Reads a CUBE XML 3.0 report back: metrics, regions, call paths, processes and threads,
// severities.
//
// Independent of the writer: it shares no code with it and knows only the format (severities are
// inclusive along the metrics, exclusive along the call paths; rows that are left out are zero).
// The reports of the classic tools can be read as well.
//
// A Cube owns everything and is constant after read_cube, so any thread may ask it. read_cube fails
// by CubeError that names the file, the line and what is wrong: not well-formed, a reference to
// something undefined, a row that is not complete, or what CUBE's own readers refuse
// (cube_grammar.h).
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace kojak::support {

struct CubeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CubeMetric {
  int parent = -1;  // index of the enclosing metric, -1 at a root
  std::string uniq_name, disp_name, dtype, uom, url, descr;
};

struct CubeRegion {
  std::string name, mod, url, descr;
  int begin = -1, end = -1;
};

struct CubeCnode {
  int parent = -1;
  int region = -1;
  int line = -1;     // of the call site, -1 if the report does not say
  std::string mod;   // its file
  std::string path;  // region names from the root, joined by '/'
};

struct CubeThread {
  std::string machine, node, process, name;
  int process_rank = -1;
  int rank = -1;
};

class Cube {
 public:
  // Ids are the indices: a report whose ids are not 0, 1, 2 ... in document order is an error.
  std::vector<CubeMetric> metrics;
  std::vector<CubeRegion> regions;
  std::vector<CubeCnode> cnodes;
  std::vector<CubeThread> threads;
  std::map<std::string, std::string> attributes;
  std::vector<std::string> mirrors;
  std::vector<int> matrices;  // the metric of each matrix, in document order

  // Index of a metric, -1 if the report has none of that name.
  int find_metric(const std::string& uniq_name) const;
  const std::string& region_of(int cnode) const;
  double severity(int metric, int cnode, int thread) const;
  // Sum over the call paths that end in the region ("*": all) and the process's threads; 0 without
  // such. The metric must exist (CubeError).
  double sum(const std::string& metric, const std::string& region, int process_rank) const;

  // The same where the region is called from a line of another region.
  double at_site(const std::string& metric, const std::string& region, const std::string& caller,
                 int line, int process_rank) const;
  // The same over one call path, given as region names from the root joined by '/'.
  double at_path(const std::string& metric, const std::string& path, int process_rank) const;

  // metric -> cnode -> one value a thread; only the rows that the report has.
  std::map<int, std::map<int, std::vector<double>>> rows;
};

Cube read_cube(const std::string& path);

}  // namespace kojak::support
