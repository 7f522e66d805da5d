#include "expert/input.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "tools/cli/compression.h"
#include "tools/cli/messages.h"

namespace kojak::expert {
namespace {

namespace fs = std::filesystem;

// A run's local traces: its source is as old as the newest of them.
std::string newest_trace(const std::string& directory) {
  std::string newest = directory;
  std::optional<fs::file_time_type> time;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".elg") continue;
    const auto written = it->last_write_time(error);
    if (!error && (!time || *time < written)) {
      time = written;
      newest = it->path().string();
    }
  }
  return newest;
}

}  // namespace

std::string report_name(const std::string& trace) {
  if (trace == "-") return "-";
  std::error_code ignored;
  if (fs::is_directory(trace, ignored)) return (fs::path(trace) / "a.cube").string();
  fs::path path = trace;
  if (path.extension() == ".gz" || path.extension() == ".zst") path.replace_extension();
  path.replace_extension(".cube");
  return path.string();
}

std::string Input::complete(const boost::program_options::variables_map& options,
                            std::vector<std::string> outputs) {
  std::error_code ignored;
  if (options.count("from") != 0 || options.count("to") != 0) {
    cut_ = filter::Cut{-HUGE_VAL, HUGE_VAL, {}, {}};
    if (options.count("from") != 0) cut_->from = options["from"].as<double>();
    if (options.count("to") != 0) cut_->to = options["to"].as<double>();
    if (std::isnan(cut_->from) || std::isnan(cut_->to) || cut_->to < cut_->from) {
      return "--from must not be later than --to";
    }
  }
  const bool keep = options.count("keep") != 0;
  const auto compression = cli::compression_of(options);
  if (!compression) return cli::kTwoCompressions;
  if (!keep && *compression != Compression::kNone) {
    return "--zstd and --gzip compress the merged trace that --keep keeps";
  }
  if (!fs::is_directory(name_, ignored)) {
    if (!keep && options.count("model") == 0 && options.count("clock") == 0) return {};
    return "--keep, --clock and --model are for the directory of a run, which is merged";
  }
  file_.clear();
  merge_.inputs = {name_};
  merge_.others = std::move(outputs);
  merge_.output = keep ? options["keep"].as<std::string>() : std::string();
  if (keep && merge_.output.empty()) {
    merge_.output = (fs::path(name_) / "a").string() + cli::extension_of(*compression);
  }
  if (merge_.output == "-") return "--keep needs the name of a file";
  merge_.format = merge::Format::kCompact;
  merge_.compression = *compression;
  merge_.model = merge::usual_model();
  if (options.count("model") != 0) {
    const std::string word = options["model"].as<std::string>();
    const auto model = merge::model_of(word);
    if (!model) return "--model is basic or extended, not \"" + word + "\"";
    merge_.model = *model;
  }
  if (options.count("clock") != 0) {
    const std::string word = options["clock"].as<std::string>();
    const auto clock = merge::clock_of(word);
    if (!clock) return "--clock is none, linear or clc, not \"" + word + "\"";
    merge_.clock = *clock;
  }
  return {};
}

std::string Input::beside() const {
  return file_.empty() ? newest_trace(name_) : file_;
}

Status Input::write_file() {
  if (!file_.empty()) return {};
  if (merge_.output.empty()) {
    const char* const place = ::secure_getenv("TMPDIR");
    auto folder = TemporaryFolder::create(place != nullptr ? place : "/tmp", "kojak-expert-");
    if (!folder) return folder.error();
    folder_.emplace(std::move(*folder));
    merge_.output = folder_->path() + "/a.elg";
    cli::print_note("--from and --to read a merged trace, which lies in " + folder_->path() +
                    " meanwhile (--keep keeps it)");
  }
  merge_.progress = progress();
  const auto merged = merge::merge_traces(merge_);
  bar_.reset();
  if (!merged) return merged.error();
  tell(*merged);
  file_ = merge_.output;
  if (folder_) merge_.output.clear();
  return {};
}

Result<earl::Trace> Input::open() {
  if (cut_) return open_part();
  if (!file_.empty()) return earl::Trace::open(file_);
  merge_.progress = progress();
  stream_.emplace(merge_, [this] { bar_.reset(); });
  auto trace = earl::Trace::from(stream_->source(), name_);
  if (trace) return trace;
  // What is wrong is what the merge says, if it was not ended by this.
  const auto merged = stream_->finish();
  if (!merged && !stream_->abandoned()) return merged.error();
  return trace;
}

Result<earl::Trace> Input::open_part() {
  if (Status status = write_file(); !status) return status.error();
  auto part = filter::Part::open(file_, *cut_);
  if (!part) return part.error();
  {
    cli::Progress bar("reading", part->trace().declared_events().value_or(0));
    part->find_edges([&](std::uint64_t at) { bar.update_now(at); });
  }
  part_.emplace(std::move(*part));
  return earl::Trace::from(part_->source(), file_);
}

Status Input::finish() {
  if (part_) return part_->finish();
  if (!stream_) return {};
  const auto merged = stream_->finish();
  stream_.reset();
  if (!merged) return merged.error();
  tell(*merged);
  file_ = merge_.output;
  return {};
}

std::function<void(std::uint64_t, std::uint64_t)> Input::progress() {
  return [this](std::uint64_t done, std::uint64_t all) {
    if (!bar_) bar_.emplace("merging", all);
    bar_->update_now(done);
  };
}

void Input::tell(const merge::Summary& summary) {
  if (!merged_) cli::print_messages(merge::messages_of(summary));
  merged_ = summary;
}

}  // namespace kojak::expert
