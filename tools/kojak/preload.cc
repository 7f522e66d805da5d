#include "tools/kojak/preload.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace kojak::run {

namespace fs = std::filesystem;

Status Preload::use(const std::string& library) {
  path_ = library;
  if (library.find_first_of(" \t\n:") == std::string::npos) return {};
  const char* const remedy = "install kojak under a path without blanks and colons";
  auto directory = TemporaryFolder::create("/tmp", "kojak-");
  if (!directory) {
    Error error = directory.error();
    error.reason = "no link to a library that is to be preloaded can be made: " + error.reason;
    error.remedy = remedy;
    return error;
  }
  directory_.emplace(std::move(*directory));
  const fs::path file = library;
  const std::string link = directory_->path() + "/lib";
  if (::symlink(file.parent_path().c_str(), link.c_str()) != 0) {
    Error error;
    error.code = ExitCode::kOutputFailed;
    error.file = library;
    error.reason = std::string("cannot be preloaded: ") + link + ": " + std::strerror(errno);
    error.remedy = remedy;
    return error;
  }
  path_ = link + "/" + file.filename().string();
  return {};
}

}  // namespace kojak::run
