#include "tools/kojak/preload.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace kojak::run {

namespace fs = std::filesystem;

Status Preload::use(const std::string& library) {
  path_ = library;
  if (library.find_first_of(" \t\n:") == std::string::npos) return {};
  Error error;
  error.code = ExitCode::kOutputFailed;
  error.file = library;
  error.remedy = "install kojak under a path without blanks and colons";
  char name[] = "/tmp/kojak-XXXXXX";
  if (::mkdtemp(name) == nullptr) {
    error.reason = std::string("cannot be preloaded: no link to it can be made in /tmp (") +
                   std::strerror(errno) + ")";
    return error;
  }
  directory_ = name;
  const fs::path file = library;
  const std::string link = directory_ + "/lib";
  if (::symlink(file.parent_path().c_str(), link.c_str()) != 0) {
    error.reason = std::string("cannot be preloaded: ") + link + ": " + std::strerror(errno);
    return error;
  }
  path_ = link + "/" + file.filename().string();
  return {};
}

Preload::~Preload() {
  if (directory_.empty()) return;
  ::unlink((directory_ + "/lib").c_str());
  ::rmdir(directory_.c_str());
}

}  // namespace kojak::run
