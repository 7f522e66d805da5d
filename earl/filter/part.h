// A part of a trace, from reading to writing: what elg_filter does, and expert for --from and --to.
//
//   Result<Part> part = Part::open(path, cut);
//   part->find_edges(progress);                      // one reading
//   part->write(writer, seekable, progress);         // one, or two where the count is not replaced
// What standard input or a pipe gives goes to a file without a name, in $TMPDIR or /tmp, since it
// is read more than once. Fails as opening a trace, as Selection::make and as the writer do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "earl/filter/copy.h"
#include "earl/trace.h"
#include "epilog/format/io/block_pipe.h"

namespace kojak::filter {

class RepeatedInput {
 public:
  static Result<RepeatedInput> open(const std::string& path);
  RepeatedInput(RepeatedInput&& other) noexcept
      : path_(std::move(other.path_)),
        name_(std::move(other.name_)),
        damage_(std::move(other.damage_)),
        fd_(std::exchange(other.fd_, -1)) {}
  RepeatedInput& operator=(RepeatedInput&&) = delete;
  ~RepeatedInput();

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  const std::string& damage() const { return damage_; }  // of a stream
  Result<std::unique_ptr<ByteSource>> source() const { return open_source(path_); }

 private:
  RepeatedInput() = default;
  std::string path_, name_, damage_;
  int fd_ = -1;
};

class Part {
 public:
  static Result<Part> open(const std::string& path, const Cut& cut);

  const RepeatedInput& input() const { return input_; }
  const earl::Trace& trace() const { return trace_; }
  const Dialect& dialect() const { return dialect_; }  // of what is written
  // Calls and messages that lost their partners.
  std::size_t severed() const { return severed_.size(); }

  void find_edges(const std::function<void(std::uint64_t event)>& progress);
  // `progress` may end it: false. It is told of places in the file, from the beginning in each
  // reading. `seekable`: the number of events can be told when it is known.
  using GoOn = std::function<bool(std::uint64_t offset)>;
  Result<Copied> write(TraceWriter& writer, bool seekable, const GoOn& progress) const;

 private:
  Part(RepeatedInput input, earl::Trace trace, Selection selection, const Dialect& dialect)
      : input_(std::move(input)),
        trace_(std::move(trace)),
        selection_(std::move(selection)),
        dialect_(dialect) {}
  Inherited inherited() const;
  Result<Copied> copy(TraceWriter* writer, std::uint64_t events, const GoOn& progress) const;

  RepeatedInput input_;
  earl::Trace trace_;
  Selection selection_;
  Dialect dialect_;
  Severed severed_;
};

// Writes a part in a thread of its own, for a reader of it. The thread ends with this object, at
// once if the reader has left.
class PartStream {
 public:
  explicit PartStream(Part part);
  ~PartStream();
  PartStream(const PartStream&) = delete;
  PartStream& operator=(const PartStream&) = delete;

  std::unique_ptr<ByteSource> source() { return pipe_source(pipe_); }  // once
  // After all was read: why not all could be written.
  Status finish();

 private:
  Status write();

  Part part_;
  std::shared_ptr<BlockPipe> pipe_;
  Status status_;
  std::thread thread_;  // last: it uses all of these
};

}  // namespace kojak::filter
