// Reports of merged traces analysed whole and in slices are equal, byte for byte: CUBE, CSV, JSON,
// what is printed. (slices.py does the same with runs' folders, by the program itself.)
//
//   cut_traces FOLDER LEAST AT ...    FOLDER has traces as text, NAME.txt
//
// Each is cut at the meetings of each list (Slices::cut_at; "random": one or two of the first 12).
// Which were not cut, and why, is said. Exit status: 0 all are equal, and LEAST or more were cut.
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "epilog/format/text/text_reader.h"
#include "expert/output/csv_report.h"
#include "expert/output/json_report.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/parallel_in_parts.h"

namespace {

using namespace kojak;  // NOLINT: a program's own file

constexpr std::size_t kInstances = 5;

class Comparison {
 public:
  void compare(const std::filesystem::path& text, const std::vector<std::string>& cuts) {
    const std::string words = test::read_text(text.string());
    if (words.find("COLLEXIT") == std::string::npos) return;
    const auto bytes = text_to_trace(words, text.string());
    if (!bytes) return;
    test::write_file(trace_, *bytes);
    auto trace = earl::Trace::open(trace_);
    if (!trace) throw std::runtime_error(trace.error().message());
    expert::AnalysisOptions options = test::wanted();
    expert::SendModes modes(*trace, {});
    options.instances = kInstances;
    options.send_modes = &modes;
    const std::string whole = words_of(expert::analyse(*trace, options), modes);
    for (const std::string& at : cuts) in_parts(text, at, whole);
  }
  // False: something is wrong.
  bool finish(std::size_t least) const {
    for (const auto& [why, count] : not_cut_) std::cout << count << " not cut: " << why << '\n';
    std::cout << cut_ << " cut, " << wrong_ << " different\n";
    return wrong_ == 0 && cut_ >= least;
  }

 private:
  void in_parts(const std::filesystem::path& text, const std::string& at,
                const std::string& whole) {
    std::vector<std::unique_ptr<expert::SendModes>> modes;
    auto slices = test::slices_of_trace(trace_);
    if (!slices) throw std::runtime_error(slices.error().message());
    const test::InParts parts(
        **slices, at == "random" ? some_meetings() : at, {},
        [&](const earl::Trace& trace, expert::AnalysisOptions& options) {
          modes.push_back(std::make_unique<expert::SendModes>(trace, expert::SendModeOptions()));
          options.instances = kInstances;
          options.send_modes = &*modes.back();
        });
    if (!parts.why().empty()) {
      ++not_cut_[parts.why()];
      return;
    }
    ++cut_;
    if (words_of(parts.report(), *modes.back()) == whole) return;
    ++wrong_;
    std::cout << text.string() << ": cut at " << at << " the report is another one\n";
  }
  std::string words_of(const expert::Report& report, const expert::SendModes& modes) const {
    const std::string file = dir_.file("report");
    const auto written = [&](const Status& status) {
      if (!status) throw std::runtime_error(status.error().message());
      return test::read_text(file);
    };
    std::string all = test::words_of(report, file);
    all += written(expert::write_csv(report, file));
    all += written(expert::write_json(report, {"trace", 0, modes.findings(), modes.cost()}, file));
    std::ostringstream out;
    expert::print_send_modes(out, report, {}, modes.findings(), modes.cost());
    return all + out.str();
  }
  // Few exist, and fewer are at rest: those that do not are tried, too.
  std::string some_meetings() {
    std::set<std::size_t> some;
    const std::size_t wanted = 1 + dice_() % 2;
    while (some.size() < wanted) some.insert(dice_() % 12);
    std::string list;
    for (const std::size_t n : some) list += (list.empty() ? "" : ",") + std::to_string(n);
    return list;
  }

  const test::TempDir dir_;
  const std::string trace_ = dir_.file("trace.elg");
  std::map<std::string, std::size_t> not_cut_;
  std::size_t cut_ = 0, wrong_ = 0;
  std::mt19937_64 dice_{14};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  Comparison comparison;
  std::set<std::filesystem::path> texts;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() == ".txt") texts.insert(entry.path());
  }
  const std::vector<std::string> cuts(argv + 3, argv + argc);
  for (const std::filesystem::path& text : texts) comparison.compare(text, cuts);
  return comparison.finish(std::strtoull(argv[2], nullptr, 10)) ? 0 : 1;
}
