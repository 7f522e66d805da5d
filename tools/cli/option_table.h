// A command's options as lines for programs: what the completion of shells is made from
// (tools/completion).
//
//   command<TAB>name<TAB>arguments<TAB>purpose
//   subcommand<TAB>name
//   option<TAB>--long<TAB>-s or nothing<TAB>value<TAB>description
//
// `value` is empty for an option without one, else its name, behind a ? where it may be left out.
// Blanks stand for line breaks.
#pragma once

#include <iosfwd>

#include "tools/cli/cli.h"

namespace kojak::cli {

void print_option_table(std::ostream& out, const ToolInfo& info,
                        const po::options_description& options);

}  // namespace kojak::cli
