#include "epilog/format/io/reader.h"

#include <algorithm>
#include <cstring>

#include "epilog/format/compact/source.h"

namespace kojak {

Result<TraceReader> TraceReader::open(const std::string& path, std::size_t buffer) {
  auto source = open_source(path);
  if (!source) return source.error();
  return from(std::move(*source), path, buffer);
}

Result<TraceReader> TraceReader::from(std::unique_ptr<ByteSource> source, std::string name,
                                      std::size_t buffer) {
  TraceReader reader;
  reader.source_ = std::move(source);
  reader.path_ = std::move(name);
  reader.capacity_ = std::max(buffer, 4 * kMaxRecord);
  reader.buffer_ = std::make_unique_for_overwrite<std::byte[]>(reader.capacity_);
  if (Status status = reader.read_header(); !status) return status.error();
  return reader;
}

Status TraceReader::read_header() {
  refill();
  const std::byte* p = buffer_.get();
  const std::size_t magic = std::min<std::size_t>(end_, 7);
  if (failed_ && end_ < kHeaderSize) return error_;  // else next() delivers what there is first
  if (end_ == 0) {
    return Error{ExitCode::kBadInput,
                 path_,
                 0,
                 "",
                 "",
                 "the file is empty",
                 "give a trace written by elg_merge or the measurement library"};
  }
  if (std::memcmp(p, "EPILOG", magic) != 0) {
    return Error{ExitCode::kBadInput,
                 path_,
                 0,
                 "",
                 "",
                 "this is no EPILOG trace",
                 "give a trace written by elg_merge or the measurement library"};
  }
  if (end_ < kHeaderSize) {
    return Error{ExitCode::kBadInput,
                 path_,
                 end_,
                 "",
                 "",
                 "the file ends inside its header",
                 "the run wrote nothing more; repeat the measurement"};
  }
  dialect_.major = static_cast<std::uint8_t>(p[7]);
  dialect_.minor = static_cast<std::uint8_t>(p[8]);
  const auto order = static_cast<std::uint8_t>(p[9]);
  const bool later = dialect_.major == compact::kMajor && dialect_.minor > 0;
  if (dialect_.major < 1 || dialect_.major > compact::kMajor || later) {
    return Error{ExitCode::kBadInput,
                 path_,
                 7,
                 "",
                 "",
                 "unknown format version " + std::to_string(dialect_.major) + "." +
                     std::to_string(dialect_.minor),
                 "this kojak reads versions 1.x, 2.x and 3.0"};
  }
  if (order != 1 && order != 2) {
    return Error{ExitCode::kBadInput,
                 path_,
                 9,
                 "",
                 "",
                 "unknown byte order " + std::to_string(order),
                 "it is 1 (little endian) or 2 (big endian); the header is damaged"};
  }
  dialect_.big_endian = order == 2;
  pos_ = kHeaderSize;
  if (dialect_.compact()) {
    source_ = std::make_unique<compact::Source>(std::move(source_), dialect_.swapped(),
                                                p + kHeaderSize, end_ - kHeaderSize);
    end_ = kHeaderSize;
    at_end_ = failed_ = false;
  }
  return {};
}

bool TraceReader::refill() {
  const std::size_t left = end_ - pos_;
  if (!at_end_) {
    std::memmove(buffer_.get(), buffer_.get() + pos_, left);
    base_ += pos_;
    pos_ = 0;
    end_ = left;
    while (end_ < capacity_) {
      const std::ptrdiff_t n = source_->read(buffer_.get() + end_, capacity_ - end_);
      if (n < 0) {
        failed_ = at_end_ = true;
        const std::string why = source_->error();
        error_ =
            Error{ExitCode::kBadInput, path_, place(base_ + end_), "", "", why, damage_remedy(why)};
        break;
      }
      if (n == 0) {
        at_end_ = true;
        break;
      }
      end_ += static_cast<std::size_t>(n);
      if (end_ >= kMaxRecord) break;  // enough to go on; do not wait for a slow pipe
    }
  }
  return end_ - pos_ >= 2;
}

std::span<const std::byte> TraceReader::ahead() {
  if (end_ - pos_ < kMaxRecord) refill();
  return {buffer_.get() + pos_, end_ - pos_};
}

// Definitions and attributes.
void TraceReader::other_record(const RawRecord& record) {
  if (is_attribute(record.type)) {
    attribute_before_ = events_;
    return;
  }
  if (defined_ && late_++ == 0) late_offset_ = record.offset;
  switch (static_cast<RecordType>(record.type)) {
    case RecordType::kMetric:
      ++dialect_.metrics;
      break;
    case RecordType::kNumEvents: {
      NumEvents number;
      if (decode(record, dialect_, number) != nullptr || announced_ || defined_) break;
      if (raw(number.eventc) != kAbsent) announced_ = raw(number.eventc);
      break;
    }
    case RecordType::kEventCount64: {
      EventCount64 number;
      if (decode(record, dialect_, number) == nullptr && !defined_) announced_ = raw(number.eventc);
      break;
    }
    case RecordType::kLastDef:
      defined_ = true;
      break;
    default:
      break;
  }
}

const char* damage_remedy(std::string_view reason) {
  return reason == kEndsInsideRecord || reason == compact::kEndsInsideBlock ||
                 reason == kWrongChecksum
             ? kCutOffRemedy
             : "all whole records before it were kept";
}

std::string wrong_number_of_events(std::uint64_t events, std::uint64_t announced) {
  if (events == announced) return {};
  if (events < announced) {
    return "the trace ends after " + std::to_string(events) + " of its " +
           std::to_string(announced) + " events";
  }
  return "the trace has " + std::to_string(announced) + " events, but " +
         std::to_string(events - announced) + " more stand behind them";
}

TraceReader::Next TraceReader::finish() {
  if (failed_) {
    failed_ = false;
    pos_ = end_;
    return Next::kDamaged;
  }
  if (pos_ < end_) {
    const std::uint8_t type = end_ - pos_ >= 2 ? static_cast<std::uint8_t>(buffer_[pos_ + 1]) : 0;
    error_ =
        Error{ExitCode::kBadInput, path_,        base_ + pos_, std::string(record_name(type)), "",
              kEndsInsideRecord,   kCutOffRemedy};
    pos_ = end_;
    return Next::kDamaged;
  }
  if (!defined_) return Next::kEnd;
  defined_ = false;  // said once
  std::string reason;
  std::uint64_t offset = base_ + pos_;
  if (announced_) reason = wrong_number_of_events(events_, *announced_);
  if (reason.empty() && late_ > 0) {
    offset = late_offset_;
    reason = kDefinitionsBehind;
  } else if (reason.empty() && attribute_before_ == events_) {
    reason = "an attribute of no event stands at the end";
  }
  if (reason.empty()) return Next::kEnd;  // (place() may have to read the whole trace once more.)
  error_ =
      Error{ExitCode::kBadInput, path_, place(offset), "", "", std::move(reason), kCutOffRemedy};
  return Next::kDamaged;
}

Status TraceReader::seek(std::uint64_t offset) {
  defined_ = false;
  if (offset >= base_ && offset <= base_ + end_) {  // still in the buffer
    pos_ = static_cast<std::size_t>(offset - base_);
    return {};
  }
  if (!source_->seekable() || !source_->seek(offset)) {
    return Error{ExitCode::kBadInput,       path_, offset, "", "", "cannot seek in this input",
                 "use an uncompressed file"};
  }
  base_ = offset;
  pos_ = end_ = 0;
  at_end_ = failed_ = false;
  return {};
}

}  // namespace kojak
