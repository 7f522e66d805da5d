// elg2otf2: a merged trace as an OTF2 archive, for Vampir and every other reader of OTF2.
#include <filesystem>
#include <optional>

#include "epilog/format/text/print.h"
#include "tools/cli/trace_input.h"
#include "tools/elg2otf2/definition_writer.h"

namespace kojak::otf2 {
namespace {

constexpr cli::ToolInfo kTool = {
    "elg2otf2", "[options] TRACE",
    "Converts a merged trace into an OTF2 archive for Vampir and others; otf2elg makes the\n"
    "same trace of it again.",
    "elg2otf2 -o a.otf2 a.elg", nullptr};

// A merged trace whose definitions have been read; `listing` is what elg_print prints of them.
struct Input {
  Definitions definitions;
  std::string listing;
  BadRecords bad;
};

Result<Input> read_definitions(TraceReader& reader) {
  Input input;
  input.listing = print_header(reader.dialect()) + "\n";
  RawRecord record;
  TraceReader::Next next;
  while ((next = reader.next(record)) == TraceReader::Next::kRecord) {
    if (!is_definition(record.type)) break;
    print_record(record, reader.dialect(), input.listing);
    input.listing += '\n';
    if (record_name(record.type).empty()) {
      ++input.bad.unknown;
    } else {
      input.bad.definitions += !input.definitions.add(record, reader.dialect()).ok();
    }
    if (record.type == static_cast<std::uint8_t>(RecordType::kLocalRun)) {
      return Error{ExitCode::kBadInput,
                   reader.path(),
                   std::nullopt,
                   "",
                   "",
                   "this is a local trace",
                   "merge the traces of all processes with elg_merge"};
    }
    if (record.type == static_cast<std::uint8_t>(RecordType::kLastDef)) {
      input.definitions.finish();
      return input;
    }
  }
  return ends_in_definitions(reader, next == TraceReader::Next::kDamaged);
}

// What a damaged trace lacks is said in its archive, too; classic traces have no record for it.
void inherit(Byte reason, std::uint64_t count, const Dialect& dialect, std::string& listing) {
  if (count == 0 || !dialect.native()) return;
  std::byte bytes[kMaxRecord];
  const std::size_t size =
      encode(Lost{absent<LocationId>(), reason, Count64{count}}, dialect, bytes);
  RawRecord record;
  record.type = static_cast<std::uint8_t>(RecordType::kLost);
  record.length = static_cast<std::uint8_t>(size - 2);
  record.body = bytes + 2;
  std::string line;
  print_record(record, dialect, line);
  listing.insert(listing.rfind('\n', listing.size() - 2) + 1, line + '\n');  // before LAST_DEF
}

// For the archive: whoever reads it shall know.
std::string faults_of(const std::vector<TraceGap>& gaps, bool cut) {
  std::string faults;
  for (const TraceGap& gap : gaps) {
    if (gap.suspect) faults += std::to_string(gap.count) + " x " + gap.what + '\n';
  }
  return cut ? faults + "the trace is cut off at its end\n" : faults;
}

ExitCode run(const cli::po::variables_map& values) {
  if (values.count("trace") == 0) return cli::usage_error("name a trace");
  const auto input = values["trace"].as<std::string>();
  const auto output = values["output"].as<std::string>();
  if (output == "-") return cli::usage_error("an archive is a folder: name it with -o");
  if (const auto refused = cli::overwrites({input}, {output})) return *refused;
  auto reader = cli::open_trace(input);
  if (!reader) return cli::failed(reader.error());
  auto trace = read_definitions(*reader);
  if (!trace) return cli::failed(trace.error());
  Numbers numbers(trace->definitions);
  auto archive = ArchiveWriter::create(output, std::max(1u, numbers.locations()));
  if (!archive) return cli::failed(archive.error());
  std::optional<TraceReader> ahead;
  if (std::error_code none; std::filesystem::is_regular_file(input, none)) {
    if (auto again = cli::open_trace(input)) ahead.emplace(std::move(*again));
  }
  GetTargets targets(std::move(ahead));
  EventWriter events(trace->definitions, numbers, *archive, targets, values.count("compat") != 0);
  TraceReader::Next next;
  {
    cli::Progress bar("writing", cli::file_size(input));
    for (RawRecord record; (next = reader->next(record)) == TraceReader::Next::kRecord;) {
      const bool known = dispatch_record(record.type, [&]<class R>() {
        if constexpr (R::kKind != RecordKind::kDefinition && R::kDialect != RecordDialect::kLocal) {
          R decoded;
          if (decode(record, reader->dialect(), decoded) != nullptr) {
            ++trace->bad.damaged;
          } else if constexpr (R::kKind == RecordKind::kAttribute) {
            events.attribute(decoded);
          } else {
            events.event(decoded);
          }
        }
      });
      trace->bad.unknown += !known;
      bar.update(reader->progress());
    }
  }
  events.finish();
  const bool cut = next == TraceReader::Next::kDamaged;
  inherit(kLostDamaged, trace->bad.damaged + trace->bad.definitions, reader->dialect(),
          trace->listing);
  inherit(kLostEnd, cut ? 1 : 0, reader->dialect(), trace->listing);
  const std::vector<TraceGap> gaps = gaps_of(trace->bad, trace->definitions);
  const std::vector<std::uint64_t> counts = archive->close_events();
  write_definitions(trace->definitions, numbers, events, counts, trace->listing,
                    faults_of(gaps, cut), *archive);
  if (const Status written = archive->commit(); !written) return cli::failed(written.error());
  const bool suspect = cli::print_gaps(input, gaps);
  if (!cut) return suspect ? ExitCode::kSuspect : ExitCode::kFine;
  cli::print_warning(reader->error().message());
  return ExitCode::kSuspect;
}

}  // namespace
}  // namespace kojak::otf2

int main(int argc, char** argv) {
  kojak::cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", kojak::cli::po::value<std::string>()->default_value("a.otf2")->value_name("DIR"),
      "the archive, a folder; name its traces.otf2 to readers")(
      "compat", "at most one synchronisation flag a record, for readers that stop at several");
  options.hidden.add_options()("trace", kojak::cli::po::value<std::string>(), "");
  options.positional.add("trace", 1);
  return kojak::cli::run_tool(argc, argv, kojak::otf2::kTool, options, kojak::otf2::run);
}
