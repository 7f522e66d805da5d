// Fortran arguments in C's terms, for the hooks of a Fortran call.
//
// The call itself goes to the MPI library's own Fortran entry point with the caller's arguments;
// what is made here is only what the hooks look at. Each class stands for one argument: given() is
// what the hooks get before the call, take() brings C's side up to date after it. With `kUsed`
// false (a function without hooks) nothing is converted. Arguments that no hook may use are null in
// a Fortran call: strings but that of MPI_Comm_create_from_group, sessions, callbacks, attribute
// values, arrays of LOGICALs, and arrays of handles other than requests and datatypes. Memory for
// long arrays is the measurement's own and is kept for later calls; ok() is false without.
#pragma once

#include <cstddef>
#include <cstring>

#include "epilog/mpi/call.h"
#include "epilog/mpi/coll_bytes.h"
#include "epilog/mpi/fortran/values.h"
#include "epilog/mpi/hooks_comm.h"  // Fortran's idup adds to the hook of C's
#include "epilog/mpi/mpi.h"

namespace kojak::measure::fortran {

static_assert(sizeof(MPI_Fint) == sizeof(int),
              "INTEGER is not int in this MPI library: configure with -DKOJAK_FORTRAN=OFF");

// The kinds of handles. In MPICH all of them are one C type, so a kind is a type of ours.
#define KOJAK_HANDLE_KIND(Name, Type, from_fortran, null)                              \
  struct Name {                                                                        \
    using C = Type;                                                                    \
    static C none() { return null; }                                                   \
    static C from(MPI_Fint handle) {                                                   \
      const C made = from_fortran(handle);                                             \
      return made == C{} ? null : made; /* Open MPI: the handle is no longer in use */ \
    }                                                                                  \
  };
KOJAK_HANDLE_KIND(CommKind, MPI_Comm, mpi::Comm_f2c, MPI_COMM_NULL)
KOJAK_HANDLE_KIND(TypeKind, MPI_Datatype, mpi::Type_f2c, MPI_DATATYPE_NULL)
KOJAK_HANDLE_KIND(RequestKindOf, MPI_Request, mpi::Request_f2c, MPI_REQUEST_NULL)
KOJAK_HANDLE_KIND(WinKind, MPI_Win, mpi::Win_f2c, MPI_WIN_NULL)
KOJAK_HANDLE_KIND(GroupKind, MPI_Group, mpi::Group_f2c, MPI_GROUP_NULL)
KOJAK_HANDLE_KIND(OpKind, MPI_Op, mpi::Op_f2c, MPI_OP_NULL)
KOJAK_HANDLE_KIND(InfoKind, MPI_Info, mpi::Info_f2c, MPI_INFO_NULL)
KOJAK_HANDLE_KIND(FileKind, MPI_File, mpi::File_f2c, MPI_FILE_NULL)
KOJAK_HANDLE_KIND(ErrhandlerKind, MPI_Errhandler, mpi::Errhandler_f2c, MPI_ERRHANDLER_NULL)
KOJAK_HANDLE_KIND(MessageKind, MPI_Message, mpi::Message_f2c, MPI_MESSAGE_NULL)
#undef KOJAK_HANDLE_KIND

template <bool kUsed, class T>
T as_value(const void* p) {
  if constexpr (kUsed) {
    return *static_cast<const T*>(p);
  } else {
    return T{};
  }
}
inline bool is_true(const void* p) {
  return *static_cast<const MPI_Fint*>(p) != values().false_value;
}
template <bool kUsed>
int as_logical(const void* p) {
  if constexpr (kUsed) {
    return is_true(p) ? 1 : 0;
  } else {
    return 0;
  }
}
template <bool kUsed, class Kind>
typename Kind::C as_handle(const void* p) {
  if constexpr (kUsed) {
    return Kind::from(*static_cast<const MPI_Fint*>(p));
  } else {
    return Kind::none();
  }
}
// The address of a choice buffer, which is what a descriptor begins with.
inline void* buffer_address(void* p, Interface interface) {
  return interface == Interface::kF08Described && p != nullptr ? *static_cast<void**>(p) : p;
}
inline bool is_in_place(void* p, Interface interface) {
  void* const address = buffer_address(p, interface);
  return address != nullptr && address == sentinels(interface).in_place;
}
template <bool kUsed>
void* as_buffer(void* p, Interface interface) {
  if constexpr (kUsed) {
    return is_in_place(p, interface) ? MPI_IN_PLACE : buffer_address(p, interface);
  } else {
    return nullptr;
  }
}

template <bool kUsed, class Kind>
class OutHandle {
 public:
  OutHandle(void* user, bool has_value) : user_(static_cast<const MPI_Fint*>(user)) {
    if (kUsed && has_value) c_ = Kind::from(*user_);
  }
  typename Kind::C* given() { return &c_; }
  void take() {
    if constexpr (kUsed) c_ = Kind::from(*user_);
  }

