// When operations of SHMEM are complete: when their call returns, or when their context is quiet.
//
// A blocking get has brought its data when it returns, and so has an atomic operation with a
// result, which then is complete at its target, too. A put is then complete at its origin only.
// Source: OpenSHMEM 1.5, 9.5, 9.6, 9.7 and 9.12.
#pragma once

namespace kojak::model {

// `with_result`: a put whose call brings its target's old value back.
constexpr bool complete_when_quiet(bool put, bool non_blocking, bool with_result) {
  return non_blocking || (put && !with_result);
}

}  // namespace kojak::model
