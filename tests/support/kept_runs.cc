#include "tests/support/kept_runs.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "epilog/format/text/text_reader.h"

namespace kojak::support {

void keep_run(const std::string& name, const std::vector<std::byte>& trace,
              const std::filesystem::path& report) {
  const char* folder = std::getenv("KOJAK_KEPT_RUNS");
  if (folder == nullptr) return;
  static int number = 0;
  const std::string stem = std::string(folder) + "/" + name + "-" + std::to_string(::getpid()) +
                           "-" + std::to_string(++number);
  std::filesystem::create_directories(folder);
  auto text = trace_to_text(trace);
  if (!text) throw std::runtime_error(text.error().message());
  std::ofstream out(stem + ".txt", std::ios::binary);
  out << *text;
  if (!out.flush()) throw std::runtime_error("cannot write " + stem + ".txt");
  std::filesystem::copy_file(report, stem + ".cube");
}

}  // namespace kojak::support
