// What the analysis is asked for by the options of the command.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/analysis.h"

namespace kojak::expert {

struct Wishes {
  AnalysisOptions analysis;
  std::optional<SendModes> send_modes;
  bool print_send_modes = false, print_instances = false;
  std::string json;             // empty: none
  bool without_causes = false;  // because the trace is large

  // For a trace of about so many events, for which only its definitions are needed; it must outlive
  // this. What is wrong with the options; empty if nothing is.
  std::string complete(const boost::program_options::variables_map& options,
                       const earl::Trace& trace, std::uint64_t events);
};

}  // namespace kojak::expert
