// When operations of SHMEM are complete: when their call returns, or when their context is quiet.
//
// A blocking get has brought its data when it returns, and so has an atomic operation with a
// result, which then is complete at its target, too. A put is then complete at its origin only.
// A quiet completes what its process has issued before the quiet was entered. What another thread
// issues behind that may be complete or not when the quiet returns: nobody may rely on it, and the
// next quiet counts.
// Source: OpenSHMEM 1.5, 9.5, 9.6, 9.7 and 9.12.
#pragma once

#include "epilog/format/shmem_functions.h"

namespace kojak::model {

// `with_result`: a put whose call brings its target's old value back.
constexpr bool complete_when_quiet(bool put, bool non_blocking, bool with_result) {
  return non_blocking || (put && !with_result);
}

// A call that may complete what its process has issued.
constexpr bool may_quiet(ShmemRole role) {
  switch (role) {
    case ShmemRole::kFinalize:
    case ShmemRole::kQuiet:
    case ShmemRole::kBarrier:
    case ShmemRole::kMalloc:
    case ShmemRole::kRealloc:
    case ShmemRole::kFree:
    case ShmemRole::kClearLock:
    case ShmemRole::kContextDestroy:
    case ShmemRole::kLocalWait:
    case ShmemRole::kLocalTest:
    case ShmemRole::kNotify:
      return true;
    default:
      return false;
  }
}

}  // namespace kojak::model
