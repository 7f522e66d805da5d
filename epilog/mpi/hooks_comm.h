// Communicators: creation, with an identity that every member computes alike, and release.
//
// Every creation call counts on its parent when it is made, whatever comes out of it.
#pragma once

#include <utility>

#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/take_name.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/run_file.h"

namespace kojak::measure {

// False if the communicator could not be defined.
inline bool record_created(Recording& call, Comm& comm) {
  if (!call.use(comm)) return false;
  call.event(MpiCommCreated{call.r.lid, call.exit, static_cast<CommId>(comm.id)});
  return true;
}

// Takes note of what a creation call made, and defines it in this thread's file.
template <class C>
Comm* made(MPI_Comm handle, const Identity& identity, C& call) {
  if (handle == MPI_COMM_NULL) return nullptr;
  Comm* const comm = adopt_comm(handle, identity);
  if constexpr (C::kOn) {
    if (comm != nullptr) record_created(call, *comm);
  }
  return comm;
}

// Sequences of MPI_GROUP_CALL on a communicator; those of its files follow.
inline constexpr std::uint64_t kCreationSequence = 0, kOwnCreationSequence = 1,
                               kFinalizeSequence = 2, kOpenSequence = 3, kFirstFileSequence = 4;

// All members of `comm` are in this call together: the `ordinal`-th of its sequence.
inline void record_group_call(Recording& call, Comm& comm, std::uint64_t key,
                              std::uint64_t ordinal) {
  if (!call.use(comm)) return;
  call.event(MpiGroupCall{call.r.lid, call.exit, static_cast<CommId>(comm.id), Count64{key},
                          Count64{ordinal}});
}

// Made by all members of a parent.
struct CommCreateHook {
  Identity parent;
  Comm* parent_comm = nullptr;
  std::uint64_t ordinal = 0;

  void count(MPI_Comm handle) {
    Comm* comm = find_comm(handle);
    if (comm == nullptr && the_recorder.making_below) [[unlikely]]
      comm = adopt_early(handle);
    if (comm != nullptr) {
      parent_comm = comm;
      if (!comm->count_lost) parent = comm->identity;
      ordinal = counter(*comm)++;
    }
  }
  // A library between has passed another communicator on.
  void count_again(MPI_Comm handle) {
    if (parent_comm != nullptr) --counter(*parent_comm);
    parent_comm = nullptr;
    parent = {};
    ordinal = 0;
    count(handle);
  }
  // What such a library makes for itself counts apart.
  static std::uint64_t& counter(Comm& comm) {
    return the_recorder.making_below ? comm.created_below : comm.created;
  }
  static unsigned sequence(unsigned function) {
    return function + (the_recorder.making_below ? static_cast<unsigned>(kMaxFunctions) : 0u);
  }
  // A library copies what the program's call has made, which is still in its hand: the identity is
  // that which this call gives it.
  [[gnu::noinline]] static Comm* adopt_early(MPI_Comm made) {
    const BelowNote* const note = passed_as_asked();
    Comm* const parent = note != nullptr ? find_comm(handle<MPI_Comm>(note->asked.comm)) : nullptr;
    Comm* const comm = adopt_comm(made, Identity{});
    if (comm == nullptr) return nullptr;
    comm->early = true;
    if (parent != nullptr && !parent->count_lost && parent->created != 0) {
      comm->identity = created_identity(parent->identity, note->function, parent->created - 1,
                                        comm->group, comm->remote);
    }
    return comm;
  }
  bool counts() const { return parent_comm != nullptr && !parent_comm->count_lost; }
  template <class C>
  void take(MPI_Comm handle, unsigned function, C& call) {
    on_own_stack([&] { take_here(handle, function, call); });
  }
  template <class C>
  void take_here(MPI_Comm handle, unsigned function, C& call) {
    if (handle == MPI_COMM_NULL) return;
    Comm* comm = find_comm(handle);
    if (comm == nullptr || !comm->early) comm = adopt_comm(handle, Identity{});
    if (comm == nullptr) return;
    comm->early = false;
    comm->identity =
        created_identity(parent, sequence(function), ordinal, comm->group, comm->remote);
    if constexpr (C::kOn) {
      const bool cartesian =
          function == args::CartCreate::kFunction || function == args::CartSub::kFunction;
      if (record_created(call, *comm) && cartesian) {
        call.with_recorder([&] { return define_topology(call.r, *comm, handle); });
      }
    }
  }
};
#define KOJAK_CREATES(Args, parent_argument, new_argument)                                         \
  template <>                                                                                      \
  struct Hook<args::Args> : CommCreateHook {                                                       \
    void before(const args::Args& a) { count(a.parent_argument); }                                 \
    void again(const args::Args& a) { count_again(a.parent_argument); }                            \
    template <class C>                                                                             \
    void after(const args::Args& a, int result, C& call) {                                         \
      if (result == MPI_SUCCESS) {                                                                 \
        take(*a.new_argument, args::Args::kFunction, call);                                        \
      } else {                                                                                     \
        call.apart([&](C& c) { on_own_stack([&] { failed_creation(parent_comm, result, c); }); }); \
      }                                                                                            \
      if constexpr (C::kOn) {                                                                      \
        if (result == MPI_SUCCESS && counts()) {                                                   \
          on_own_stack(                                                                            \
              [&] { record_group_call(call, *parent_comm, kCreationSequence, ordinal); });         \
        }                                                                                          \
        call.leave();                                                                              \
      }                                                                                            \
    }                                                                                              \
  };
KOJAK_CREATES(CommCreate, comm, newcomm)
KOJAK_CREATES(CommDup, comm, newcomm)
KOJAK_CREATES(CommDupWithInfo, comm, newcomm)
KOJAK_CREATES(CommSplit, comm, newcomm)
KOJAK_CREATES(CommSplitType, comm, newcomm)
KOJAK_CREATES(CartCreate, old_comm, comm_cart)
KOJAK_CREATES(CartSub, comm, new_comm)
KOJAK_CREATES(GraphCreate, comm_old, comm_graph)
KOJAK_CREATES(DistGraphCreate, comm_old, newcomm)
KOJAK_CREATES(DistGraphCreateAdjacent, comm_old, comm_dist_graph)
KOJAK_CREATES(IntercommMerge, intercomm, newintercomm)
KOJAK_CREATES(XStreamCommCreate, comm, newcomm)
KOJAK_CREATES(XStreamCommCreateMultiplex, comm, newcomm)
#undef KOJAK_CREATES

// The new communicator is there when the request completes; its place in the parent's order is now.
struct CommIdupHook : CommCreateHook {
  Request* entered = nullptr;

