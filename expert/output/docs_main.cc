// expert_docs FOLDER: writes patterns.html and patterns/*.md into FOLDER. Run by the build.
// expert_docs --check FOLDER: whether FOLDER holds the pages of patterns/ as they are now.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "expert/output/docs.h"
#include "expert/patterns/catalogue.h"

namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) std::fprintf(stderr, "expert_docs: cannot write %s\n", path.c_str());
  return static_cast<bool>(out);
}

// Whether a file holds this text.
bool same(const std::filesystem::path& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (in && content.str() == text) return true;
  std::fprintf(stderr, "expert_docs: %s is not what the patterns say; make it anew\n",
               path.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  namespace expert = kojak::expert;
  if (argc == 3 && std::string_view(argv[1]) == "--check") {
    const std::filesystem::path pages = argv[2];
    bool good = same(pages / "README.md", expert::pattern_index());
    for (const expert::Metric& metric : expert::all_metrics()) {
      good = same(pages / (std::string(metric.name) + ".md"), expert::pattern_page(metric)) && good;
    }
    return good ? 0 : 1;
  }
  if (argc != 2) {
    std::fputs("usage: expert_docs [--check] FOLDER\n", stderr);
    return 1;
  }
  const std::filesystem::path folder = argv[1];
  std::error_code error;
  std::filesystem::create_directories(folder / "patterns", error);
  bool good = write(folder / "patterns.html", expert::patterns_html()) &&
              write(folder / "patterns" / "README.md", expert::pattern_index());
  for (const expert::Metric& metric : expert::all_metrics()) {
    good = good && write(folder / "patterns" / (std::string(metric.name) + ".md"),
                         expert::pattern_page(metric));
  }
  return good ? 0 : 4;
}
