#include "tools/kojak/find_mpi.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "tools/kojak/elf_needs.h"

namespace kojak::run {
namespace {

namespace fs = std::filesystem;

// More libraries than any program has: a circle or damage otherwise.
constexpr std::size_t kMostLibraries = 500;

bool starts_with_any(const std::string& name, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.rfind(prefix, 0) == 0; });
}

// The interface of MPI 5, which no measurement library knows, whichever MPI has it.
bool is_mpi_abi(const std::string& name) {
  return starts_with_any(name, {"libmpi_abi.so"});
}

// The MPI whose library has this name. libmpi.so.12 is the name that MPICH and its relatives agreed
// upon; Open MPI's is libmpi.so.40.
std::string mpi_of_library(const std::string& name) {
  if (is_mpi_abi(name)) return "";
  if (starts_with_any(name, {"libmpich", "libmpi.so.12", "libmpifort.so.12", "libmpicxx.so.12"})) {
    return "mpich";
  }
  if (starts_with_any(name, {"libmpi.so", "libmpi_", "liboshmem.so", "libmpi-"})) return "openmpi";
  return "";
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

// Where the dynamic linker would look, nearly.
std::vector<std::string> search_path(const ElfNeeds& needs, const std::string& file) {
  std::vector<std::string> path;
  const std::string origin = fs::path(file).parent_path().string();
  for (std::string folder : split(needs.run_path, ':')) {
    for (const char* name : {"$ORIGIN", "${ORIGIN}"}) {
      const std::size_t at = folder.find(name);
      if (at != std::string::npos) folder.replace(at, std::string(name).size(), origin);
    }
    path.push_back(folder);
  }
  if (const char* more = std::getenv("LD_LIBRARY_PATH")) {
    for (std::string& folder : split(more, ':')) path.push_back(std::move(folder));
  }
  for (const char* folder : {"/usr/local/lib", "/lib/" KOJAK_MULTIARCH, "/usr/lib/" KOJAK_MULTIARCH,
                             "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
    path.emplace_back(folder);
  }
  return path;
}

// mpirun, mpirun.openmpi, mpiexec.hydra ...
bool is_launcher_name(const std::string& name) {
  return starts_with_any(name, {"mpirun", "mpiexec", "orterun", "prterun", "oshrun"});
}

std::string launcher_mpi(const std::string& word) {
  if (!is_launcher_name(fs::path(word).filename().string())) return "";
  const std::string path = find_executable(word);
  if (path.empty()) return "";
  std::error_code ignored;
  const std::string real = fs::canonical(path, ignored).filename().string();
  if (starts_with_any(real, {"orterun", "prterun"}) || real.find("openmpi") != std::string::npos) {
    return "openmpi";
  }
  if (real.find("hydra") != std::string::npos || real.find("mpich") != std::string::npos) {
    return "mpich";
  }
  for (const std::string& library : read_elf_needs(path).libraries) {
    if (starts_with_any(library, {"libopen-rte", "libopen-pal", "libprrte", "libpmix"})) {
      return "openmpi";
    }
  }
  return "";
}

// Open MPI's launcher from version 5 on, which is PRRTE: none of Open MPI's own runtime is in it.
bool is_prrte(const std::string& word) {
  const ElfNeeds needs = read_elf_needs(find_executable(word));
  return needs.elf && std::none_of(needs.libraries.begin(), needs.libraries.end(),
                                   [](const std::string& library) {
                                     return starts_with_any(library, {"libopen-rte"});
                                   });
}

}  // namespace

std::string find_executable(const std::string& word) {
  if (word.find('/') != std::string::npos) {
    return ::access(word.c_str(), X_OK) == 0 && !fs::is_directory(word) ? word : "";
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    const std::string file = folder + "/" + word;
    std::error_code ignored;
    if (::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, ignored)) return file;
  }
  return "";
}

namespace {

// Goes through an ELF file and those that it needs, as the dynamic linker finds them, until `stop`
// says so.
void for_each_needed_file(const std::string& path,
                          const std::function<bool(const std::string&, const ElfNeeds&)>& stop) {
  std::set<std::string> seen;
  std::vector<std::string> files{path};
  for (std::size_t i = 0; i < files.size() && i < kMostLibraries; ++i) {
    const ElfNeeds needs = read_elf_needs(files[i]);
    if (stop(files[i], needs)) return;
    for (const std::string& library : needs.libraries) {
      if (!seen.insert(library).second) continue;
      for (const std::string& folder : search_path(needs, files[i])) {
        std::error_code ignored;
        const std::string file = folder + "/" + library;
        if (!fs::is_regular_file(file, ignored)) continue;
        files.push_back(file);
        break;
      }
    }
  }
}

}  // namespace