  template <class A>
  void before(const A& a) {
    count(a.comm);
  }
  template <class A>
  void again(const A& a) {
    count_again(a.comm);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Comm* const comm = result == MPI_SUCCESS ? comm_of(a.comm) : nullptr;
    if (comm != nullptr) {
      if (Request* request = enter_request(*a.request, RequestKind::kCommDup)) {
        request->id = next_request_id();
        entered = request;
        request->made = a.newcomm;
        request->identity = created_identity(parent, sequence(args::CommIdup::kFunction), ordinal,
                                             comm->group, comm->remote);
      }
    } else if (result != MPI_SUCCESS) {
      call.apart([&](C& c) { failed_creation(parent_comm, result, c); });
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::CommIdup> : CommIdupHook {};
template <>
struct Hook<args::CommIdupWithInfo> : CommIdupHook {};

// Only the group's members call: the ordinal is that of parent, tag and members together.
template <>
struct Hook<args::CommCreateGroup> {
  template <class C>
  void after(const args::CommCreateGroup& a, int result, C& call) {
    if (result == MPI_SUCCESS && *a.newcomm != MPI_COMM_NULL) {
      const Comm* const parent = comm_of(a.comm);
      const Group* const group = group_of(a.group);
      Identity identity;
      if (parent != nullptr && group != nullptr && parent->identity.known) {
        IdentityHash key;
        key.add(parent->identity)
            .add(CommCreateHook::sequence(args::CommCreateGroup::kFunction))
            .add(static_cast<std::uint32_t>(a.tag));
        for (std::uint32_t i = 0; i < group->count; ++i) key.add(group->ranks[i]);
        IdentityHash with_ordinal = key;
        identity = with_ordinal.add(next_ordinal_of(key.get())).get();
      }
      Comm* const comm = made(*a.newcomm, identity, call);
      if constexpr (C::kOn) {
        if (comm != nullptr) record_group_call(call, *comm, kOwnCreationSequence, 0);
      }
    }
    if constexpr (C::kOn) call.leave();
  }
};

// Members of both sides know both lists; the one with the smaller first member comes first.
template <>
struct Hook<args::IntercommCreate> {
  template <class C>
  void after(const args::IntercommCreate& a, int result, C& call) {
    if (result == MPI_SUCCESS && *a.newintercomm != MPI_COMM_NULL) {
      Comm* const comm = adopt_comm(*a.newintercomm, Identity{});
      if (comm != nullptr && comm->remote != nullptr && !comm->group->foreign &&
          !comm->remote->foreign) {
        const Group* first = comm->group;
        const Group* second = comm->remote;
        if (second->ranks[0] < first->ranks[0]) std::swap(first, second);
        IdentityHash key;
        key.add(CommCreateHook::sequence(args::IntercommCreate::kFunction)).add(first->count);
        for (std::uint32_t i = 0; i < first->count; ++i) key.add(first->ranks[i]);
        for (std::uint32_t i = 0; i < second->count; ++i) key.add(second->ranks[i]);
        IdentityHash with_ordinal = key;
        comm->identity = with_ordinal.add(next_ordinal_of(key.get())).get();
      }
      if constexpr (C::kOn) {
        if (comm != nullptr) record_group_call(call, *comm, kOwnCreationSequence, 0);
      }
    }
    if constexpr (C::kOn) call.leave();
  }
};

// Out of groups, without a parent: the ordinal is that of tag and members together. The members of
// an intercommunicator count with both lists, the one with the smaller first member first.
struct FromGroupHook {
  static void add(IdentityHash& key, const char* text) {
    for (; text != nullptr && *text != '\0'; ++text) key.add(static_cast<unsigned char>(*text));
  }
  static void add(IdentityHash& key, const Group& group) {
    key.add(group.count);
    for (std::uint32_t i = 0; i < group.count; ++i) key.add(group.ranks[i]);
  }
  template <class C>
  static void take(MPI_Comm handle, const char* tag, unsigned function, C& call) {
    if (handle == MPI_COMM_NULL) return;
    Comm* const comm = adopt_comm(handle, Identity{});
    if (comm == nullptr) return;
    const Group* first = comm->group;
    const Group* second = comm->remote;
    const bool foreign = first->foreign || (second != nullptr && second->foreign);
    if (!foreign && tag != nullptr) {
      if (second != nullptr && second->ranks[0] < first->ranks[0]) std::swap(first, second);
      IdentityHash key;
      key.add(function);
      add(key, tag);
      add(key, *first);
      if (second != nullptr) add(key, *second);
      IdentityHash with_ordinal = key;
      comm->identity = with_ordinal.add(next_ordinal_of(key.get())).get();
    }
    if constexpr (C::kOn) call.use(*comm);
  }
};
template <>
struct Hook<args::CommCreateFromGroup> : FromGroupHook {
  template <class C>
  void after(const args::CommCreateFromGroup& a, int result, C& call) {
    if (result == MPI_SUCCESS)
      take(*a.newcomm, a.stringtag, args::CommCreateFromGroup::kFunction, call);
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::IntercommCreateFromGroups> : FromGroupHook {
  template <class C>
  void after(const args::IntercommCreateFromGroups& a, int result, C& call) {
    if (result == MPI_SUCCESS)
      take(*a.newintercomm, a.stringtag, args::IntercommCreateFromGroups::kFunction, call);
    if constexpr (C::kOn) call.leave();
  }
};

// Communicators with processes that may be without us: their identity stays unknown.
#define KOJAK_CONNECTS(Args, new_argument)                                  \
  template <>                                                               \
  struct Hook<args::Args> {                                                 \
    template <class C>                                                      \
    void after(const args::Args& a, int result, C& call) {                  \
      if (result == MPI_SUCCESS && find_comm(*a.new_argument) == nullptr) { \
        made(*a.new_argument, Identity{}, call);                            \
      }                                                                     \
      if constexpr (C::kOn) call.leave();                                   \
    }                                                                       \
  };
KOJAK_CONNECTS(CommSpawn, intercomm)
KOJAK_CONNECTS(CommSpawnMultiple, intercomm)
KOJAK_CONNECTS(CommAccept, newcomm)
KOJAK_CONNECTS(CommConnect, newcomm)
KOJAK_CONNECTS(CommJoin, intercomm)
KOJAK_CONNECTS(CommGetParent, parent)
KOJAK_CONNECTS(XCommShrink, newcomm)  // nobody can say which members the others lost
#undef KOJAK_CONNECTS

struct CommFreeHook {
  Comm* comm = nullptr;
  MPI_Comm handle = MPI_COMM_NULL;

  template <class A>
  void before(const A& a) {
    if (a.comm != nullptr) comm = forget_comm(handle = *a.comm);
  }
  template <class A, class C>
  void after(const A&, int result, C& call) {
    if (comm != nullptr) {
      if (result == MPI_SUCCESS) {
        drop_comm(comm);
      } else {
        remember_comm(comm, handle);
      }
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::CommFree> : CommFreeHook {};
template <>
struct Hook<args::CommDisconnect> : CommFreeHook {};

template <>
struct Hook<args::CommSetName> {
  template <class C>
  void after(const args::CommSetName& a, int result, C& call) {
    Comm* const comm = result == MPI_SUCCESS ? comm_of(a.comm) : nullptr;
    take_name(comm, a.comm_name, result, call);
  }
};

template <>
struct Hook<args::Abort> {
  void before(const args::Abort& a) { tell_run_of_abort(a.errorcode); }
};

template <>
struct Hook<args::Finalize> {
  template <class C>
  void after(const args::Finalize&, int result, C& call) {
    if constexpr (C::kOn) {
      Comm* const world = result == MPI_SUCCESS ? find_comm(MPI_COMM_WORLD) : nullptr;
      if (world != nullptr) record_group_call(call, *world, kFinalizeSequence, 0);
      call.leave();
    }
  }
};

}  // namespace kojak::measure
