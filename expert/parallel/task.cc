#include "expert/parallel/task.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace kojak::parallel {
namespace fs = std::filesystem;
namespace {
// Of traces, and of the buffers beside them.
constexpr const char* kOfTraces[] = {".elg", ".elg.gz", ".elg.zst", ".buf"};
}  // namespace

std::string task_of(const std::vector<std::string>& command, const std::string& input) {
  std::string task;
  const auto add = [&](const std::string& text) { (task += text) += '\0'; };
  for (const std::string& word : command) add(word);
  std::vector<std::string> files = {input};
  std::error_code error;
  if (fs::is_directory(input, error)) {
    // (The place is each process's own: "run" in two folders are two runs.)
    files.push_back(fs::canonical(input, error).string());
    for (fs::directory_iterator at(input, error), end; !error && at != end; at.increment(error)) {
      // (Others may write reports there meanwhile.)
      const std::string file = at->path().string();
      const auto is_one = [&](const char* ending) { return file.ends_with(ending); };
      if (std::ranges::any_of(kOfTraces, is_one)) files.push_back(file);
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    add(file);
    struct stat status;
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    add(std::to_string(status.st_size));
    add(std::to_string(status.st_mtim.tv_sec) + '.' + std::to_string(status.st_mtim.tv_nsec));
  }
  return task;
}

}  // namespace kojak::parallel
