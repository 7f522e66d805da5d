#include "tools/kojak/run_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <span>

#include "epilog/format/definitions.h"
#include "epilog/format/io/local_buffer.h"
#include "epilog/format/run_property_keys.h"

namespace kojak::run {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNames = 10000;

// Local traces are <rank>.<thread>.elg, their buffers .buf.
bool is_local_name(const fs::path& path, const char* extension) {
  const std::string name = path.filename().string();
  if (path.extension() != extension) return false;
  return name.find_first_not_of("0123456789.") == name.rfind(extension) + 1;
}

std::vector<fs::path> entries(const std::string& directory) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    result.push_back(it->path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

// The run's size, and the name of the region that everything else is in.
std::optional<RunFacts> facts_of(const std::string& trace) {
  auto source = open_local_source(trace);
  if (!source) return std::nullopt;
  auto reader = TraceReader::from(std::move(*source), trace);
  if (!reader) return std::nullopt;
  Definitions definitions;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (is_definition(record.type)) {
      (void)definitions.add(record, reader->dialect()).ok();
      if (!definitions.local_run) return std::nullopt;
      continue;
    }
    if (record.type != static_cast<std::uint8_t>(RecordType::kEnter)) continue;
    Enter enter;
    if (decode(record, reader->dialect(), enter) != nullptr) return std::nullopt;
    RunFacts facts;
    if (const RegionDef* root = definitions.regions.find(enter.rid)) facts.program = root->name;
    facts.processes = raw(definitions.local_run->size);
    definitions.properties.for_each(
        [&](const std::string& key, ProcessId, const std::string& value) {
          if (key == run_property::kCommand) facts.command = value;
        });
    return facts;
  }
  return std::nullopt;
}

}  // namespace

std::optional<RunFacts> read_run_facts(const std::string& directory) {
  for (const fs::path& path : entries(directory)) {
    if (!is_local_name(path, ".elg")) continue;
    if (auto facts = facts_of(path.string())) return facts;
  }
  return std::nullopt;
}

bool holds_traces(const std::string& directory) {
  const std::vector<fs::path> all = entries(directory);
  return std::any_of(all.begin(), all.end(), [](const fs::path& path) {
    return path.extension() == ".elg" || path.extension() == ".buf";
  });
}

Status check_kind(const std::string& directory) {
  std::error_code ignored;
  const fs::file_status status = fs::status(directory, ignored);
  if (!fs::exists(status) || fs::is_directory(status)) return {};
  Error error;
  error.code = ExitCode::kOutputFailed;
  error.file = directory;
  error.reason = "is no directory";
  error.remedy = "name another place for the traces with -o";
  return error;
}

Status check_free(const std::string& directory) {
  if (!holds_traces(directory)) return {};
  Error error;
  error.code = ExitCode::kOutputFailed;
  error.file = directory;
  error.reason = "holds traces already";
  error.remedy = "remove it, or name another place with -o";
  return error;
}

// Writes all of it; 0, or why it cannot be written: a first part may fit where the rest does not.
static int write_all(int fd, std::span<const char> bytes) {
  // A limit to the size of files (ulimit -f) sends a signal, too.
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  int failed = 0;
  while (!bytes.empty() && failed == 0) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      failed = written == 0 ? ENOSPC : errno;
    }
  }
  if (before != SIG_ERR) std::signal(SIGXFSZ, before);
  return failed;
}

Status check_writable(const std::string& directory) {
  Error error;
  error.code = ExitCode::kOutputFailed;
  error.file = directory;
  error.remedy = "nothing was run; name another place for the traces with -o";
  // What is there already: the directory, or the nearest one above it.
  fs::path place = directory;
  std::error_code ignored;
  while (!fs::exists(fs::symlink_status(place, ignored)) && place.has_relative_path())
    place = place.parent_path();
  if (!fs::is_directory(place, ignored)) {
    error.reason = "cannot be made: " + place.string() + " is no directory";
    return error;
  }
  std::string name = (place / ".kojak-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  int failed = fd < 0 ? errno : 0;
  if (fd >= 0) {
    constexpr std::size_t kSome =
        65536;  // more than what a full disk may still have in its last block
    const std::vector<char> some(kSome, 'x');
    failed = write_all(fd, some);
    if (::close(fd) != 0 && failed == 0) failed = errno;
    ::unlink(name.c_str());
  }
  if (failed == 0) return {};
  error.reason = "traces cannot be written in " + place.string() + ": " + std::strerror(failed);
  return error;
}

std::string unused_name() {
  const std::string base =
      (fs::current_path() / ("elg_run." + std::to_string(::getpid()))).string();
  std::string name = base;
  for (int i = 2; fs::exists(name) || fs::exists(name + ".lock"); ++i)
    name = base + "-" + std::to_string(i);
  return name;
}

std::string give_final_name(const std::string& directory, const RunFacts& facts) {
  std::string program = facts.program.empty() ? "program" : facts.program;
  std::replace(program.begin(), program.end(), '/', '_');
  const fs::path parent = fs::path(directory).parent_path();
  const std::string base =
      (parent / ("elg_" + program + "_" + std::to_string(facts.processes))).string();
  for (int i = 1; i < kMostNames; ++i) {
    const std::string name = i == 1 ? base : base + "." + std::to_string(i);
    if (::renameat2(AT_FDCWD, directory.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0) {
      return name;
    }
    if (errno == EEXIST || errno == ENOTEMPTY) continue;
    // A file system that cannot rename so: the name may be taken between the two calls, and then
    // rename fails unless it is an empty directory.
    if ((errno == EINVAL || errno == ENOSYS) && !fs::exists(name) &&
        ::rename(directory.c_str(), name.c_str()) == 0) {
      return name;
    }
    break;
  }
  return directory;
}

bool has_unended_trace(const std::string& directory) {
  const std::vector<fs::path> all = entries(directory);
  return std::any_of(all.begin(), all.end(),
                     [](const fs::path& path) { return is_local_name(path, ".buf"); });
}

void remove_local_traces(const std::string& directory) {
  for (const fs::path& path : entries(directory)) {
    std::error_code ignored;
    if (is_local_name(path, ".elg") || is_local_name(path, ".buf")) fs::remove(path, ignored);
  }
}

}  // namespace kojak::run
