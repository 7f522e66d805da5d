#include "epilog/format/io/file_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

namespace kojak {
namespace {

namespace fs = std::filesystem;

struct Identity {
  dev_t device{};
  ino_t inode{};
  std::string name;  // of a file that is not there yet, in the directory that the numbers tell
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity(const std::string& path, int stream) {
  if (path.empty()) return std::nullopt;
  struct stat info {};
  if (path == "-") {
    if (::fstat(stream, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    return Identity{info.st_dev, info.st_ino, {}};
  }
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) return std::nullopt;
    return Identity{info.st_dev, info.st_ino, {}};
  }
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error || ::stat(whole.parent_path().c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_dev, info.st_ino, whole.filename().string()};
}

std::string shown(const std::string& path, const char* stream) {
  return path == "-" ? stream : path;
}

}  // namespace

Status keep_inputs(const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = shown(outputs[i], "standard output");
    const auto refuse = [&](const std::string& other, const char* what) {
      std::string reason = what;
      if (other != name) reason += " (" + other + ")";
      return Error{
          ExitCode::kUsage, name, std::nullopt, "", "", reason, "give the output another name"};
    };
    const std::optional<Identity> output = identity(outputs[i], STDOUT_FILENO);
    for (std::size_t other = 0; other < i; ++other) {
      const bool both_streams = outputs[i] == "-" && outputs[other] == "-";
      if (both_streams || (output && output == identity(outputs[other], STDOUT_FILENO))) {
        return refuse(shown(outputs[other], "standard output"), "is two outputs at once");
      }
    }
    if (!output) continue;
    for (const std::string& input : inputs) {
      if (output == identity(input, STDIN_FILENO)) {
        return refuse(shown(input, "standard input"), "would replace what is read");
      }
    }
  }
  return {};
}

}  // namespace kojak
