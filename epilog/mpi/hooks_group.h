// Groups: which handles stand for one, so that a group can be asked about before the call that it
// is given to.
#pragma once

#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"

namespace kojak::measure {

#define KOJAK_GIVES_GROUP(Args, argument)                  \
  template <>                                              \
  struct Hook<args::Args> {                                \
    template <class C>                                     \
    void after(const args::Args& a, int result, C& call) { \
      if (result == MPI_SUCCESS) group_given(*a.argument); \
      if constexpr (C::kOn) call.leave();                  \
    }                                                      \
  };
KOJAK_GIVES_GROUP(CommGroup, group)
KOJAK_GIVES_GROUP(CommRemoteGroup, group)
KOJAK_GIVES_GROUP(XCommFailureGetAcked, failedgrp)
KOJAK_GIVES_GROUP(XCommGetFailed, failedgroup)
KOJAK_GIVES_GROUP(WinGetGroup, group)
KOJAK_GIVES_GROUP(GroupDifference, newgroup)
KOJAK_GIVES_GROUP(GroupExcl, newgroup)
KOJAK_GIVES_GROUP(GroupIncl, newgroup)
KOJAK_GIVES_GROUP(GroupIntersection, newgroup)
KOJAK_GIVES_GROUP(GroupRangeExcl, newgroup)
KOJAK_GIVES_GROUP(GroupRangeIncl, newgroup)
KOJAK_GIVES_GROUP(GroupUnion, newgroup)
#undef KOJAK_GIVES_GROUP

template <>
struct Hook<args::GroupFree> {
  Word key = 0;
  void before(const args::GroupFree& a) {
    if (a.group != nullptr) key = word(*a.group);
  }
  template <class C>
  void after(const args::GroupFree&, int result, C& call) {
    if (result == MPI_SUCCESS) group_freed(key);
    if constexpr (C::kOn) call.leave();
  }
};

}  // namespace kojak::measure
