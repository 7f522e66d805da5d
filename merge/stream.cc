#include "merge/stream.h"

#include "epilog/format/io/block_pipe.h"

namespace kojak::merge {

MergedStream::MergedStream(MergeOptions options, std::function<void()> before_first)
    : pipe_(std::make_shared<BlockPipe>()) {
  // Written and read in the merge's thread only.
  auto begun = std::make_shared<bool>(false);
  pipe_->before_first([begun, before_first = std::move(before_first)] {
    *begun = true;
    if (before_first) before_first();
  });
  if (options.progress) {
    options.progress = [begun, told = std::move(options.progress)](std::uint64_t done,
                                                                   std::uint64_t all) {
      if (!*begun) told(done, all);
    };
  }
  run([options = std::move(options)](BlockPipe& pipe) mutable {
    options.reader = &pipe;
    return merge_traces(options);
  });
}

MergedStream::MergedStream(std::function<Result<Summary>(BlockPipe&)> write)
    : pipe_(std::make_shared<BlockPipe>()) {
  run(std::move(write));
}

void MergedStream::run(std::function<Result<Summary>(BlockPipe&)> write) {
  thread_ = std::thread([this, write = std::move(write)] {
    try {
      result_.emplace(write(*pipe_));
    } catch (...) {
      thrown_ = std::current_exception();
    }
    pipe_->close(result_.has_value() && static_cast<bool>(*result_));
  });
}

MergedStream::~MergedStream() {
  pipe_->abandon();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<ByteSource> MergedStream::source() {
  return pipe_source(pipe_);
}

std::uint64_t MergedStream::expected_events() const {
  return pipe_->expected();
}

Result<Summary> MergedStream::finish() {
  pipe_->abandon();
  if (thread_.joinable()) thread_.join();
  if (thrown_) std::rethrow_exception(thrown_);
  return *result_;
}

bool MergedStream::abandoned() const {
  return pipe_->abandoned();
}

}  // namespace kojak::merge
