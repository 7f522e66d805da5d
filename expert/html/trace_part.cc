#include "expert/html/trace_part.h"

#include <algorithm>
#include <filesystem>

#include "expert/html/causes.h"
#include "expert/html/instances.h"
#include "expert/html/trace_reader.h"
#include "expert/html/trace_view.h"

namespace kojak::html {

Result<TracePart> read_trace_part(const std::string& path, const cube::Report& report,
                                  std::size_t max_bytes,
                                  const std::function<void(std::uint64_t events)>& progress) {
  std::error_code unknown;
  if (path == "-" ||
      std::filesystem::status(path, unknown).type() == std::filesystem::file_type::fifo) {
    Error error;
    error.file = path == "-" ? "standard input" : path;
    error.reason = "cannot be read more than once, which the timeline needs";
    error.remedy = "name a file";
    return error;
  }
  Result<Instances> found = find_instances(path, report);
  if (!found) return found.error();
  CauseFinder causes(found->first);
  Result<TraceContent> content = read_trace(path, {}, progress, &causes);
  if (!content) return content.error();
  TracePart part;
  part.damage = content->damage;
  part.instances = std::move(found->instances);
  part.callers = std::move(found->callers);
  for (std::size_t i = 0; i < part.instances.size(); ++i) {
    Instance& instance = part.instances[i];
    instance.begin -= content->begin;
    instance.end -= content->begin;
    if (const std::optional<WaitCause>& cause = causes.cause(i)) {
      instance.cause_row = cause->location;
      if (cause->function != nullptr) instance.cause_call = std::string(cause->function->name);
    }
  }
  std::stable_sort(part.instances.begin(), part.instances.end(),
                   [](const Instance& a, const Instance& b) { return a.seconds > b.seconds; });
  // Base64 makes four bytes of three.
  part.packed = pack_trace(std::move(*content), report, max_bytes / 3 * 2 / 4 * 3);
  return part;
}

}  // namespace kojak::html
