// elg_merge: local traces in, one global trace out.
#include <iostream>

#include "merge/merge.h"
#include "tools/cli/cli.h"
#include "tools/cli/compression.h"
#include "tools/cli/messages.h"

namespace {

using kojak::Error;
using kojak::ExitCode;
namespace cli = kojak::cli;
namespace merge = kojak::merge;

constexpr cli::ToolInfo kTool = {
    "elg_merge", "[options] DIR|FILE...",
    "Merges the local traces of one run into one global trace in the order of time.",
    "elg_merge -o a.elg elg_prog_4", nullptr};

}  // namespace

int main(int argc, char** argv) {
  cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", cli::po::value<std::string>()->default_value("a.elg")->value_name("FILE"),
      "the merged trace; - is standard output");
  options.visible.add_options()(
      "model", cli::po::value<std::string>()->value_name("basic|extended"),
      "where transfers end: at their own call (basic), or at the synchronisation that completes "
      "them (extended, the default unless ELG_VT_MODE=1)");
  options.visible.add_options()(
      "format",
      cli::po::value<std::string>()->default_value("compact")->value_name("compact|native|classic"),
      "the dialect of the merged trace: compact, or with all fields of each record (native); "
      "classic is what older EPILOG tools read");
  options.visible.add_options()(
      "clock",
      cli::po::value<std::string>()->default_value("linear")->value_name("none|linear|clc"),
      "how local clocks are corrected: by the measured offsets (linear), and then so that no "
      "effect "
      "comes before its cause (clc, the controlled logical clock)");
  options.visible.add_options()(
      "locks",
      cli::po::value<std::string>()->default_value("recorded")->value_name("recorded|granted"),
      "where lock records stand: as recorded, or where the locks were granted and released");
  options.visible.add_options()(
      "threads", cli::po::value<unsigned>()->default_value(0, "processors")->value_name("N"),
      "so many in all: one merges, the others decode, pack and write; the file is the same");
  cli::add_compression(options.visible);
  options.visible.add_options()("summary",
                                "say on standard error what was merged: events by record type, "
                                "ends that moved, what was open at the end");
  options.hidden.add_options()("input", cli::po::value<std::vector<std::string>>(), "");
  options.positional.add("input", -1);
  return cli::run_tool(argc, argv, kTool, options, [](const cli::po::variables_map& values) {
    merge::MergeOptions merge_options;
    if (values.count("input") == 0) return cli::usage_error("name a directory or local traces");
    merge_options.inputs = values["input"].as<std::vector<std::string>>();
    merge_options.output = values["output"].as<std::string>();
    merge_options.model = merge::usual_model();
    if (values.count("model") != 0) {
      const std::string word = values["model"].as<std::string>();
      const auto model = merge::model_of(word);
      if (!model) {
        return cli::usage_error("--model is basic or extended, not \"" + word + "\"");
      }
      merge_options.model = *model;
    }
    const auto compression = cli::compression_of(values);
    if (!compression) return cli::usage_error(cli::kTwoCompressions);
    merge_options.compression = *compression;
    if (const unsigned threads = values["threads"].as<unsigned>(); threads != 0) {
      merge_options.threads = threads;
    }
    const std::string format = values["format"].as<std::string>();
    const auto dialect = merge::format_of(format);
    if (!dialect) {
      return cli::usage_error("--format is compact, native or classic, not \"" + format + "\"");
    }
    merge_options.format = *dialect;
    const std::string locks = values["locks"].as<std::string>();
    if (locks != "recorded" && locks != "granted") {
      return cli::usage_error("--locks is recorded or granted, not \"" + locks + "\"");
    }
    merge_options.lock_grants = locks == "granted";
    if (merge_options.lock_grants && merge_options.model == merge::Model::kBasic) {
      return cli::usage_error(
          "--locks granted needs the extended model: in the basic one transfers end in their "
          "calls, "
          "before their locks are granted");
    }
    const std::string word = values["clock"].as<std::string>();
    const auto clock = merge::clock_of(word);
    if (!clock) {
      return cli::usage_error("--clock is none, linear or clc, not \"" + word + "\"");
    }
    merge_options.clock = *clock;
    std::optional<cli::Progress> progress;
    merge_options.progress = [&](std::uint64_t done, std::uint64_t all) {
      if (!progress) progress.emplace("merging", all);
      progress->update_now(done);
    };
    const auto summary = merge::merge_traces(merge_options);
    progress.reset();
    if (!summary) {
      return cli::failed(summary.error());
    }
    if (values.count("summary") != 0) std::cerr << merge::summary_text(*summary);
    cli::print_messages(merge::messages_of(*summary));
    return summary->suspect() ? ExitCode::kSuspect : ExitCode::kFine;
  });
}
