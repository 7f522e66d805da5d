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

}  // namespace kojak::parallel
