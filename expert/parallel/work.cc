#include "expert/parallel/work.h"

#include <exception>
#include <new>
#include <string>

namespace kojak::parallel {

Bytes guarded(const std::function<Bytes()>& work) {
  const auto failed = [](const std::string& why) {
    return Error{.code = ExitCode::kOutputFailed, .reason = why};
  };
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return failed("there is not enough memory");
  } catch (const std::exception& problem) {
    return failed(problem.what());
  } catch (...) {
    return failed("of a fault in expert");
  }
}

Bytes kept_or(const KeptFiles& kept, const std::string& name, const std::vector<std::byte>& request,
              const std::function<Bytes()>& work) {
  if (auto bytes = kept.find(name, request)) return std::move(*bytes);
  Bytes done = work();
  if (!done) return done;
  Status status = kept.keep(name, request, *done);
  return status ? std::move(done) : status.error();
}

}  // namespace kojak::parallel
