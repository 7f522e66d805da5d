// kojak: the command that does everything, by subcommands.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/cli.h"
#include "tools/kojak/commands.h"

namespace {

namespace run = kojak::run;

constexpr kojak::cli::ToolInfo kInfo{
    "kojak", "COMMAND [options] ...",
    "Finds out why MPI programs with one-sided communication wait.\n"
    "  kojak run -- PROGRAM      records, merges and analyses a program\n"
    "  kojak config              lists the settings of the measurement\n"
    "  kojak html a.cube         makes a page of a report, which works offline\n"
    "  kojak info a.cube         says what a report holds: metrics, calls, system\n"
    "  kojak stat a.cube         lists the largest values of a report\n"
    "  kojak diff old new        compares reports, a series of more than two\n"
    "Each has --help and a manual page: kojak-run, kojak-info and so on.\n"
    "The steps of kojak run by themselves: elg_merge, expert. To look into traces: elg_print,\n"
    "elg_stat, elg_filter.",
    "kojak run -- mpirun -n 4 ./prog",
    "Exit status: kojak run ends with the program's; the others 0 fine, 1 wrong usage, 2 bad "
    "input,\n"
    "4 output could not be written."};

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr std::array<Command, 6> kCommands{{{"run", run::run_command},
                                            {"config", run::config_command},
                                            {"html", run::html_command},
                                            {"info", run::info_command},
                                            {"stat", run::stat_command},
                                            {"diff", run::diff_command}}};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0) {
    const std::string_view program = argv[0];
    if (program.substr(program.rfind('/') + 1) == run::kHtmlLink) {
      return run::html_command(argc, argv);
    }
  }
  if (argc > 1) {
    const auto* const found =
        std::find_if(kCommands.begin(), kCommands.end(),
                     [&](const Command& command) { return command.name == argv[1]; });
    if (found != kCommands.end()) return found->run(argc - 1, argv + 1);
  }
  std::string names;
  for (const Command& command : kCommands) names += std::string(command.name) + ' ';
  kojak::cli::ToolInfo info = kInfo;
  info.subcommands = names.c_str();
  kojak::cli::ToolOptions options;
  options.hidden.add_options()("subcommand", kojak::cli::po::value<std::vector<std::string>>(), "");
  options.positional.add("subcommand", -1);  // a command that is none, and its words
  return kojak::cli::run_tool(argc, argv, info, options, [](const auto& values) {
    if (values.count("subcommand") == 0) {
      return kojak::cli::usage_error("say what to do, like kojak run");
    }
    return kojak::cli::usage_error(
        "there is no command \"" +
        values["subcommand"].template as<std::vector<std::string>>().front() + "\"");
  });
}
