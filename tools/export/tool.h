// What the converters into formats of lines have in common: options, reading, messages, exit codes.
#pragma once

#include <string>

#include "tools/cli/trace_input.h"
#include "tools/export/timeline.h"

namespace kojak::exporting {

inline void add_view(cli::ToolOptions& options) {
  options.visible.add_options()(
      "rma-view", cli::po::value<std::string>()->default_value("transfers")->value_name("VIEW"),
      "how one-sided communication is drawn: transfers, closed, logical, dependencies");
  options.hidden.add_options()("trace", cli::po::value<std::string>(), "");
  options.positional.add("trace", 1);
}

// Fills `shown`; then what is wrong with the trace is told. Fails with what has been printed.
struct Read {
  ExitCode code = ExitCode::kFine;
  std::uint64_t end = 0;
};
inline Result<Read> read_all(earl::Trace& trace, RmaView view, Shown& shown) {
  cli::Progress bar("reading", trace.declared_events().value_or(0));
  auto exported = show(trace, view, shown, [&](std::uint64_t at) { bar.update_now(at); });
  bar.finish();
  if (!exported) return exported.error();
  const bool suspect = cli::print_faults(trace.path(), exported->gaps, exported->damage);
  if (exported->turned != 0) {
    cli::print_note(std::to_string(exported->turned) +
                    " lines would end before they begin, since clocks disagree; they are drawn as "
                    "moments");
  }
  if (exported->open != 0) {
    cli::print_note(std::to_string(exported->open) +
                    " transfers have no end in the trace: no "
                    "lines");
  }
  return Read{suspect ? ExitCode::kSuspect : ExitCode::kFine, exported->end};
}

}  // namespace kojak::exporting
