// elg_print: a trace as text, one record a line.
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/check/verify.h"
#include "epilog/format/definitions.h"
#include "epilog/format/io/writer.h"
#include "epilog/format/text/print.h"
#include "epilog/format/text/printable.h"
#include "tools/cli/cli.h"
#include "tools/cli/lists.h"
#include "tools/cli/trace_input.h"
#include "tools/record_list.h"

namespace kojak {
namespace {

constexpr cli::ToolInfo kInfo{
    "elg_print", "[options] TRACE",
    "Prints a trace, merged or local, as text: one record a line, NAME key=value ...\n"
    "TRACE may be compressed with gzip or zstd; - is standard input.",
    "elg_print --rank 0 --from 1.5 --to 1.6 --names a.elg"};

struct Selection {
  std::set<std::uint32_t> ranks;
  std::set<std::uint8_t> types;
  std::set<std::string, std::less<>> regions;
  double from = -HUGE_VAL, to = HUGE_VAL;
  bool names = false;
  bool events_only = false;  // something of events was asked for

  bool everything() const { return ranks.empty() && types.empty() && !events_only && !names; }
};

// Decides record by record, and knows where each location stands.
class Printer {
 public:
  Printer(TraceReader& reader, OutputFile& file, const Selection& selection)
      : reader_(reader), file_(file), selection_(selection) {}

  Result<ExitCode> run(cli::Progress& progress) {
    out_ = print_header(reader_.dialect()) + "\n";
    RawRecord record;
    TraceReader::Next next;
    while ((next = reader_.next(record)) == TraceReader::Next::kRecord) {
      if (is_event(record.type) && !reader_.dialect().native() && !complete_) {
        return classic_local_archive(reader_.path(), record.offset);
      }
      complete_ |= record.type == static_cast<std::uint8_t>(RecordType::kLastDef);
      local_ |= record.type == static_cast<std::uint8_t>(RecordType::kLocalRun);
      one(record);
      progress.update(reader_.progress());
      if (out_.size() > kFlush) {
        if (Status status = flush(); !status) return status.error();
      }
    }
    if (Status status = flush(); !status) return status.error();
    progress.finish();
    bool suspect = cli::print_gaps(reader_.path(), gaps_of(bad_, definitions_));
    const bool damaged = next == TraceReader::Next::kDamaged;
    if (!complete_ && !local_) {
      cli::print_warning(ends_in_definitions(reader_, damaged).message());
      return ExitCode::kSuspect;
    }
    if (damaged) {
      cli::print_warning(reader_.error().message());
      return ExitCode::kSuspect;
    }
    return suspect ? ExitCode::kSuspect : ExitCode::kFine;
  }

 private:
  static constexpr std::size_t kFlush = 256 * 1024;

  Status flush() {
    const std::string text = std::exchange(out_, {});
    return file_.write(text.data(), text.size());
  }

  void one(const RawRecord& record) {
    look_at(record);
    if (selection_.everything()) return print(record);
    if (is_definition(record.type)) {
      if (by_type(record.type) && !selection_.events_only) print(record);
      return;
    }
    if (is_attribute(record.type)) {  // goes with its event
      if (!selection_.types.empty() && by_type(record.type)) return print(record);
      const std::size_t size = out_.size();
      print(record);
      attributes_.append(out_, size);
      out_.resize(size);
      return;
    }
    region_ = {};
    dispatch_record(record.type, [&]<class R>() {
      R decoded;
      if constexpr (R::kKind == RecordKind::kEvent) {
        if (decode(record, reader_.dialect(), decoded) == nullptr) enter(decoded);
      }
    });
    if (by_type(record.type) && selected(record)) {
      out_ += attributes_;
      print(record);
    }
    attributes_.clear();
    if (left_ != nullptr && !left_->empty()) left_->pop_back();
    left_ = nullptr;
  }

  // Counts what is wrong, printed or not. A damaged record is printed as what it is; a definition
  // only has no name here.
  void look_at(const RawRecord& record) {
    if (record_name(record.type).empty()) {
      ++bad_.unknown;
    } else if (is_definition(record.type)) {
      bad_.definitions += !definitions_.add(record, reader_.dialect()).ok();
    } else {
      dispatch_record(record.type, [&]<class R>() {
        R decoded;
        bad_.damaged += decode(record, reader_.dialect(), decoded) != nullptr;
      });
    }
  }

  bool by_type(std::uint8_t type) const {
    return selection_.types.empty() || selection_.types.count(type) != 0;
  }

  // Finds the region that the event is in; that of an exit record is left afterwards.
  template <class R>
  void enter(const R& event) {
    std::vector<RegionId>& open = open_[event.lid];
    if constexpr (std::is_same_v<R, Enter>) {
      open.push_back(event.rid);
    } else if constexpr (std::is_same_v<R, EnterCs>) {
      const CallSiteDef* site = definitions_.call_sites.find(event.csid);
      open.push_back(site == nullptr ? absent<RegionId>() : site->entered);
    } else if constexpr (kEnters<R>) {
      open.push_back(absent<RegionId>());
    } else if constexpr (kLeaves<R>) {
      left_ = &open;
    }
    std::optional<RegionId> rid;
    if constexpr (kEffect<R> == RegionEffect::kEntersAndLeaves) {
      rid = event.rid;
    } else if (!open.empty()) {
      rid = open.back();
    }
    if (const RegionDef* region = rid ? definitions_.regions.find(*rid) : nullptr) {
      region_ = region->name;
    }
  }