 private:
  const MPI_Fint* user_;
  typename Kind::C c_ = Kind::none();
};

template <bool kUsed>
class OutLogical {
 public:
  explicit OutLogical(void* user) : user_(user) {}
  int* given() { return &c_; }
  void take() {
    if constexpr (kUsed) c_ = is_true(user_) ? 1 : 0;
  }

 private:
  const void* user_;
  int c_ = 0;
};

template <bool kUsed>
class OutIndex {
 public:
  OutIndex(void* user, Interface interface)
      : user_(static_cast<const MPI_Fint*>(user)), interface_(interface) {}
  int* given() { return &c_; }
  void take() {
    if constexpr (kUsed)
      // Some add 1 to MPI_UNDEFINED.
      c_ = *user_ < 0 ? MPI_UNDEFINED : *user_ - first_index(interface_);
  }

 private:
  const MPI_Fint* user_;
  Interface interface_;
  int c_ = MPI_UNDEFINED;
};

// Memory for the length of one call, which later ones get again. It is not on the caller's stack,
// of which there may be little.
struct Block {
  std::byte* data = nullptr;
  std::size_t size = 0;
  Block* next = nullptr;
};
Block* take_block(std::size_t size);  // null: no memory
void give_back(Block* block);

template <class T>
class Scratch {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (block_ != nullptr) give_back(block_);
  }
  bool resize(int count) {  // once
    block_ = take_block(count > 0 ? static_cast<std::size_t>(count) * sizeof(T) : 0);
    return block_ != nullptr;
  }
  T* data() { return block_ != nullptr ? reinterpret_cast<T*>(block_->data) : nullptr; }

 private:
  Block* block_ = nullptr;
};

#if defined(MPICH)
// Handles are the same numbers in both languages.
template <bool kUsed>
class Requests {
 public:
  static_assert(sizeof(MPI_Fint) == sizeof(MPI_Request));
  Requests(void* user, const void*) : user_(static_cast<MPI_Request*>(user)) {}
  bool ok() const { return true; }
  MPI_Request* given() { return kUsed ? user_ : nullptr; }
  void take() {}
  void take(const int*, int) {}

 private:
  MPI_Request* user_;
};
#else
// An array of requests in both languages. To convert them all takes longer than to complete one, so
// what is known from the last call with such an array is used again: a number that stands for a
// request stands for the same one until that is over.
struct RequestArray {
  Vector<MPI_Fint> fortran;
  Vector<MPI_Request> c;
  std::uint64_t ended = 0;  // how many requests had been over when all of it was true
  bool holds = false;       // it was true then
  RequestArray* next = nullptr;
};
RequestArray* convert_requests(const MPI_Fint* user, std::size_t count);  // null: no memory
// `completed`: by the call itself, which has told what became of these.
void give_back(RequestArray* array, std::uint64_t completed);

template <bool kUsed>
class Requests {
 public:
  Requests(void* user, const void* count) : user_(static_cast<const MPI_Fint*>(user)) {
    if constexpr (kUsed) {
      const MPI_Fint n = *static_cast<const MPI_Fint*>(count);
      array_ = convert_requests(user_, n > 0 ? static_cast<std::size_t>(n) : 0);
    }
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() {
    if (array_ != nullptr) give_back(array_, completed_);
  }
  bool ok() const { return !kUsed || array_ != nullptr; }
  MPI_Request* given() { return array_ != nullptr ? array_->c.data() : nullptr; }
  // What the call made of all of them, or of those that it completed.
  void take() {
    if constexpr (kUsed) {
      for (std::size_t i = 0; i < array_->c.size(); ++i) take(i);
      array_->holds = false;
    }
  }
  void take(const int* indices, int found) {
    if constexpr (kUsed) {
      for (int i = 0; i < found; ++i) {
        const auto place = static_cast<std::size_t>(indices[i]);
        if (indices[i] < 0 || place >= array_->c.size()) continue;
        take(place);
        ++completed_;
      }
    }
  }

 private:
  void take(std::size_t i) {
    array_->fortran[i] = user_[i];
    array_->c[i] = RequestKindOf::from(user_[i]);
  }
  const MPI_Fint* user_;
  RequestArray* array_ = nullptr;
  std::uint64_t completed_ = 0;
};
#endif

template <bool kUsed>
class Indices {
 public:
  Indices(void* user, const void* count, Interface interface)
      : user_(static_cast<const MPI_Fint*>(user)), interface_(interface) {
    if constexpr (kUsed) (void)c_.resize(*static_cast<const MPI_Fint*>(count));
  }
  bool ok() { return !kUsed || c_.data() != nullptr; }
  int* given() { return c_.data(); }
  void take(int found) {
    if constexpr (kUsed) {
      for (int i = 0; i < found; ++i) c_.data()[i] = user_[i] - first_index(interface_);
    }
  }

