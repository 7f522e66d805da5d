#include "merge/complete/held_overflow.h"

namespace kojak::merge {

namespace {
// Small, because a release may read many lists side by side.
constexpr std::size_t kCursorBuffer = 16 * 1024;
}  // namespace

OverflowReader::OverflowReader(HeldEnds& held, const ListInfo& info,
                               const HeldEnds::Overflow& overflow)
    : held_(held),
      info_(info),
      overflow_(overflow),
      source_(held.sources_[info.stream]),
      dialect_(source_.trace->dialect) {
  dialect_.metrics = source_.translation->metric_count;
}

bool OverflowReader::next(HeldEnd& end) {
  do {
    if (!(overflow_.block ? next_spilled(end) : next_reference(end))) return false;
    ++held_.reread_;
  } while (overflow_.is_removed(end.rmaid));
  return true;
}

void OverflowReader::drop_read(HeldEnds::Overflow& overflow) const {
  if (overflow.block) {
    overflow.first_block = current_place_;
    overflow.first_at = at_;
    return;
  }
  const auto begin = overflow.segments.begin();
  if (left_ == 0) {
    overflow.segments.erase(begin, begin + static_cast<std::ptrdiff_t>(segment_));
  } else {
    overflow.segments.erase(begin, begin + static_cast<std::ptrdiff_t>(segment_ - 1));
    overflow.segments.front() = {input_->offset(), left_};
  }
}

bool OverflowReader::next_spilled(HeldEnd& end) {
  // Again where all of the first block has been taken out of the list (drop_read).
  while (current_ == nullptr || at_ == current_->count) {
    std::uint64_t where = overflow_.first_block;
    if (current_ != nullptr) {
      if (current_ == overflow_.block.get()) return false;
      where = current_->next;
    }
    at_ = current_ == nullptr ? overflow_.first_at : 0;
    current_place_ = where;
    if (where == overflow_.last_block) {
      current_ = overflow_.block.get();
    } else {
      if (!block_) block_ = std::make_unique<SpillBlock>();
      if (Status status =
              held_.files_.read(FileCache::kSpill, where, block_.get(), sizeof(SpillBlock));
          !status) {
        held_.fail(status.error());
        return false;
      }
      current_ = block_.get();
    }
  }
  end = current_->ends[at_++];
  return true;
}

bool OverflowReader::next_reference(HeldEnd& end) {
  while (left_ == 0) {
    if (segment_ == overflow_.segments.size()) return false;
    const HeldEnds::Overflow::Segment& segment = overflow_.segments[segment_++];
    if (!input_) {
      input_ = std::make_unique<LocalInput>(held_.files_, *source_.trace, kCursorBuffer);
    }
    input_->seek(segment.position);
    left_ = segment.count;
  }
  LocalEnd local;
  if (!scan(local)) {
    held_.fail(input_->failed() ? input_->error()
                                : Error{ExitCode::kBadInput, source_.trace->path, std::nullopt, "",
                                        "", "has changed while it was merged",
                                        "merge again when nothing else writes the file"});
    left_ = 0;
    segment_ = overflow_.segments.size();
    return false;
  }
  --left_;
  end.time = source_.clock(local.time);
  if (source_.corrected != nullptr) {
    // A cursor goes forward only; segments do, too.
    if (!cursor_) cursor_ = source_.corrected->cursor(source_.index);
    if (cursor_) end.time = cursor_->at(position_, end.time) - source_.corrected->base;
  }
  end.bytes = local.bytes;
  end.rmaid = local.rmaid;
  end.peer = info_.put ? info_.origin : local.peer;
  return true;
}

// The next operation in the input that is the list's.
bool OverflowReader::scan(LocalEnd& end) {
  std::uint64_t attribute = kNoBytes;
  for (;;) {
    if (input_->available() < kMaxRecord && !input_->exhausted()) input_->fill();
    if (input_->available() < 2) return false;
    const std::byte* p = input_->position();
    RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]), p + 2,
                     input_->offset()};
    if (input_->available() < std::size_t{2} + record.length) return false;
    position_ = record.offset;
    input_->skip(std::size_t{2} + record.length);
    if (is_attribute(record.type)) {
      byte_attribute(record, dialect_, raw(kAttrBytesReceived), attribute);
      continue;
    }
    if (!is_event(record.type)) continue;
    bool found = false;
    if (record.type == type_of(RecordType::kMpiRmaCall)) {
      MpiRmaCall call;
      found = decode(record, dialect_, call) == nullptr && end_from_call(call, info_.put, end);
    } else if (record.type == type_of(RecordType::kMpiPut1teRemote) ||
               record.type == type_of(RecordType::kMpiGet1te)) {
      found = end_from_record(record, dialect_, info_.put, attribute, end);
    }
    attribute = kNoBytes;
    // Operations towards processes that do not exist are in no list.
    if (found &&
        (info_.target == kAbsent ? end.peer < source_.trace->run_size : end.peer == info_.target) &&
        source_.translation->windows[end.window] == info_.window) {
      return true;
    }
  }
}

}  // namespace kojak::merge
