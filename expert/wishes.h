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
  std::string json;                // empty: none
  double in_folder = 1;            // how much of what lies in TMPDIR lies in this machine's
  std::vector<std::string> notes;  // to be said before work begins

  // For a trace of about so many events, for which only its definitions are needed; it must outlive
  // this. What is wrong with the options; empty if nothing is.
  std::string complete(const boost::program_options::variables_map& options,
                       const earl::Trace& trace, std::uint64_t events);
};

// So many processes are to analyse it. What is wrong with that, where a launcher has started so
// many for the same task; empty if nothing is.
std::size_t processes_of(const boost::program_options::variables_map& options);
std::string wrong_processes(const boost::program_options::variables_map& options, int launched);

}  // namespace kojak::expert
