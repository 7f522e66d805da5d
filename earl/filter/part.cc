#include "earl/filter/part.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "epilog/format/io/writer.h"

namespace kojak::filter {
namespace {

Error failed(const std::string& file, const char* reason) {
  return {ExitCode::kOutputFailed,
          file,
          std::nullopt,
          "",
          "",
          reason,
          "set TMPDIR to a directory with room for the trace"};
}

}  // namespace

Result<RepeatedInput> RepeatedInput::open(const std::string& path) {
  RepeatedInput input;
  input.path_ = path;
  input.name_ = path;
  struct stat info {};
  const bool stream = path == "-" || (::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode));
  if (!stream) return input;
  if (path == "-") input.name_ = "standard input";
  std::string pattern = (std::filesystem::temp_directory_path() / "elg_filter-XXXXXX").string();
  input.fd_ = ::mkstemp(pattern.data());
  if (input.fd_ < 0) return failed(pattern, "a temporary file cannot be made");
  ::unlink(pattern.c_str());
  input.path_ = "/proc/self/fd/" + std::to_string(input.fd_);
  auto source = open_source(path);
  if (!source) return source.error();
  std::vector<std::byte> buffer(1 << 18);
  std::ptrdiff_t got;
  while ((got = (*source)->read(buffer.data(), buffer.size())) > 0) {
    for (std::ptrdiff_t done = 0; done < got;) {
      const ssize_t n =
          ::write(input.fd_, buffer.data() + done, static_cast<std::size_t>(got - done));
      if (n < 0) return failed(pattern, "a temporary file cannot be written");
      done += n;
    }
  }
  if (got < 0) input.damage_ = (*source)->error();
  return input;
}

RepeatedInput::~RepeatedInput() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Part> Part::open(const std::string& path, const Cut& cut) {
  auto input = RepeatedInput::open(path);
  if (!input) return input.error();
  auto source = input->source();
  if (!source) return source.error();
  auto trace = earl::Trace::from(std::move(*source), input->name());
  if (!trace) return trace.error();
  auto selection = Selection::make(cut, *trace);
  if (!selection) return selection.error();
  auto plain = input->source();
  if (!plain) return plain.error();
  const auto header = TraceReader::from(std::move(*plain), input->name());
  if (!header) return header.error();
  Dialect dialect = header->dialect();
  dialect.metrics = static_cast<std::uint32_t>(trace->definitions().metrics.size());
  return Part(std::move(*input), std::move(*trace), std::move(*selection), dialect);
}

void Part::find_edges(const std::function<void(std::uint64_t)>& progress) {
  severed_ = find_severed(trace_, selection_, progress);
}

// What the trace has lost already, as far as the cut reaches: readers of the cut are to know.
Inherited Part::inherited() const {
  Inherited inherited;
  inherited.damaged = trace_.findings()[earl::Finding::kShortRecord].count;
  inherited.end = trace_.damage() && selection_.cut().to >= severed_.end().value;
  const std::uint64_t declared = trace_.declared_events().value_or(0);
  if (declared > trace_.events_read()) inherited.events = declared - trace_.events_read();
  return inherited;
}

Result<Copied> Part::copy(TraceWriter* writer, std::uint64_t events, const GoOn& progress) const {
  auto source = input_.source();
  if (!source) return source.error();
  auto reader = TraceReader::from(std::move(*source), input_.name());
  if (!reader) return reader.error();
  return copy_selected(
      {*reader, trace_.definitions(), selection_, severed_, inherited(), events, progress}, writer);
}

Result<Copied> Part::write(TraceWriter& writer, bool seekable, const GoOn& progress) const {
  std::uint64_t events = 0;
  if (!seekable) {  // the number of events stands in front of them
    const auto counted = copy(nullptr, 0, progress);
    if (!counted) return counted.error();
    events = counted->events;
  }
  auto copied = copy(&writer, events, progress);
  if (!copied) return copied;
  if (seekable) {
    if (Status status = replace_event_count(writer, *copied, inherited()); !status) {
      return status.error();
    }
  }
  if (Status status = writer.commit(); !status) return status.error();
  return copied;
}

PartStream::PartStream(Part part)
    : part_(std::move(part)), pipe_(std::make_shared<BlockPipe>()), thread_([this] {
        status_ = write();
        pipe_->close(static_cast<bool>(status_));
      }) {}

Status PartStream::write() {
  auto writer = TraceWriter::create("/dev/null", part_.dialect());
  if (!writer) return writer.error();
  writer->set_sink(&*pipe_);
  const auto copied =
      part_.write(*writer, false, [this](std::uint64_t) { return !pipe_->abandoned(); });
  return copied ? Status() : Status(copied.error());
}

PartStream::~PartStream() {
  pipe_->abandon();
  if (thread_.joinable()) thread_.join();
}

Status PartStream::finish() {
  if (thread_.joinable()) thread_.join();
  return status_;
}

}  // namespace kojak::filter
