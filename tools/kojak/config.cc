// kojak config: the environment variables that the measurement obeys, with their values now.
#include "tools/cli/cli.h"
#include "tools/kojak/commands.h"
#include "tools/kojak/settings.h"

namespace kojak::run {
namespace {

constexpr cli::ToolInfo kInfo{
    "kojak config", "[options]",
    "Lists the environment variables that recording and merging obey, and their values now.",
    "ELG_BUFFER_SIZE=4M kojak config"};

ExitCode body(const cli::po::variables_map& values) {
  print_settings(values.count("csv") != 0);
  return ExitCode::kFine;
}

}  // namespace

int config_command(int argc, char** argv) {
  cli::ToolOptions options;
  options.visible.add_options()("csv", "as comma-separated values");
  return cli::run_tool(argc, argv, kInfo, options, body);
}

}  // namespace kojak::run