  bool selected(const RawRecord& record) const {
    if (record.length < 12) return !selection_.events_only;
    const bool swap = reader_.dialect().swapped();
    const double time = event_time(record, swap).value;
    if (!(time >= selection_.from && time <= selection_.to)) return false;
    if (!selection_.ranks.empty()) {
      const LocationId lid = event_location(record, swap);
      const LocationDef* location = definitions_.locations.find(lid);
      if (selection_.ranks.count(location != nullptr ? raw(location->process) : raw(lid)) == 0) {
        return false;
      }
    }
    return selection_.regions.empty() || selection_.regions.count(region_) != 0;
  }

  void print(const RawRecord& record) {
    (void)print_record(record, reader_.dialect(), out_);  // what is missing: see look_at()
    if (selection_.names && is_event(record.type) && !region_.empty()) {
      out_ += "  # ";
      out_ += printable(region_);
    }
    out_ += '\n';
  }

  TraceReader& reader_;
  OutputFile& file_;
  const Selection& selection_;
  Definitions definitions_;
  std::map<LocationId, std::vector<RegionId>> open_;
  std::vector<RegionId>* left_ = nullptr;
  std::string_view region_;  // innermost at the event
  std::string attributes_;   // waiting for their event
  std::string out_;
  bool complete_ = false, local_ = false;  // LAST_DEF, LOCAL_RUN has been read
  BadRecords bad_;
};

ExitCode verify(TraceReader& reader, cli::Progress& progress) {
  const auto checked =
      verify_trace(reader, [&](std::uint64_t offset) { progress.update_now(offset); });
  progress.finish();
  if (!checked) {
    cli::print_error(checked.error());
    return ExitCode::kBadInput;
  }
  for (const Finding& finding : checked->findings) {
    const char* level = finding.level == Level::kError     ? "error: "
                        : finding.level == Level::kWarning ? "warning: "
                                                           : "note: ";
    std::cout << printable(reader.path()) << ": " << level << printable(finding.message()) << '\n';
  }
  if (!cli::quiet()) {
    std::cout << printable(reader.path()) << ": " << (checked->local ? "local" : "merged")
              << " trace, " << checked->records << " records, " << checked->events << " events, "
              << checked->findings.size() << " findings\n";
  }
  switch (checked->worst()) {
    case Level::kError:
      return ExitCode::kBadInput;
    case Level::kWarning:
      return ExitCode::kSuspect;
    case Level::kNote:
      break;
  }
  return ExitCode::kFine;
}

ExitCode body(const cli::po::variables_map& values) {
  if (values.count("list-records") != 0) {
    print_record_list(std::cout);
    return ExitCode::kFine;
  }
  if (values.count("trace") == 0) return cli::usage_error("give a trace");
  Selection selection;
  auto ranks = cli::option_ranks(values, "rank");
  if (!ranks) return cli::usage_error(ranks.error().reason);
  selection.ranks = std::move(*ranks);
  for (const std::string& word : cli::option_words(values, "type")) {
    const std::uint8_t type = record_type(word);
    if (type == 0) return cli::usage_error("no record is called `" + word + "`");
    selection.types.insert(type);
  }
  for (std::string& word : cli::option_words(values, "region"))
    selection.regions.insert(std::move(word));
  if (values.count("from") != 0) selection.from = values["from"].as<double>();
  if (values.count("to") != 0) selection.to = values["to"].as<double>();
  selection.names = values.count("names") != 0;
  selection.events_only = values.count("events") != 0 || values.count("from") != 0 ||
                          values.count("to") != 0 || !selection.ranks.empty() ||
                          !selection.regions.empty();

  const auto path = values["trace"].as<std::string>();
  const auto output = values["output"].as<std::string>();
  const bool writes = values.count("verify") == 0;
  if (const auto refused = cli::overwrites({path, path == "-" ? "" : local_buffer_path(path)},
                                           {writes ? output : ""})) {
    return *refused;
  }
  auto reader = cli::open_trace(path);
  if (!reader) return cli::failed(reader.error());
  cli::Progress progress(path, cli::file_size(path));
  if (values.count("verify") != 0) return verify(*reader, progress);
  auto file = OutputFile::create(output);
  if (!file) return cli::failed(file.error());
  const auto result = Printer(*reader, *file, selection).run(progress);
  Status status = result ? file->commit() : Status(result.error());
  if (!status) return cli::failed(status.error());
  return *result;
}

}  // namespace
}  // namespace kojak

int main(int argc, char** argv) {
  namespace po = kojak::cli::po;
  using List = std::vector<std::string>;
  kojak::cli::ToolOptions options;
  options.visible.add_options()("output,o",
                                po::value<std::string>()->default_value("-")->value_name("FILE"),
                                "where to write, - for standard output")(
      "rank,r", po::value<List>()->composing()->value_name("LIST"), "events of these ranks: 0,4-7")(
      "from", po::value<double>()->value_name("SECONDS"), "events from this time on")(
      "to", po::value<double>()->value_name("SECONDS"), "events up to this time")(
      "type,t", po::value<List>()->composing()->value_name("LIST"),
      "records of these types: ENTER,MPI_PUT_1TS")(
      "region", po::value<List>()->composing()->value_name("LIST"),
      "events directly in these regions: MPI_Put")("events,e", "events only, without definitions")(
      "names,n", "put the innermost region's name behind each event, as a comment")(
      "verify", "check the trace against the format instead of printing it")(
      "list-records", "print the list of all records and their fields, and stop");
  options.hidden.add_options()("trace", po::value<std::string>(), "the trace");
  options.positional.add("trace", 1);
  return kojak::cli::run_tool(argc, argv, kojak::kInfo, options, kojak::body);
}
