#include "expert/cube/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "epilog/format/text/utf8.h"

namespace kojak::cube {
namespace {

constexpr std::size_t kChunk = 256 * 1024;
constexpr std::string_view kDoctype = "<!DOCTYPE";
constexpr std::string_view kEnd = "</cube";

}  // namespace

XmlInput::XmlInput(std::string path) : path_(std::move(path)), raw_(kChunk) {
  const bool standard = path_ == "-";
  error_.file = standard ? "standard input" : path_;
  struct stat about;
  if (!standard && ::stat(path_.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
    fail("is a directory", "name the report in it");
    return;
  }
  file_ = standard ? gzdopen(::dup(STDIN_FILENO), "rb") : gzopen(path_.c_str(), "rb");
  if (file_ == nullptr) {
    fail(std::string("cannot be opened: ") + std::strerror(errno),
         "check the name and your permission to read it");
    return;
  }
  gzbuffer(file_, static_cast<unsigned>(kChunk));
}

XmlInput::~XmlInput() {
  if (file_ != nullptr) gzclose(file_);
}

void XmlInput::fail(std::string reason, std::string remedy) {
  failed_ = true;
  error_.reason = std::move(reason);
  error_.remedy = std::move(remedy);
}

int XmlInput::read(char* out, int size) {
  while (taken_ == ready_.size()) {
    if (failed_) return -1;
    if (at_end_) return 0;
    if (!fill()) return -1;
  }
  const std::size_t count = std::min(static_cast<std::size_t>(size), ready_.size() - taken_);
  std::memcpy(out, ready_.data() + taken_, count);
  taken_ += count;
  return static_cast<int>(count);
}

bool XmlInput::fill() {
  const int count = gzread(file_, raw_.data() + carried_, static_cast<unsigned>(kChunk - carried_));
  if (count < 0) {
    int code = 0;
    const char* text = gzerror(file_, &code);
    error_.offset = offset_;
    fail(std::string("cannot be read: ") + (code == Z_ERRNO ? std::strerror(errno) : text),
         "the file is damaged or not complete: make it again");
    return false;
  }
  at_end_ = count == 0;
  offset_ += static_cast<std::uint64_t>(count);
  const std::size_t size = carried_ + static_cast<std::size_t>(count);
  if (at_start_) {
    at_start_ = false;
    look_at_head();
    if (failed_) return false;
  }
  taken_ = 0;
  ready_.clear();
  if (utf8_) {
    repair(size);
  } else {
    ready_.assign(raw_.data(), size);
  }
  look_for_marks();
  if (doctype_) {
    fail("holds a document type declaration, which no CUBE report does",
         "remove it if you trust the file");
    return false;
  }
  return true;
}

// What kind of file this is, for errors that help more than the parser's.
void XmlInput::look_at_head() {
  const std::string_view head(raw_.data(), std::min<std::size_t>(offset_, 1024));
  if (head.empty()) return fail("is empty", "make the report again");
  if (head.substr(0, 6) == "EPILOG") {
    return fail("is a trace, not a report", "run `expert` on it to get a report");
  }
  if (head.size() > 262 && head.substr(257, 5) == "ustar") {
    return fail("is an archive, as CUBE 4 writes it (.cubex)",
                "convert it to CUBE 3 with the CUBE tools, or run `expert` on the trace");
  }
  if (head.find('<') == std::string_view::npos) {
    return fail("is no XML and therefore no CUBE report", "name a file that `expert` wrote");
  }
  const bool wide = head.find('\0') != std::string_view::npos;
  const std::size_t encoding = head.find("encoding=");
  if (wide) utf8_ = false;
  if (encoding != std::string_view::npos) {
    std::string name(head.substr(std::min(encoding + 10, head.size()), 5));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    utf8_ = utf8_ && name == "UTF-8";
  }
}

void XmlInput::look_for_marks() {
  // One may lie across two chunks: the end of the last one is looked at again.
  const std::string border = tail_ + ready_.substr(0, kDoctype.size());
  const auto holds = [&](std::string_view mark) {
    return border.find(mark) != std::string::npos ||
           std::string_view(ready_).find(mark) != std::string_view::npos;
  };
  doctype_ = doctype_ || holds(kDoctype);
  complete_ = complete_ || holds(kEnd);
  tail_ = ready_.size() >= kDoctype.size() ? ready_.substr(ready_.size() - kDoctype.size() + 1)
                                           : tail_ + ready_;
}

void XmlInput::repair(std::size_t size) {
  const std::string_view text(raw_.data(), size);
  std::size_t from = 0;
  std::size_t at = 0;
  std::size_t left = 0;
  while (at < size) {
    if (plain_xml_byte(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    const int length = xml_character_length(text.substr(at));
    if (length > 0) {
      at += static_cast<std::size_t>(length);
      continue;
    }
    ready_.append(text.substr(from, at - from));
    if (length < 0 && !at_end_) {
      left = size - at;
      from = at = size;
      break;
    }
    ready_ += kReplacement;
    ++repaired_;
    from = ++at;
  }
  ready_.append(text.substr(from, at - from));
  std::memmove(raw_.data(), raw_.data() + size - left, left);
  carried_ = left;
}

}  // namespace kojak::cube
