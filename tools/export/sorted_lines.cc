#include "tools/export/sorted_lines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <queue>

#include "epilog/format/io/unnamed_file.h"

namespace kojak::exporting {
namespace {

constexpr std::size_t kBuffer = 256 * 1024, kLeastBuffer = 4 * 1024;
constexpr std::size_t kHead = sizeof(std::uint64_t) + sizeof(std::uint32_t);  // time, size

// Lines are collected and written in one go.
class Buffered {
 public:
  explicit Buffered(OutputFile& out) : out_(out) {}
  void line(std::string_view text) {
    buffer_ += text;
    buffer_ += '\n';
    if (buffer_.size() > kBuffer) static_cast<void>(flush());  // remembered
  }
  Status flush() {
    if (status_) status_ = out_.write(buffer_.data(), buffer_.size());
    buffer_.clear();
    return status_;
  }

 private:
  OutputFile& out_;
  std::string buffer_;
  Status status_;
};

}  // namespace

// The next line of a run, and what of it has been read.
struct SortedLines::Head {
  int file;
  Run run;
  std::vector<char> buffer;
  std::size_t at = 0, filled = 0;
  std::uint64_t time = 0;
  std::string_view line;
  int failed = 0;

  bool have(std::size_t bytes) {
    if (filled - at >= bytes) return true;
    std::memmove(buffer.data(), buffer.data() + at, filled - at);
    filled -= at;
    at = 0;
    if (buffer.size() < bytes) buffer.resize(bytes);
    while (filled < bytes && run.begin < run.end) {
      const std::size_t wanted =
          std::min<std::uint64_t>(buffer.size() - filled, run.end - run.begin);
      const ssize_t got =
          ::pread(file, buffer.data() + filled, wanted, static_cast<off_t>(run.begin));
      if (got <= 0) {
        failed = got < 0 ? errno : EIO;
        return false;
      }
      filled += static_cast<std::size_t>(got);
      run.begin += static_cast<std::uint64_t>(got);
    }
    return filled >= bytes;
  }
  bool next() {
    if (!have(kHead)) return false;
    std::uint32_t size;
    std::memcpy(&time, buffer.data() + at, sizeof time);
    std::memcpy(&size, buffer.data() + at + sizeof time, sizeof size);
    if (!have(kHead + size)) return false;
    line = {buffer.data() + at + kHead, size};
    at += kHead + size;
    return true;
  }
};

SortedLines::~SortedLines() {
  if (file_ >= 0) ::close(file_);
}

Error SortedLines::failure() const {
  return {ExitCode::kOutputFailed,
          directory_,
          std::nullopt,
          "",
          "",
          std::string("a temporary file failed: ") + std::strerror(failed_),
          "set TMPDIR to a place with room for as much as the output"};
}

void SortedLines::add(std::uint64_t time, std::string_view line) {
  if (text_.size() + line.size() + lines_.size() * sizeof(Line) > memory_) spill();
  lines_.push_back(
      {time, static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(line.size())});
  text_ += line;
}

void SortedLines::sort() {
  std::sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) {
    return a.time != b.time ? a.time < b.time : a.at < b.at;
  });
}

void SortedLines::spill() {
  if (lines_.empty() || failed_ != 0) return;
  if (file_ < 0) file_ = open_unnamed_file(directory_);
  sort();
  std::string bytes;
  const std::uint64_t begin = size_;
  const auto flush = [&] {
    for (std::size_t done = 0; done < bytes.size() && failed_ == 0;) {
      const ssize_t put =
          ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_));
      if (put < 0) {
        failed_ = errno;
      } else {
        done += static_cast<std::size_t>(put);
        size_ += static_cast<std::uint64_t>(put);
      }
    }
    bytes.clear();
  };
  if (file_ < 0) failed_ = errno;
  for (const Line& line : lines_) {
    bytes.append(reinterpret_cast<const char*>(&line.time), sizeof line.time);
    bytes.append(reinterpret_cast<const char*>(&line.size), sizeof line.size);
    bytes.append(text_, line.at, line.size);
    if (bytes.size() > kBuffer) flush();
  }
  flush();
  runs_.push_back({begin, size_});
  lines_.clear();
  text_.clear();
}

Status SortedLines::write(OutputFile& out) {
  Buffered lines(out);
  if (runs_.empty()) {
    sort();
    for (const Line& line : lines_) lines.line(std::string_view(text_).substr(line.at, line.size));
    return lines.flush();
  }
  spill();
  std::vector<std::unique_ptr<Head>> heads;
  const auto later = [&](std::size_t a, std::size_t b) {
    return std::pair(heads[a]->time, a) > std::pair(heads[b]->time, b);
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
  for (const Run& run : runs_) {
    heads.push_back(std::make_unique<Head>());
    heads.back()->file = file_;
    heads.back()->buffer.resize(std::clamp(memory_ / runs_.size(), kLeastBuffer, kBuffer));
    heads.back()->run = run;
    if (heads.back()->next()) next.push(heads.size() - 1);
  }
  while (!next.empty()) {
    const std::size_t i = next.top();
    next.pop();
    lines.line(heads[i]->line);
    if (heads[i]->next()) next.push(i);
  }
  for (const auto& head : heads) {
    if (failed_ == 0) failed_ = head->failed;
  }
  if (failed_ != 0) return failure();
  return lines.flush();
}

}  // namespace kojak::exporting
