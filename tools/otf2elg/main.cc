// otf2elg: an OTF2 archive, as Score-P and others write it, becomes a merged trace of kojak.
//
// Each location becomes a local trace in a folder beside the output; the merge makes one trace of
// them, and completes the one-sided operations as in traces of our own.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "epilog/format/io/temporary_files.h"
#include "merge/merge.h"
#include "tools/cli/cli.h"
#include "tools/cli/messages.h"
#include "tools/elg2otf2/carried.h"
#include "tools/otf2elg/converter.h"
#include "tools/otf2elg/own_archive.h"

namespace {

namespace cli = kojak::cli;
namespace merge = kojak::merge;
namespace otf2 = kojak::otf2;
using kojak::Error;
using kojak::ExitCode;
using kojak::Result;
using kojak::Status;

constexpr cli::ToolInfo kTool = {
    "otf2elg", "[options] ARCHIVE/traces.otf2",
    "Converts an OTF2 archive, as Score-P writes it, into a trace for expert.",
    "otf2elg -o a.elg scorep-run/traces.otf2", nullptr};

// Where the local traces go: beside the output.
Result<kojak::TemporaryFolder> folder_beside(const std::string& output) {
  const char* given = ::secure_getenv("TMPDIR");
  const std::string place = output == "-" ? (given != nullptr ? given : "/tmp")
                                          : std::filesystem::path(output).parent_path().string();
  return kojak::TemporaryFolder::create(place, ".otf2elg-");
}

// Until version 8 Score-P wrote how many elements an atomic operation has, not how many bytes.
bool atomics_in_elements(const std::string& creator) {
  constexpr std::string_view kName = "Score-P ";
  return creator.starts_with(kName) && std::atoi(creator.c_str() + kName.size()) < 8;
}

struct Outcome {
  otf2::LeftOut left_out;
  bool damaged = false;
};

// What was wrong with the trace that elg2otf2 made the archive of. Whether anything was.
bool print_faults(const otf2::ArchiveDefinitions& archive) {
  const auto known = archive.properties.find(otf2::kFaultsProperty);
  if (known == archive.properties.end()) return false;
  std::istringstream faults(known->second);
  for (std::string fault; std::getline(faults, fault);) {
    cli::print_warning("the trace that the archive was made of was damaged: " + fault);
  }
  return true;
}

Result<Outcome> write_local_traces(otf2::Archive& archive, const std::string& folder) {
  Outcome outcome;
  const otf2::ArchiveDefinitions& definitions = archive.definitions();
  cli::Progress progress("reading the archive", archive.events());
  std::uint64_t done = 0;
  OTF2_EvtReaderCallbacks* const callbacks = otf2::Converter::callbacks();
  const auto deleted = [](OTF2_EvtReaderCallbacks* c) { OTF2_EvtReaderCallbacks_Delete(c); };
  const std::unique_ptr<OTF2_EvtReaderCallbacks, decltype(deleted)> owner(callbacks, deleted);
  std::map<std::uint32_t, otf2::ProcessState> processes;
  for (const otf2::LocationOfArchive& location : definitions.locations) {
    const std::string name = folder + "/" + std::to_string(location.rank) + "." +
                             std::to_string(location.thread) + ".elg";
    auto local = otf2::LocalTrace::create(name, definitions, location, archive.identity());
    if (!local) return local.error();
    otf2::Converter converter(definitions, *local, processes[location.rank],
                              atomics_in_elements(archive.creator()), outcome.left_out);
    if (const Status read = archive.read(location, callbacks, &converter); !read) {
      // What came before the damage is kept.
      cli::print_warning(read.error().message());
      outcome.damaged = true;
    }
    converter.finish();
    if (const Status written = local->commit(); !written) return written.error();
    done += location.events;
    progress.update_now(done);
  }
  if (definitions.left_out != 0) {
    outcome.left_out["location that is no processor thread of an MPI process"] =
        definitions.left_out;
  }
  return outcome;
}

// The trace that elg2otf2 made the archive of.
ExitCode restore(otf2::Archive& archive, const std::string& output) {
  cli::Progress progress("reading the archive", archive.events());
  const auto restored =
      otf2::restore(archive, output, [&](std::uint64_t done) { progress.update_now(done); });
  progress.finish();
  if (!restored) return cli::failed(restored.error());
  for (const std::string& damage : restored->damage) cli::print_warning(damage);
  const bool faults = print_faults(archive.definitions());
  return restored->damage.empty() && !faults ? ExitCode::kFine : ExitCode::kSuspect;
}

ExitCode run(const cli::po::variables_map& values) {
  if (values.count("archive") == 0) return cli::usage_error("name an archive: DIR/traces.otf2");
  auto input = values["archive"].as<std::string>();
  const auto output = values["output"].as<std::string>();
  if (std::error_code none; std::filesystem::is_directory(input, none)) input += "/traces.otf2";
  if (const auto refused = cli::overwrites({input}, {output})) return *refused;
  auto archive = otf2::Archive::open(input);
  if (!archive) return cli::failed(archive.error());
  if (otf2::is_own(*archive) && values.count("foreign") == 0) return restore(*archive, output);
  auto folder = folder_beside(output);
  if (!folder) return cli::failed(folder.error());
  const auto outcome = write_local_traces(*archive, folder->path());
  if (!outcome) return cli::failed(outcome.error());
  merge::MergeOptions options;
  options.inputs = {folder->path()};
  options.output = output;
  options.format = merge::Format::kCompact;
  options.clock = merge::ClockCorrection::kNone;  // OTF2's reader has corrected them
  std::optional<cli::Progress> progress;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    if (!progress) progress.emplace("merging", all);
    progress->update_now(done);
  };
  const auto summary = merge::merge_traces(options);
  progress.reset();
  if (!summary) return cli::failed(summary.error());
  for (const auto& [what, count] : outcome->left_out) {
    cli::print_note("left out: " + std::to_string(count) + " x " + what);
  }
  cli::print_messages(merge::messages_of(*summary));
  const bool faults = print_faults(archive->definitions());
  return summary->suspect() || outcome->damaged || faults ? ExitCode::kSuspect : ExitCode::kFine;
}

}  // namespace

int main(int argc, char** argv) {
  cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", cli::po::value<std::string>()->default_value("a.elg")->value_name("FILE"),
      "the trace; - is standard output")(
      "foreign",
      "takes an archive of elg2otf2 like one of another tool, and passes over what it adds");
  options.hidden.add_options()("archive", cli::po::value<std::string>(), "");
  options.positional.add("archive", 1);
  return cli::run_tool(argc, argv, kTool, options, run);
}
