// Keeps what a process would say that does not lead.
#pragma once

#include <ostream>
#include <sstream>
#include <string>

namespace kojak::parallel {

// What goes to a stream while this is there; then it goes where it went before, also behind an
// exception.
class Diverted {
 public:
  explicit Diverted(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Diverted() { stream_.rdbuf(before_); }
  Diverted(const Diverted&) = delete;
  Diverted& operator=(const Diverted&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

}  // namespace kojak::parallel
