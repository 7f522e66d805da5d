// What the converters into formats of lines have in common: options, reading, messages, exit codes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/trace_input.h"
#include "tools/export/timeline.h"

namespace kojak::exporting {

inline void add_view(cli::ToolOptions& options) {
  std::string words;
  for (const auto& view : kRmaViews) words += (words.empty() ? "" : "|") + std::string(view.name);
  options.visible.add_options()("rma-view",
                                cli::po::value<std::string>()
                                    ->default_value(std::string(kRmaViews[0].name))
                                    ->value_name(words),
                                "how one-sided communication is drawn");
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

// A file beside the output.
template <class Format>
struct Beside {
  std::string name;
  std::function<std::string(const Format&)> text;
};

// The whole of a command. A Format is a Shown that is made of the trace; write(file, end) writes
// what it was shown.
template <class Format>
ExitCode convert(const cli::po::variables_map& values,
                 const std::vector<Beside<Format>>& beside = {}) {
  if (values.count("trace") == 0) return cli::usage_error("name a trace");
  const auto input = values["trace"].as<std::string>();
  const auto output = values["output"].as<std::string>();
  if (input == "-") return cli::usage_error("the trace is read twice: it cannot be standard input");
  const auto view = rma_view(values["rma-view"].as<std::string>());
  if (!view) return cli::usage_error("--rma-view is one of " + rma_view_names());
  std::vector<std::string> outputs = {output};
  for (const Beside<Format>& other : beside) outputs.push_back(other.name);
  if (const auto refused = cli::overwrites({input}, outputs)) return *refused;
  auto trace = earl::Trace::open(input);
  if (!trace) return cli::failed(trace.error());
  auto file = OutputFile::create(output);
  if (!file) return cli::failed(file.error());
  Format format(*trace);
  const auto read = read_all(*trace, *view, format);
  if (!read) return cli::failed(read.error());
  Status written = format.write(*file, read->end);
  for (const Beside<Format>& other : beside) {
    if (!written) break;
    written = OutputFile::write_whole(other.name, other.text(format));
  }
  if (written) written = file->commit();
  if (!written) return cli::failed(written.error());
  return read->code;
}

}  // namespace kojak::exporting
