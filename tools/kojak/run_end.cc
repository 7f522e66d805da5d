#include "tools/kojak/run_end.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "tools/cli/cli.h"

namespace kojak::run {
namespace {

namespace fs = std::filesystem;

std::string signal_words(int signal) {
  const char* const name = sigabbrev_np(signal);
  return "signal " + std::to_string(signal) + (name != nullptr ? std::string(", SIG") + name : "");
}

// The signal that a launcher's status may stand for: 128 + n, by MPICH's launcher n alone. Programs
// that end themselves give such numbers, too.
int signal_like(const std::vector<std::string>& command, int status, const MpiUse& use) {
  constexpr int kThatEndPrograms[] = {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGTERM};
  const bool bare = use.mpi == "mpich" && find_executable(command[0]) != use.program;
  const int signal = status > 128 ? status - 128 : (bare ? status : 0);
  const auto* const end = std::end(kThatEndPrograms);
  return std::find(std::begin(kThatEndPrograms), end, signal) != end ? signal : 0;
}

}  // namespace

std::string end_words(const std::vector<std::string>& command, const MpiUse& use,
                      const ChildEnd& end, const RunLines& lines,
                      const std::vector<WorldReport>& worlds) {
  const std::string name = fs::path(command[0]).filename().string();
  if (end.signal != 0) return name + " was ended by " + signal_words(end.signal);
  if (end.status == 0) return "";
  std::string text = name + " ended with status " + std::to_string(end.status);
  if (!lines.aborts.empty()) {
    const auto& [rank, code] = lines.aborts.front();
    text += ": rank " + std::to_string(rank) + " called MPI_Abort(" + code + ")";
    if (lines.aborts.size() > 1) {
      text += ", and so did " + std::to_string(lines.aborts.size() - 1) + " more";
    }
  } else if (const int signal = signal_like(command, end.status, use);
             signal != 0 && std::any_of(worlds.begin(), worlds.end(), [](const WorldReport& world) {
               return has_unended_trace(world.folder);
             })) {
    text += " (as after " + signal_words(signal) + ")";
  }
  return text;
}

void tell_stopped(const RunLines& lines) {
  if (lines.stopped.empty()) return;
  const auto& [rank, why] = lines.stopped.front();
  const std::size_t more = lines.stopped.size() - 1;
  cli::print_warning("the recording of rank " + std::to_string(rank) +
                     " stopped before the program's end: " + why +
                     (more == 0 ? "" : "; so did that of " + std::to_string(more) + " more"));
}

}  // namespace kojak::run
