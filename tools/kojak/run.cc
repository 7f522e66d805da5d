// kojak run: records a program, analyses its traces, and says where the report lies.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>

#include "epilog/format/io/run_file.h"
#include "tools/cli/cli.h"
#include "tools/cli/compression.h"
#include "tools/kojak/child.h"
#include "tools/kojak/commands.h"
#include "tools/kojak/find_mpi.h"
#include "tools/kojak/launch.h"
#include "tools/kojak/openmp_use.h"
#include "tools/kojak/places.h"
#include "tools/kojak/preload.h"
#include "tools/kojak/run_claim.h"
#include "tools/kojak/run_directory.h"
#include "tools/kojak/run_end.h"
#include "tools/kojak/run_worlds.h"

namespace kojak::run {
namespace {

namespace fs = std::filesystem;
namespace po = cli::po;

constexpr cli::ToolInfo kInfo{
    "kojak run", "[options] [--] COMMAND [ARGUMENTS...]",
    "Runs an MPI program, unchanged, under the measurement, analyses its traces, and "
    "says\n"
    "where the report lies. Standard output stays the program's; our messages go to stderr.\n"
    "The ELG_* environment variables are obeyed (kojak config lists them).",
    "kojak run -- mpirun -n 4 ./prog",
    "Exit status: that of COMMAND (128+N if signal N ended it), also if the analysis failed;\n"
    "1 wrong usage, 4 the traces have no place, 126 or 127 COMMAND cannot be run."};

struct Plan {
  std::vector<std::string> command;
  std::string mpi;
  std::string library;    // as LD_PRELOAD names it
  std::string directory;  // absolute
  std::string run_file;   // where the run's processes tell us something
  bool named = false;     // by the user: keeps its name
  std::string sample;     // between samples, or empty
  std::string metrics;    // counters, or empty
  bool source = true;
  std::optional<bool> causes;  // nothing: unless the trace is large
  bool full = false;           // all that expert can say
  bool analyse = true;
  bool discard = false;
  bool keep = false;                             // the merged trace
  Compression compression = Compression::kNone;  // of it
  bool verbose = false;
  bool otf2 = false, perfetto = false;  // written, too
  bool oshmem = false;                  // the program uses Open MPI's SHMEM
  bool prrte = false;                   // and is started by Open MPI 5 or later
  bool no_openmp = false;               // constructs of OpenMP are not recorded
  std::string openmp_folder;  // of LLVM's OpenMP library under the name of GCC's, or empty
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void say(const Plan& plan, const std::string& text) {
  if (plan.verbose) cli::print_note(text);
}

// With its own hooks for memory the SHMEM of Open MPI 4 ends every program with a fault in
// shmem_finalize, measured or not.
bool sets_memory_hooks(const Plan& plan) {
  return plan.oshmem && !plan.prrte && std::getenv("OMPI_MCA_memory") == nullptr;
}

// The settings that the program's processes need.
std::vector<std::string> settings(const Plan& plan) {
  const auto theirs = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  std::vector<std::string> all = {"LD_PRELOAD=" + preload_value(plan.library, theirs("LD_PRELOAD")),
                                  "ASAN_OPTIONS=" + asan_options(theirs("ASAN_OPTIONS")),
                                  "ELG_DIR=" + plan.directory,
                                  std::string(run_file::kVariable) + "=" + plan.run_file};
  if (sets_memory_hooks(plan)) all.emplace_back("OMPI_MCA_memory=^patcher");
  if (!plan.openmp_folder.empty()) {
    const char* const folders = std::getenv("LD_LIBRARY_PATH");
    all.push_back("LD_LIBRARY_PATH=" + plan.openmp_folder +
                  (folders != nullptr && *folders != '\0' ? std::string(":") + folders : ""));
  }
  if (plan.no_openmp) all.emplace_back("ELG_OPENMP=0");
  // The other settings, which a launcher need not hand to other nodes by itself.
  for (const char* name : {
#define KOJAK_SETTING(NAME, standard, values, doc) #NAME,
#include "epilog/runtime/config_table.def"
#undef KOJAK_SETTING
       }) {
    const char* const value = std::getenv(name);
    const bool given = std::string_view(name) == "ELG_DIR" ||
                       (std::string_view(name) == "ELG_OPENMP" && plan.no_openmp) ||
                       (std::string_view(name) == "ELG_SAMPLE" && !plan.sample.empty()) ||
                       (std::string_view(name) == "ELG_METRICS" && !plan.metrics.empty());
    if (value != nullptr && !given) all.push_back(std::string(name) + "=" + value);
  }
  if (!plan.sample.empty()) all.push_back("ELG_SAMPLE=" + plan.sample);
  if (!plan.metrics.empty()) all.push_back("ELG_METRICS=" + plan.metrics);
  return all;
}

// Runs the command; what it ended with.
ChildEnd record(const Plan& plan, const Launch& launch) {
  ChildOptions options;
  options.environment = launch.environment;
  for (const std::string& setting : options.environment) say(plan, setting);
  say(plan, "running " + joined(launch.command));
  ChildEnd end = run_child(launch.command, options);
  if (!end.failure.empty()) cli::print_error(end.failure + " (check the name; nothing was run)");
  return end;
}

// Runs one of our own programs beside us; its output goes to stderr, or where `both_to` says.
ExitCode run_tool_beside(const Plan& plan, std::vector<std::string> command, int both_to = -1) {
  command[0] = (cli::program_folder() / command[0]).string();
  if (cli::quiet()) command.insert(command.begin() + 1, "--quiet");
  say(plan, "running " + joined(command));
  ChildOptions options;
  options.stdout_to_stderr = true;
  options.both_to = both_to;
  const ChildEnd end = run_child(command, options);
  if (!end.failure.empty()) cli::print_error(end.failure + " (is kojak installed completely?)");
  return end.status >= 0 && end.status <= 4 ? static_cast<ExitCode>(end.status)
                                            : ExitCode::kOutputFailed;
}

std::string short_name(const std::string& path) {
  const std::string relative = fs::path(path).lexically_relative(fs::current_path()).string();
  if (relative.empty() || relative.starts_with("..")) return path;
  return relative.starts_with('-') ? "./" + relative : relative;  // no option of our programs
}

// Writes the trace in another format beside the report.
void convert(const Plan& plan, const char* tool, const std::string& trace,
             const std::string& output, const std::string& what) {
  const ExitCode code = run_tool_beside(plan, {tool, "-o", output, trace});
  if (code != ExitCode::kFine && code != ExitCode::kSuspect) {
    return cli::print_warning("the trace " + trace + " could not be written as " + output);
  }
  cli::print_note("the trace " + what + ": " + output);
}

// Analyses the traces in one directory. They are merged on the way; a merged trace is written only
// for who wants one. What the analysis says goes to stderr, or where `both_to` says.
void analyse(const Plan& plan, const std::string& directory, int both_to = -1) {
  const std::string place = short_name(directory);
  if (!plan.analyse) return cli::print_note("traces in " + place);
  const std::string trace = place + "/a" + cli::extension_of(plan.compression);
  const std::string report = place + "/a.cube", page = place + "/a.html";
  // Once the local traces are gone, the merged one is all that there is of the run's events.
  const bool keep = plan.keep || plan.discard;
  std::vector<std::string> command = {"expert", "--alone", "--files-told=" + place};
  if (plan.causes) command.emplace_back(*plan.causes ? "--causes" : "--causes=never");
  if (plan.full) command.emplace_back("--full");
  if (!plan.source) command.emplace_back("--no-source");
  if (keep || plan.otf2 || plan.perfetto) command.push_back("--keep=" + trace);
  if (plan.compression == Compression::kZstd) command.emplace_back("--zstd");
  if (plan.compression == Compression::kGzip) command.emplace_back("--gzip");
  command.insert(command.end(), {"-o", report, "--html", page, place});
  const ExitCode done = run_tool_beside(plan, command, both_to);
  if (done != ExitCode::kFine && done != ExitCode::kSuspect) {
    return cli::print_warning("the traces in " + place + " could not be analysed");
  }
  if (plan.otf2) convert(plan, "elg2otf2", trace, place + "/a.otf2", "as an OTF2 archive");
  if (plan.perfetto) convert(plan, "elg2perfetto", trace, place + "/a.pftrace", "for Perfetto");
  std::error_code ignored;
  if (!keep && (plan.otf2 || plan.perfetto)) fs::remove(trace, ignored);
  if (plan.discard && done == ExitCode::kFine) remove_local_traces(directory);
  if (both_to >= 0) return;  // then it stands in a list
  cli::print_note("the report is " + report + " (open it with CUBE)" +
                  (keep ? ", the trace " + trace : ""));
}

// Analyses the runs of a command that made several, and lists them.
void analyse_all(const Plan& plan, std::vector<WorldReport>& worlds) {
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    WorldReport& world = worlds[i];
    world.folder = short_name(world.folder);
    if (!plan.analyse) continue;
    cli::print_note("analysing " + world.folder + " (" + std::to_string(i + 1) + " of " +
                    std::to_string(worlds.size()) + ")");
    const int said = ::memfd_create("kojak", MFD_CLOEXEC);
    analyse(plan, world.folder, said);
    if (said >= 0) {
      char part[4096];
      ::lseek(said, 0, SEEK_SET);
      for (ssize_t got; (got = ::read(said, part, sizeof part)) > 0;) {
        world.said.append(part, static_cast<std::size_t>(got));
      }
      ::close(said);
    }
    read_numbers(world);
  }
  print_worlds(worlds);
}

void finish(const Plan& plan, const MpiUse& use, const ChildEnd& end, const RunClaim& claim) {
  const RunLines lines = claim.lines();
  std::vector<WorldReport> worlds = worlds_of(plan.directory, lines);
  const std::string ended = end_words(plan.command, use, end, lines, worlds);
  if (!worlds.empty()) {
    if (!ended.empty()) cli::print_warning(ended);
    for (WorldReport& world : worlds) {
      const bool ours = world.folder.compare(0, plan.directory.size(), plan.directory) == 0;
      if (!plan.named && ours) world.folder = give_final_name(world.folder, world.facts);
      RunClaim::tell_outer(world.folder);
    }
    if (worlds.size() == 1) {
      analyse(plan, worlds.front().folder);
    } else {
      analyse_all(plan, worlds);
    }
    if (use.armci == MpiUse::Armci::kLinked) {
      cli::print_note(
          "the program uses ARMCI; linked with $(elg_config --armci) in front of it, its calls are "
          "named");
    }
    // What some processes could not tell themselves is told when their last records are there.
    return tell_stopped(claim.lines());
  }
  std::error_code ignored;
  if (!plan.named) fs::remove(plan.directory, ignored);  // if it is empty
  if (!lines.inside.empty()) {
    return cli::print_note(
        "recorded by another kojak run in this one: " + short_name(lines.inside.front()) +
        (lines.inside.size() == 1 ? ""
                                  : " and " + std::to_string(lines.inside.size() - 1) + " more"));
  }
  std::string why;
  if (!lines.reasons.empty()) {
    why = lines.reasons.front();
  } else if (!lines.stopped.empty()) {
    why = lines.stopped.front().second + " (rank " + std::to_string(lines.stopped.front().first) +
          ")";
  } else if (!lines.worlds.empty()) {
    why = "the traces went to " + lines.worlds.front().folder +
          ", which holds none now: it was removed or renamed, or the program was ended before it "
          "could write";
  } else if (!lines.aborts.empty()) {
    why = "the program was ended before it could write";
  } else {
    why = why_no_trace(plan.command, use, ended, lines.programs);
  }
  if (!ended.empty() && why.find(ended) == std::string::npos) cli::print_warning(ended);
  cli::print_warning("no trace was written: " + why);
}

// Decides how OpenMP is recorded, and says what is not, or differs. `wish`: --openmp, or empty.
Status choose_openmp(Plan& plan, const MpiUse& use, const std::string& wish) {
  if (!wish.empty() && wish != "on" && wish != "off") {
    Error error;
    error.code = ExitCode::kUsage;
    error.reason = "--openmp " + wish + ": is neither on nor off";
    error.remedy = "leave it out, or say --openmp or --openmp=off";
    return error;
  }
  plan.no_openmp = wish == "off";
  if (plan.no_openmp || use.program.empty()) return {};
  const OpenMpLibrary library = openmp_of_program(use.program);
  if (library == OpenMpLibrary::kNone) {
    if (wish != "on") return {};
    cli::print_warning("--openmp: " + use.program +
                       " is linked with no OpenMP library that is known here (GCC's libgomp, "
                       "LLVM's libomp); one that it opens while it runs is recorded");
  }
  if (const std::string objection = openmp_objection(); !objection.empty()) {
    cli::print_warning("OpenMP is not recorded: " + objection);
    return {};
  }
  if (library == OpenMpLibrary::kLlvm) return {};
  if (wish != "on") {
    cli::print_note(
        "OpenMP is not recorded: the program uses GCC's OpenMP library, which tells tools "
        "nothing (kojak run --openmp runs it on LLVM's)");
    return {};
  }
  plan.openmp_folder = folder_for_gcc_programs();
  if (plan.openmp_folder.empty()) {
    Error error;
    error.code = ExitCode::kUsage;
    error.reason =
        "--openmp: LLVM's OpenMP library is not on this machine, or was not there when "
        "kojak was built";
    error.remedy = "install it (package libomp-dev) and build kojak again, or leave --openmp out";
    return error;
  }
  cli::print_note(
      "the program, built for GCC's OpenMP library, runs on LLVM's: schedules may give iterations "
      "to other threads, GOMP_ variables have no effect, waiting threads spin for 0.2 s "
      "(KMP_BLOCKTIME), nothing is offloaded to devices");
  return {};
}

// Runs a program whose MPI is none: with the measurement library it would have two.
int run_unrecorded(const Plan& plan, const MpiUse& use) {
  const std::string name = fs::path(use.stand_in).filename().string();
  if (use.abi) {
    cli::print_warning("nothing is recorded: " + use.stand_in_program +
                       " is built for the interface of MPI 5 (" + name +
                       "), which no measurement library of this kojak knows");
  } else {
    cli::print_warning("nothing is recorded: MPI_Init of " + use.stand_in_program + " is " +
                       (use.stand_in == use.stand_in_program ? "its own" : "that of " + name) +
                       ", which is no MPI that is known here (it has no PMPI_Init)");
  }
  const ChildEnd end = run_child(plan.command, {});
  if (!end.failure.empty()) cli::print_error(end.failure + " (check the name; nothing was run)");
  return end.status;
}

int body(const po::variables_map& values) {
  Plan plan;
  if (values.count("command") == 0) {
    return static_cast<int>(cli::usage_error("give a command to run"));
  }
  plan.command = values["command"].as<std::vector<std::string>>();
  plan.analyse = values.count("no-analysis") == 0;
  if (values.count("metrics") != 0) plan.metrics = values["metrics"].as<std::string>();
  if (values.count("sample") != 0) plan.sample = values["sample"].as<std::string>();
  const char* const sampled = std::getenv("ELG_SAMPLE");
  plan.source = values.count("no-source") == 0;
  if (values.count("no-causes") != 0) {
    plan.causes = false;
  } else if (values.count("causes") != 0 || !plan.sample.empty() ||
             (sampled != nullptr && *sampled != '\0')) {
    plan.causes = true;
  }
  plan.full = values.count("full") != 0;
  plan.discard = values.count("discard-local") != 0;
  plan.keep = values.count("keep") != 0;
  plan.verbose = values.count("verbose") != 0;
  plan.otf2 = values.count("otf2") != 0;
  plan.perfetto = values.count("perfetto") != 0;
  if (!plan.analyse && (plan.keep || plan.otf2 || plan.perfetto)) {
    return static_cast<int>(
        cli::usage_error("--keep, --otf2 and --perfetto are about the merged "
                         "trace, which --no-analysis leaves out"));
  }
  const auto compression = cli::compression_of(values);
  if (!compression) return static_cast<int>(cli::usage_error(cli::kTwoCompressions));
  plan.compression = *compression;
  if (plan.compression != Compression::kNone && !plan.keep && !plan.discard) {
    return static_cast<int>(cli::usage_error(
        "--zstd and --gzip compress the merged trace that --keep or --discard-local keeps"));
  }
  if (plan.otf2 && !fs::exists(cli::program_folder() / "elg2otf2")) {
    return static_cast<int>(cli::usage_error(
        "--otf2: this kojak was built without the OTF2 library (package libotf2-trace-dev)"));
  }

  const MpiUse use = find_mpi(plan.command);
  if (!use.stand_in.empty()) return run_unrecorded(plan, use);
  plan.mpi = use.mpi.empty() ? KOJAK_DEFAULT_MPI : use.mpi;
  if (values.count("mpi") != 0) plan.mpi = values["mpi"].as<std::string>();
  std::string library = use.only_gasp      ? find_base_library()
                        : use.uses_shmem() ? find_shmem_library(plan.mpi)
                                           : find_library(plan.mpi);
  plan.oshmem = use.uses_oshmem();
  plan.prrte = use.prrte;
  if (library.empty()) {
    cli::print_error("there is no measurement library for the MPI \"" + plan.mpi +
                     "\" (this kojak was built for: " KOJAK_MPI_NAMES "; choose with --mpi)");
    return static_cast<int>(ExitCode::kUsage);
  }
  if (!use.program.empty() && !use.launched.empty() && use.launched != use.mpi) {
    cli::print_warning(use.program + " is linked with " + use.mpi + ", but " +
                       plan.command[*use.launcher] + " belongs to " + use.launched +
                       ": each process may run alone");
  }
  const std::string openmp =
      values.count("openmp") != 0 ? values["openmp"].as<std::string>() : std::string();
  if (Status status = choose_openmp(plan, use, openmp); !status)
    return static_cast<int>(cli::failed(status.error()));
  // Within another `kojak run`, ELG_DIR names that one's folder.
  const char* const wish = RunClaim::outer().empty() ? std::getenv("ELG_DIR") : nullptr;
  std::string directory = wish != nullptr ? wish : "";
  if (values.count("output") != 0) directory = values["output"].as<std::string>();
  plan.named = !directory.empty();
  plan.directory = plan.named ? fs::absolute(directory).lexically_normal().string() : unused_name();
  if (plan.directory.size() > 1 && plan.directory.back() == '/') plan.directory.pop_back();
  for (const auto check : {check_kind, check_writable}) {
    if (Status status = check(plan.directory); !status)
      return static_cast<int>(cli::failed(status.error()));
  }
  const auto claim = RunClaim::take(plan.directory);
  if (!claim) return static_cast<int>(cli::failed(claim.error()));
  if (Status status = check_free(plan.directory); !status)
    return static_cast<int>(cli::failed(status.error()));
  plan.run_file = claim->path();
  if (!claim->taken_from().empty()) {
    cli::print_note(short_name(plan.directory) + ": taken over from " + claim->taken_from() +
                    ", which is gone");
  }
  Preload preload;
  if (Status status = preload.use(library); !status)
    return static_cast<int>(cli::failed(status.error()));
  plan.library = preload.path();
  Preload armci;
  if (use.armci == MpiUse::Armci::kShared && !find_armci_library().empty()) {
    if (Status status = armci.use(find_armci_library()); !status)
      return static_cast<int>(cli::failed(status.error()));
    plan.library += ":" + armci.path();
  }
  if (sets_memory_hooks(plan)) {
    cli::print_note(
        "OMPI_MCA_memory=^patcher is set for the program: without it Open MPI's SHMEM ends every "
        "program with a fault in shmem_finalize (status 139), measured or not");
  }
  if (preload.linked()) say(plan, library + " is preloaded as " + plan.library);
  say(plan, (use.only_gasp ? "no MPI" : "MPI: " + plan.mpi) +
                (use.uses_shmem() ? ", SHMEM: " + use.shmem : "") +
                (use.armci == MpiUse::Armci::kNone || use.armci == MpiUse::Armci::kLinked
                     ? ""
                     : ", ARMCI (libelg_armci " KOJAK_VERSION ")") +
                (use.gasp ? ", UPC (libelg_gasp " KOJAK_VERSION ")" : "") +
                (use.program.empty() ? "" : " (" + use.program + ")"));
  const auto launch = make_launch(plan.command, use, plan.library, settings(plan));
  if (!launch) return static_cast<int>(cli::failed(launch.error()));
  const ChildEnd end = record(plan, *launch);
  if (end.failure.empty()) finish(plan, use, end, *claim);
  return end.status;
}

}  // namespace

int run_command(int argc, char** argv) {
  cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", po::value<std::string>()->value_name("DIR"),
      "where traces and report go (default: $ELG_DIR, else elg_<program>_<processes>)")(
      "mpi", po::value<std::string>()->value_name("NAME"),
      "the program's MPI, where it cannot be found out: " KOJAK_MPI_NAMES)(
      "sample", po::value<std::string>()->implicit_value("10ms")->value_name("INTERVAL"),
      "also record what each thread computes, once in 10ms or INTERVAL of its time (ELG_SAMPLE): "
      "reports name functions and lines of what makes others wait")(
      "metrics", po::value<std::string>()->value_name("LIST"),
      "read these counters, too (ELG_METRICS): PAPI_TOT_INS, perf::PAGE-FAULTS, ru_minflt, ...")(
      "openmp", po::value<std::string>()->implicit_value("on")->value_name("on|off"),
      "record OpenMP of programs built for GCC's OpenMP library, too: run them on LLVM's; off: "
      "none")("causes", "find causes also in more than 12 million events")(
      "no-causes", "do not say who made the others wait")("full",
                                                          "print all that the analysis says")(
      "no-source", "no lines of the program's source on the page")("no-analysis", "record only")(
      "keep", "keep the merged trace, too: a.elg")(
      "discard-local",
      "keep the merged trace and remove the local ones, unless something is wrong with them");
  cli::add_compression_of_kept(options.visible);
  options.visible.add_options()("otf2", "write the trace as an OTF2 archive, too")(
      "perfetto", "write the trace for Perfetto's viewer, too")("verbose,v",
                                                                "say what is run and how");
  options.hidden.add_options()("command", po::value<std::vector<std::string>>(), "");
  options.positional.add("command", -1);
  options.stop_at_positional = true;
  return cli::run_tool_with_status(argc, argv, kInfo, options, body);
}

}  // namespace kojak::run
