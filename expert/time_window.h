// --from and --to: the part of a trace within a time window, as elg_filter cuts it.
//
// The filter runs beside the analysis, which reads its output from a pipe, so that nothing is
// stored. Owns the process and the pipe. Fails by its Status.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "epilog/format/error.h"

namespace kojak::expert {

class TimeWindow {
 public:
  // Times as on the command line, absent if not given. `filter`: the program elg_filter.
  static Result<TimeWindow> open(const std::string& filter, const std::string& trace,
                                 const std::optional<std::string>& from,
                                 const std::optional<std::string>& to);
  TimeWindow(TimeWindow&& other) noexcept;
  TimeWindow& operator=(TimeWindow&&) = delete;
  ~TimeWindow();

  // What to read: a name for the pipe.
  std::string path() const { return "/dev/fd/" + std::to_string(pipe_); }
  // The filter's exit status, after it has ended.
  int finish();

 private:
  TimeWindow(int pipe, pid_t process) : pipe_(pipe), process_(process) {}
  int pipe_;
  pid_t process_;
};

}  // namespace kojak::expert
