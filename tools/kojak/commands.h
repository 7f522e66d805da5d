// The subcommands of kojak. Each takes its own name as argv[0] and returns an exit status.
#pragma once

namespace kojak::run {

int run_command(int argc, char** argv);
int config_command(int argc, char** argv);

}  // namespace kojak::run