void for_each_needed_library(const std::string& path,
                             const std::function<bool(const std::string&)>& stop) {
  for_each_needed_file(path, [&](const std::string&, const ElfNeeds& needs) {
    return std::any_of(needs.libraries.begin(), needs.libraries.end(), stop);
  });
}

std::string mpi_of_program(const std::string& path) {
  std::string mpi;
  for_each_needed_library(path, [&](const std::string& library) {
    mpi = mpi_of_library(library);
    return !mpi.empty() || is_mpi_abi(library);
  });
  return mpi;
}

namespace {

// It may be linked in front of the library, and has the names, too.
bool is_our_library(const std::string& path) {
  return starts_with_any(fs::path(path).filename().string(), {"libelg_"});
}

// The file that has the OpenSHMEM which a program or a library of its own calls, or empty.
std::string shmem_of_program(const std::string& path) {
  std::string found;
  bool called = false;
  if (!read_elf_needs(path).dynamic) return found;
  for_each_needed_file(path, [&](const std::string& file, const ElfNeeds&) {
    if (is_our_library(file)) return false;
    const ShmemEntries entries = read_shmem_entries(file);
    called = called || (entries.calls && !entries.has);
    if (entries.has && file != path && found.empty()) found = file;
    return false;
  });
  return called ? found : "";
}

MpiUse::Armci armci_of(const std::string& path) {
  const ElfNeeds needs = read_elf_needs(path);
  if (needs.armci_front) return MpiUse::Armci::kFront;
  if (needs.armci) return MpiUse::Armci::kLinked;
  bool shared = false;
  for_each_needed_library(path, [&](const std::string& library) {
    shared = starts_with_any(fs::path(library).filename().string(), {"libarmci"});
    return shared;
  });
  return shared ? MpiUse::Armci::kShared : MpiUse::Armci::kNone;
}

// The library of MPI 5's interface that a program needs, before any other MPI; or empty.
std::string abi_of_program(const std::string& path) {
  std::string abi;
  for_each_needed_library(path, [&](const std::string& library) {
    if (is_mpi_abi(library)) abi = library;
    return !abi.empty() || !mpi_of_library(library).empty();
  });
  return abi;
}

// The file that stands in for MPI in a program that needs no MPI that is known, or empty.
std::string stand_in_of(const std::string& program) {
  std::string found;
  if (!read_elf_needs(program).dynamic) return found;
  for_each_needed_file(program, [&](const std::string& file, const ElfNeeds&) {
    const MpiEntries entries = read_mpi_entries(file);
    if (entries.init && found.empty()) found = file;
    if (entries.profiled_init) found.clear();  // an MPI that is not known here
    return entries.profiled_init;
  });
  return found;
}

}  // namespace

bool MpiUse::uses_oshmem() const {
  return starts_with_any(fs::path(shmem).filename().string(), {"liboshmem.so"});
}

MpiUse find_mpi(const std::vector<std::string>& command) {
  MpiUse use;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (!use.launcher) {
      if (std::string mpi = launcher_mpi(word); !mpi.empty()) {
        use.launcher = i;
        use.launched = mpi;
        use.prrte = mpi == "openmpi" && is_prrte(word);
        continue;
      }
    }
    // Bare words behind the first are arguments more often than programs, but a launcher's program
    // may be one.
    if (word.empty() || word[0] == '-') continue;
    const std::string path = find_executable(word);
    if (path.empty()) continue;
    use.mpi = mpi_of_program(path);
    use.shmem = shmem_of_program(path);
    use.gasp = read_elf_needs(path).gasp_front;
    if (!use.mpi.empty() || use.uses_shmem() || use.gasp) {
      use.only_gasp = use.mpi.empty() && !use.uses_shmem();
      use.program = path;
      use.armci = armci_of(path);
      break;
    }
  }
  for (std::size_t i = 0; use.program.empty() && i < command.size(); ++i) {
    if (use.launcher == i || command[i].empty() || command[i][0] == '-') continue;
    const std::string path = find_executable(command[i]);
    if (path.empty()) continue;
    use.stand_in = abi_of_program(path);
    use.abi = !use.stand_in.empty();
    if (!use.abi) use.stand_in = stand_in_of(path);
    use.stand_in_program = path;
    if (!use.stand_in.empty()) break;
  }
  if (use.mpi.empty()) use.mpi = use.launched;
  return use;
}

