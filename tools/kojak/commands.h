// The subcommands of kojak. Each takes its own name as argv[0] and returns an exit status.
#pragma once

namespace kojak::run {

int run_command(int argc, char** argv);
int config_command(int argc, char** argv);
// What looks into reports.
int info_command(int argc, char** argv);
int stat_command(int argc, char** argv);
int diff_command(int argc, char** argv);
int html_command(int argc, char** argv);

// The name under which `kojak html` was a program of its own; a link of that name still is.
inline constexpr const char* kHtmlLink = "cube_html";

}  // namespace kojak::run
