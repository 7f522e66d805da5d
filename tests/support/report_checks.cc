#include "tests/support/report_checks.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace kojak::support {
namespace {

std::string place(const Cube& cube, int metric, int cnode, std::size_t thread) {
  std::ostringstream text;
  text << cube.metrics[static_cast<std::size_t>(metric)].uniq_name << " at "
       << cube.cnodes[static_cast<std::size_t>(cnode)].path << " of rank "
       << cube.threads[thread].process_rank << ": ";
  text.precision(12);
  return text.str();
}

std::string compared(const char* relation, double value, double limit) {
  std::ostringstream text;
  text.precision(12);
  text << value << relation << limit;
  return text.str();
}

// Severities are sums of many intervals and are written with finitely many digits.
double rounding(double value) {
  return 1e-9 * (1 + std::abs(value));
}

bool below(const Cube& cube, int metric, const std::string& ancestor) {
  for (; metric >= 0; metric = cube.metrics[static_cast<std::size_t>(metric)].parent)
    if (cube.metrics[static_cast<std::size_t>(metric)].uniq_name == ancestor) return true;
  return false;
}

}  // namespace

std::vector<std::string> check_report(const Cube& cube) {
  std::vector<std::string> wrong;
  const int time = cube.find_metric("time");
  if (time < 0) wrong.push_back("the report has no metric time");
  const int metrics = static_cast<int>(cube.metrics.size());
  for (int m = 0; m < metrics; ++m)
    if (!cube.rows.contains(m))
      wrong.push_back("no matrix for " + cube.metrics[static_cast<std::size_t>(m)].uniq_name);

  for (int cnode = 0; cnode < static_cast<int>(cube.cnodes.size()); ++cnode) {
    for (std::size_t thread = 0; thread < cube.threads.size(); ++thread) {
      const int t = static_cast<int>(thread);
      std::vector<double> children(cube.metrics.size(), 0.0);
      for (int m = 0; m < metrics; ++m) {
        const double value = cube.severity(m, cnode, t);
        if (!std::isfinite(value) || value < 0)
          wrong.push_back(place(cube, m, cnode, thread) + compared(" is no severity", value, 0));
        const int parent = cube.metrics[static_cast<std::size_t>(m)].parent;
        const bool idle = below(cube, m, "omp_idle_threads");  // time of threads that do not exist
        if (parent >= 0 && !idle) children[static_cast<std::size_t>(parent)] += value;
        if (time < 0 || !below(cube, m, "time") || idle) continue;
        const double limit = cube.severity(time, cnode, t);
        if (value > limit + rounding(limit))
          wrong.push_back(place(cube, m, cnode, thread) +
                          compared(" exceeds the time ", value, limit));
      }
      for (int m = 0; m < metrics; ++m) {
        const double value = cube.severity(m, cnode, t);
        const double sum = children[static_cast<std::size_t>(m)];
        if (sum > value + rounding(value))
          wrong.push_back(place(cube, m, cnode, thread) +
                          compared(" is less than its parts, ", value, sum));
      }
    }
  }
  return wrong;
}

std::vector<std::string> compare_reports(const Cube& one, const Cube& other, double tolerance) {
  std::vector<std::string> wrong;
  const auto same = [&](const char* what, const auto& a, const auto& b, auto name) {
    if (a.size() != b.size()) {
      wrong.push_back(std::string("another number of ") + what + ": " + std::to_string(a.size()) +
                      " and " + std::to_string(b.size()));
      return;
    }
    for (std::size_t i = 0; i < a.size(); ++i)
      if (name(a[i]) != name(b[i]))
        wrong.push_back(std::string("other ") + what + ": " + name(a[i]) + " and " + name(b[i]));
  };
  same("metrics", one.metrics, other.metrics, [](const CubeMetric& m) { return m.uniq_name; });
  same("call paths", one.cnodes, other.cnodes,
       [](const CubeCnode& c) { return c.path + " " + c.mod + ":" + std::to_string(c.line); });
  same("threads", one.threads, other.threads, [](const CubeThread& t) {
    return std::to_string(t.process_rank) + "." + std::to_string(t.rank);
  });
  if (!wrong.empty()) return wrong;
  for (int m = 0; m < static_cast<int>(one.metrics.size()); ++m) {
    for (int cnode = 0; cnode < static_cast<int>(one.cnodes.size()); ++cnode) {
      for (std::size_t t = 0; t < one.threads.size(); ++t) {
        const double a = one.severity(m, cnode, static_cast<int>(t));
        const double b = other.severity(m, cnode, static_cast<int>(t));
        if (!(std::abs(a - b) <= tolerance))
          wrong.push_back(place(one, m, cnode, t) +
                          compared(" in one report, in the other ", a, b));
      }
    }
  }
  return wrong;
}

namespace {

double value_at(const Cube& cube, const std::string& metric, const std::string& function,
                int rank) {
  const std::size_t at = function.find('@'), colon = function.rfind(':');
  if (at == std::string::npos) return cube.sum(metric, function, rank);
  if (colon == std::string::npos || colon < at)
    throw CubeError("no FUNCTION@CALLER:LINE: " + function);
  return cube.at_site(metric, function.substr(0, at), function.substr(at + 1, colon - at - 1),
                      std::stoi(function.substr(colon + 1)), rank);
}

}  // namespace

std::vector<std::string> compare_with_truth(const Cube& cube, const std::string& truth_path,
                                            double tolerance, double share) {
  std::ifstream file(truth_path);
  if (!file) throw CubeError(truth_path + ": cannot be opened");
  std::vector<std::string> wrong;
  int compared_values = 0;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    std::istringstream words(text);
    std::string metric;
    std::string function;
    int rank = 0;
    double expected = 0;
    if (text.empty() || text[0] == '#') continue;
    if (!(words >> metric >> function >> rank >> expected))
      throw CubeError(truth_path + ":" + std::to_string(line) +
                      ": no `metric function rank value`");
    ++compared_values;
    const int m = cube.find_metric(metric);
    if (m < 0) {
      const std::string missing = "the report has no metric " + metric;
      if (std::ranges::find(wrong, missing) == wrong.end()) wrong.push_back(missing);
      continue;
    }
    const double got = value_at(cube, metric, function, rank);
    const bool is_time = cube.metrics[static_cast<std::size_t>(m)].uom == "sec";
    const double allowed = is_time ? std::max(tolerance, share * std::abs(expected)) : 0;
    if (std::abs(got - expected) <= allowed) continue;
    std::ostringstream problem;
    problem.precision(9);
    problem << metric << ' ' << function << " rank " << rank << ": expected " << expected
            << ", got " << got << " (" << std::showpos << got - expected << ')';
    wrong.push_back(problem.str());
  }
  if (compared_values == 0) wrong.push_back(truth_path + ": holds no value to compare with");
  return wrong;
}

}  // namespace kojak::support
