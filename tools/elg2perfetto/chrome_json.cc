#include "tools/elg2perfetto/chrome_json.h"

#include <algorithm>
#include <charconv>

#include "expert/output/json.h"

namespace kojak::perfetto {
namespace {

constexpr std::size_t kTextBlock = 1 << 20;

std::string json(std::string_view text) {
  html::Json quoted;
  quoted.value(text);
  return quoted.text();
}

}  // namespace

ChromeJson::ChromeJson(OutputFile& out)
    : out_(out), buffer_(R"({"displayTimeUnit":"ns","traceEvents":[)"), tracks_(1) {}

void ChromeJson::write() {
  if (error_.reason.empty()) {
    if (Status written = out_.write(buffer_.data(), buffer_.size()); !written)
      error_ = written.error();
  }
  buffer_.clear();
}

Status ChromeJson::flush() {
  if (buffer_.ends_with(',')) buffer_.pop_back();
  buffer_ += "\n]}\n";
  write();
  return error_.reason.empty() ? Status() : Status(error_);
}

void ChromeJson::number(std::uint64_t value) {
  char text[24];
  buffer_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// Chrome counts in microseconds, with a fraction.
void ChromeJson::microseconds(std::uint64_t nanoseconds) {
  number(nanoseconds / 1000);
  const auto rest = static_cast<unsigned>(nanoseconds % 1000);
  buffer_ += '.';
  for (const unsigned digit : {rest / 100, rest / 10 % 10, rest % 10}) {
    buffer_ += static_cast<char>('0' + digit);
  }
}

std::string_view ChromeJson::quoted(std::string_view name) {
  const auto known = quoted_.find(name);
  return known != quoted_.end() ? known->second : quoted_.emplace(name, json(name)).first->second;
}

void ChromeJson::open(char phase, TrackId track) {
  buffer_ += "\n{\"ph\":\"";
  buffer_ += phase;
  buffer_ += "\",";
  buffer_ += tracks_[track].head;
}
void ChromeJson::open(char phase, TrackId track, std::uint64_t time) {
  open(phase, track);
  buffer_ += ",\"ts\":";
  microseconds(time);
}
void ChromeJson::close() {
  // flush() takes the last comma back, so that it must not be written before.
  if (buffer_.size() >= kTextBlock) write();
  buffer_ += "},";
}

TrackId ChromeJson::add(std::uint32_t pid, std::uint32_t tid) {
  last_pid_ = std::max(last_pid_, pid);
  tracks_.push_back(
      {pid, 0, "\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid), {}});
  return tracks_.size() - 1;
}

void ChromeJson::describe(TrackId track, const char* what, std::string_view name) {
  open('M', track);
  buffer_ += ",\"name\":\"";
  buffer_ += what;
  buffer_ += "\",\"args\":{\"name\":";
  buffer_ += json(name);
  buffer_ += '}';
  close();
}

TrackId ChromeJson::process(std::uint32_t pid, std::string_view name) {
  const TrackId track = add(pid, 0);
  describe(track, "process_name", name);
  return track;
}

TrackId ChromeJson::thread(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
  const TrackId track = add(pid, tid);
  describe(track, "thread_name", name);
  return track;
}

TrackId ChromeJson::track(TrackId parent, std::string_view name) {
  if (parent == 0) return process(last_pid_ + 1, name);
  return thread(tracks_[parent].pid, ++tracks_[parent].below, name);
}

TrackId ChromeJson::counter(TrackId process, std::string_view name) {
  const TrackId track = add(tracks_[process].pid, 0);
  tracks_[track].head += ",\"name\":" + json(name);
  return track;
}

void ChromeJson::begin(TrackId track, std::uint64_t time, std::string_view name,
                       std::string_view category, const Place* place) {
  open('B', track, time);
  tracks_[track].open.push_back(quoted(name));
  buffer_ += ",\"name\":";
  buffer_ += tracks_[track].open.back();
  buffer_ += ",\"cat\":";
  buffer_ += quoted(category);
  if (place != nullptr) {
    buffer_ += ",\"args\":{\"file\":";
    buffer_ += quoted(place->file);
    buffer_ += ",\"line\":";
    number(place->line);
    buffer_ += '}';
  }
  close();
}

void ChromeJson::end(TrackId track, std::uint64_t time) {
  open('E', track, time);
  // Some viewers end only what is named.
  if (std::vector<std::string_view>& names = tracks_[track].open; !names.empty()) {
    buffer_ += ",\"name\":";
    buffer_ += names.back();
    names.pop_back();
  }
  close();
}

void ChromeJson::moment(TrackId track, std::uint64_t time, std::string_view name,
                        std::uint64_t flow, bool last, std::initializer_list<Fact> facts) {
  open('i', track, time);
  buffer_ += ",\"s\":\"t\",\"name\":";
  buffer_ += quoted(name);
  if (facts.size() != 0) {
    buffer_ += ",\"args\":";
    char before = '{';
    for (const Fact& fact : facts) {
      buffer_ += before;
      before = ',';
      buffer_ += quoted(fact.name);
      buffer_ += ':';
      number(fact.value);
    }
    buffer_ += '}';
  }
  close();
  // Both ends of a flow have one name and one category.
  open(last ? 'f' : 's', track, time);
  buffer_ += ",\"name\":\"data\",\"cat\":\"data\",\"id\":";
  number(flow);
  if (last) buffer_ += ",\"bp\":\"e\"";
  close();
}

void ChromeJson::count(TrackId track, std::uint64_t time, std::int64_t value) {
  open('C', track, time);
  buffer_ += ",\"args\":{\"value\":";
  buffer_ += std::to_string(value);
  buffer_ += '}';
  close();
}

void ChromeJson::slice(TrackId track, std::uint64_t begin, std::uint64_t end, std::string_view name,
                       const std::vector<Text>& texts) {
  open('X', track, begin);
  buffer_ += ",\"dur\":";
  microseconds(end > begin ? end - begin : 0);
  buffer_ += ",\"name\":";
  buffer_ += quoted(name);
  buffer_ += ",\"args\":";
  char before = '{';
  for (const Text& text : texts) {
    buffer_ += before;
    before = ',';
    buffer_ += quoted(text.name);
    buffer_ += ':';
    buffer_ += json(text.value);
  }
  buffer_ += texts.empty() ? "{}" : "}";
  close();
}

}  // namespace kojak::perfetto