namespace {

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// What starts programs, and what scripts call: none of them is the program that was to be recorded.
bool is_helper(const std::string& name) {
  static const std::set<std::string> kHelpers = {
      "ash",      "bash",     "busybox", "csh",
      "dash",     "ksh",      "sh",      "tcsh",
      "zsh",      "cmake",    "ctest",   "make",
      "gmake",    "ninja",    "env",     "nice",
      "nohup",    "numactl",  "perl",    "setsid",
      "srun",     "stdbuf",   "sudo",    "su",
      "taskset",  "time",     "timeout", "xargs",
      "orted",    "prte",     "prted",   "hydra_pmi_proxy",
      "awk",      "basename", "cat",     "chmod",
      "cp",       "date",     "dirname", "echo",
      "expr",     "gawk",     "grep",    "head",
      "hostname", "id",       "kill",    "ln",
      "ls",       "mawk",     "mkdir",   "mktemp",
      "mv",       "ps",       "pwd",     "rm",
      "rmdir",    "sed",      "seq",     "sleep",
      "sort",     "ssh",      "tail",    "tee",
      "test",     "touch",    "tr",      "uname",
      "uniq",     "wc",       "which"};
  return is_launcher_name(name) || kHelpers.count(name) != 0;
}

// By what a program is recorded.
enum class Uses : std::uint8_t { kMpi, kShmem, kGasp };

// What is known without the command's files: whether the library was in a program at all.
std::string why_not_reached(const std::string& program, const std::string& end,
                            const std::vector<std::string>& loaded, Uses uses = Uses::kMpi) {
  std::string own;  // a program that had it and is no helper
  for (const std::string& name : loaded) {
    if (program.empty() ? !is_helper(name) : name == base_name(program)) own = name;
  }
  if (!own.empty() && uses == Uses::kGasp) {
    return own +
           " told of no event, or ended before: is it compiled for it (gupc -fupc-instrument, upcc "
           "--inst)?";
  }
  if (!own.empty() && uses == Uses::kShmem) {
    return own +
           " did not call shmem_init, or ended before it came back, or takes SHMEM from a handle "
           "(dlsym, RTLD_DEEPBIND)";
  }
  if (!own.empty()) {
    return own +
           " called no MPI_Init, or ended before it had succeeded, or takes MPI from a handle "
           "(dlsym, RTLD_DEEPBIND), or has another tool in front that keeps MPI_Init to itself";
  }
  if (!end.empty()) {
    return end +
           " before a process with the measurement library had started (its own message is "
           "above)";
  }
  return (program.empty() ? "no MPI program was" : program + " was not") +
         std::string(
             " started with the measurement library: what the command starts is none, "
             "or something on the way sets or unsets LD_PRELOAD (env, sudo, containers, a "
             "script), or it ran on nodes that do not see this folder; put kojak run "
             "inside, directly before the launcher");
}

}  // namespace

std::string why_no_trace(const std::vector<std::string>& command, const MpiUse& use,
                         const std::string& end, const std::vector<std::string>& loaded) {
  // The program: what is linked with MPI, else the last word but its arguments that names an ELF
  // file.
  std::string program = use.program;
  if (program.empty()) {
    for (std::size_t i = use.launcher ? *use.launcher + 1 : 0; i < command.size(); ++i) {
      if (command[i].empty() || command[i][0] == '-') continue;
      const std::string path = find_executable(command[i]);
      if (!path.empty() && read_elf_needs(path).elf) {
        program = path;
        break;
      }
    }
  }
  if (program.empty()) {
    return (end.empty() ? "the command names no program file that could be looked into; " : "") +
           why_not_reached("", end, loaded);
  }
  const ElfNeeds needs = read_elf_needs(program);
  if (!needs.dynamic) {
    return needs.mpi
               ? program +
                     " is linked statically, so that no library can be preloaded: link it with "
                     "$(elg_config --static) in front of the MPI"
               : program + " is linked statically and names no MPI function";
  }
  if (needs.shmem && !needs.mpi && !use.uses_shmem()) {
    return program +
           " has its OpenSHMEM linked in, or opens it while it runs (no library that it needs has "
           "shmem_init): link it with $(elg_config --shmem --libs) in front of the SHMEM library";
  }
  if (use.program.empty()) {
    return program +
           " is not linked with an MPI library that is known here; if it loads one while it runs, "
           "name that "
           "with --mpi";
  }
  if (use.only_gasp) return why_not_reached(program, end, loaded, Uses::kGasp);
  const bool only_shmem = use.uses_shmem() && mpi_of_program(program).empty();
  if (!only_shmem && !use.launched.empty() && use.launched != use.mpi) {
    return program + " is linked with " + use.mpi + ", and was started by " + use.launched +
           "'s launcher: use that of its own MPI";
  }
  return why_not_reached(program, end, loaded, only_shmem ? Uses::kShmem : Uses::kMpi);
}

}  // namespace kojak::run