 private:
  const MPI_Fint* user_;
  Scratch<int> c_;
  Interface interface_;
};

// Text, which ends at its last character that is no blank.
template <bool kUsed>
class InString {
 public:
  InString(const void* user, std::size_t length) {
    if constexpr (kUsed) {
      const char* const text = static_cast<const char*>(user);
      while (length != 0 && text[length - 1] == ' ') --length;
      ok_ = c_.resize(static_cast<int>(length) + 1);
      if (!ok_) return;
      std::memcpy(c_.data(), text, length);
      c_.data()[length] = '\0';
    }
  }
  bool ok() const { return ok_; }
  const char* given() { return c_.data(); }

 private:
  Scratch<char> c_;
  bool ok_ = true;
};

// One status. Where the user ignores it and a hook wants it, the library gets one of ours.
template <bool kUsed>
class Status {
 public:
  Status(void* user, Interface interface) : user_(user) {
    if constexpr (kUsed) ignored_ = ignores_status(user, interface);
  }
  MPI_Status* given() { return ignored_ ? MPI_STATUS_IGNORE : &c_; }
  void* passed(const MPI_Status* wanted) {
    return kUsed && ignored_ && wanted != MPI_STATUS_IGNORE ? own_ : user_;
  }
  void take(MPI_Status* wanted) {
    if constexpr (kUsed) {
      if (wanted != MPI_STATUS_IGNORE)
        mpi::Status_f2c(ignored_ ? own_ : static_cast<const MPI_Fint*>(user_), wanted);
    }
  }

 private:
  void* user_;
  bool ignored_ = false;
  union {
    MPI_Status c_;                                             // of what the user looks at
    MPI_Fint own_[2 * sizeof(MPI_Status) / sizeof(MPI_Fint)];  // in Fortran's terms
  };
};

template <bool kUsed>
class Statuses {
 public:
  Statuses(void* user, const void* count, Interface interface) : user_(user), count_(count) {
    if constexpr (kUsed) {
      ignored_ = ignores_status(user, interface);
      if (!ignored_) ok_ = c_.resize(*static_cast<const MPI_Fint*>(count));
    }
  }
  bool ok() const { return ok_; }
  MPI_Status* given() { return ignored_ ? MPI_STATUSES_IGNORE : c_.data(); }
  void* passed(const MPI_Status* wanted) {
    if constexpr (kUsed) {
      if (ignored_ && wanted != MPI_STATUSES_IGNORE) {
        own_used_ = own_.resize(*static_cast<const MPI_Fint*>(count_) * values().status_size);
        if (own_used_) return own_.data();
      }
    }
    return user_;
  }
  // What hooks may look at after a call that failed: Open MPI's Fortran library fills in none then.
  MPI_Status* told([[maybe_unused]] MPI_Status* wanted, [[maybe_unused]] int count) {
#if defined(MPICH)
    if (take(wanted, count)) return wanted;
#endif
    return MPI_STATUSES_IGNORE;
  }
  // False without memory: then nothing may be said of the statuses.
  bool take(MPI_Status* wanted, int found) {
    if constexpr (kUsed) {
      if (wanted == MPI_STATUSES_IGNORE) return true;
      if (ignored_ && !own_used_) return false;
      const MPI_Fint* from = ignored_ ? own_.data() : static_cast<const MPI_Fint*>(user_);
      for (int i = 0; i < found; ++i) mpi::Status_f2c(from + i * values().status_size, wanted + i);
    }
    return true;
  }

