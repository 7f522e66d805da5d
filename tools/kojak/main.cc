// kojak: the command that does everything, by subcommands.
#include <cstring>
#include <iostream>

#include "tools/cli/cli.h"
#include "tools/kojak/commands.h"

namespace {

constexpr kojak::cli::ToolInfo kInfo{
    "kojak", "run|config [options] ...",
    "Finds out why MPI programs with one-sided communication wait.\n"
    "  kojak run -- COMMAND   records, merges and analyses a program (kojak run --help)\n"
    "  kojak config           lists the settings of the measurement (kojak config --help)\n"
    "The steps by themselves: elg_merge, expert. To look into traces: elg_print, elg_stat, "
    "elg_filter.",
    "kojak run -- mpirun -n 4 ./prog",
    "Exit status: kojak run ends with the program's; else 0 fine, 1 wrong usage."};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "run") == 0) {
    return kojak::run::run_command(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], "config") == 0) {
    return kojak::run::config_command(argc - 1, argv + 1);
  }
  kojak::cli::ToolOptions options;
  options.hidden.add_options()("subcommand", kojak::cli::po::value<std::string>(), "");
  options.positional.add("subcommand", 1);
  return kojak::cli::run_tool(argc, argv, kInfo, options, [](const auto& values) {
    if (values.count("subcommand") == 0) {
      return kojak::cli::usage_error("say what to do: kojak run or kojak config");
    }
    return kojak::cli::usage_error("there is no command \"" +
                                   values["subcommand"].template as<std::string>() + "\"");
  });
}
