// What a report says of its run beside times: command, start, MPI, environment, hosts, sizes.
//
// Lines of a name and a value, in the order in which people read them; made of the trace's
// definitions. What the trace does not tell (classic traces tell nothing) has no line. CUBE reports
// carry them as attributes `run.<name>`; kojak info and the page show those. Pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

// Before a fact's name in a report's attributes.
inline constexpr const char* kFactAttribute = "run.";

std::vector<std::pair<std::string, std::string>> run_facts(const Report& report);

}  // namespace kojak::expert
