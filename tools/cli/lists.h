// Options that take lists: "a,b" once or several times, and ranks as "0,4-7".
//
// Nothing here owns memory beyond its results. A rank that is none is told by name.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/cli/cli.h"

namespace kojak::cli {

// The words of all uses of an option, split at commas.
std::vector<std::string> option_words(const po::variables_map& values, const char* option);

// The ranks of an option; fails (exit code 1) for what is neither a rank nor a range of ranks.
Result<std::set<std::uint32_t>> option_ranks(const po::variables_map& values, const char* option);

}  // namespace kojak::cli
