// expert_docs FOLDER: writes patterns.html and patterns/*.md into FOLDER. Run by the build.

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "expert/catalogue.h"
#include "expert/docs.h"

namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) std::fprintf(stderr, "expert_docs: cannot write %s\n", path.c_str());
  return static_cast<bool>(out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: expert_docs FOLDER\n", stderr);
    return 1;
  }
  namespace expert = kojak::expert;
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