 private:
  void* user_;
  const void* count_;
  Scratch<MPI_Status> c_;
  Scratch<MPI_Fint> own_;
  bool ignored_ = false;
  bool own_used_ = false;
  bool ok_ = true;
};

// How many places a call that failed has filled in, if it says so.
inline int told_of(const int* outcount, int incount) {
  return outcount != nullptr && *outcount > 0 && *outcount <= incount ? *outcount : 0;
}

// The datatypes of an alltoallw. How many there are is asked only after the call has succeeded.
template <bool kUsed>
class Types {
 public:
  enum class Of { kMembers, kSources, kDestinations };
  Types(const void* user, bool in_place)
      : user_(static_cast<const MPI_Fint*>(user)), in_place_(in_place) {}
  const MPI_Datatype* given() { return c_.data(); }
  // False without memory.
  bool take(MPI_Comm comm, Of of) {
    if constexpr (kUsed) {
      if (in_place_) return true;
      const int count = count_of(comm, of);
      if (!c_.resize(count)) return false;
      for (int i = 0; i < count; ++i) c_.data()[i] = TypeKind::from(user_[i]);
    }
    return true;
  }

 private:
  static int count_of(MPI_Comm comm, Of of) {
    if (of != Of::kMembers) {
      const Neighbors neighbors = neighbors_of(comm);
      return static_cast<int>(of == Of::kSources ? neighbors.sources : neighbors.destinations);
    }
    int inter = 0, count = 0;
    mpi::Comm_test_inter(comm, &inter);
    inter != 0 ? mpi::Comm_remote_size(comm, &count) : mpi::Comm_size(comm, &count);
    return count;
  }

  const MPI_Fint* user_;
  bool in_place_;
  Scratch<MPI_Datatype> c_;
};

// A function on its way through the Fortran library.
class Passage {
 public:
  Passage(Recorder& r, unsigned function, const CodeRange& library)
      : r_(r), forwarded_(r.forwarded), forwarder_(r.forwarder) {
    r.forwarded = function + 1;
    r.forwarder = &library;
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
  ~Passage() {
    r_.forwarded = forwarded_;
    r_.forwarder = forwarder_;
  }

 private:
  Recorder& r_;
  std::uint32_t forwarded_;
  const CodeRange* forwarder_;
};

// The measured call: through the Fortran library. The arguments stand by themselves, so that
// nothing else needs an address where hooks get theirs.
template <class A, class F>
struct Call {
  using Result = typename A::Result;
  static constexpr auto kFunction = A::kFunction;
  static constexpr auto kGroup = A::kGroup;
  static constexpr bool kBlocks = A::kBlocks;
  static constexpr bool kBegins = A::kBegins;
  static constexpr bool kReturnsCode = A::kReturnsCode;
  A& arguments;
  F& forward;
  const CodeRange& library;
  KOJAK_INLINED Result call() {
    const Passage passage(the_recorder, A::kFunction, library);
    return forward(arguments);
  }
};
template <class A, class F>
KOJAK_INLINED inline A& arguments_of(Call<A, F>& call) {
  return call.arguments;
}

template <class A, class F>
KOJAK_INLINED inline typename A::Result measured_in_fortran(const Entry& entry, const void* caller,
                                                            A arguments, F&& forward) {
  using Forward = std::remove_reference_t<F>;
  return measured(Call<A, Forward>{arguments, forward, entry.library()}, caller);
}

}  // namespace kojak::measure::fortran

namespace kojak::measure {

// A Fortran call has the hooks of the function.
template <class A, class F>
struct Hook<fortran::Call<A, F>> : Hook<A> {};

// What C keeps for the completion is a pointer to the user's handle. Fortran's has another form, so
// its value is kept: the handle is known when the call returns, the Fortran library cannot set it
// later.
template <class A>
struct IdupInFortran : Hook<A> {
  template <class C>
  void after(const A& a, int result, C& call) {
    Hook<A>::after(a, result, call);
    if (this->entered == nullptr) return;
    this->entered->copy = *a.newcomm;
    this->entered->made = &this->entered->copy;
  }
};
template <class F>
struct Hook<fortran::Call<args::CommIdup, F>> : IdupInFortran<args::CommIdup> {};
template <class F>
struct Hook<fortran::Call<args::CommIdupWithInfo, F>> : IdupInFortran<args::CommIdupWithInfo> {};

}  // namespace kojak::measure
