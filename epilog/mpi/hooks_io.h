// Files: which collective call of a file a call is, and requests of non-blocking operations.
//
// Calls that all who opened a file make together are numbered, so that a wait for the last of them
// can be told. A file is found by its handle; one that was opened unseen stays unknown.
#pragma once

#include "epilog/mpi/hooks_comm.h"

namespace kojak::measure {

struct OpenFile {
  Comm* comm;
  std::uint64_t sequence;  // of MPI_GROUP_CALL on that communicator
  std::uint64_t calls;     // collective ones so far
};
extern HashMap<OpenFile> open_files;

// What is noted of a call that does not return: the file's communicator, and the call's number
// there, apart for each file.
struct FileTurn {
  Comm* parent_comm = nullptr;
  std::uint64_t ordinal = 0;

  void find(Word file) {
    const OpenFile* const found = open_files.find(file);
    if (found == nullptr) return;
    parent_comm = found->comm;
    ordinal = found->sequence << kFileCallBits | found->calls;
  }
};

template <>
struct Hook<args::FileOpen> : FileTurn {
  void before(const args::FileOpen& a) {
    parent_comm = find_comm(a.comm);
    if (parent_comm != nullptr) ordinal = kOpenSequence << kFileCallBits | parent_comm->opened;
  }
  void again(const args::FileOpen& a) { before(a); }
  template <class C>
  void after(const args::FileOpen& a, int result, C& call) {
    Comm* const comm = result == MPI_SUCCESS ? cached_comm(the_recorder, a.comm) : nullptr;
    if (comm != nullptr && !comm->count_lost) {
      const std::uint64_t number = comm->opened++;
      if (open_files.set(word(*a.fh), {comm, kFirstFileSequence + number, 0}) != nullptr) {
        keep_comm(comm);
      }
      if constexpr (C::kOn) record_group_call(call, *comm, kOpenSequence, number);
    }
    if constexpr (C::kOn) call.leave();
  }
};

// A collective call on a file failed in its midst: the others may have counted it, and its next
// ones are paired with nobody's.
[[gnu::cold]] inline void lose_file(Word file, int code) {
  const OpenFile* const found = open_files.find(file);
  if (found == nullptr || code == kNotSeen || took_no_part(code)) return;
  drop_comm(found->comm);
  open_files.erase(file);
}

struct CollectiveFileHook : FileTurn {
  template <class A>
  void before(const A& a) {
    find(word(a.fh));
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result != MPI_SUCCESS) [[unlikely]]
      call.apart([&](C&) { lose_file(word(a.fh), result); });
    OpenFile* const file = result == MPI_SUCCESS ? open_files.find(word(a.fh)) : nullptr;
    if (file != nullptr) {
      const std::uint64_t number = file->calls++;
      if constexpr (C::kOn) record_group_call(call, *file->comm, file->sequence, number);
    }
    if constexpr (C::kOn) call.leave();
  }
};

template <>
struct Hook<args::FileClose> : FileTurn {
  Word key = 0;
  void before(const args::FileClose& a) {
    key = word(*a.fh);
    find(key);
  }
  template <class C>
  void after(const args::FileClose&, int result, C& call) {
    const OpenFile* const found = result == MPI_SUCCESS ? open_files.find(key) : nullptr;
    if (found != nullptr) {
      const OpenFile file = *found;
      open_files.erase(key);
      if constexpr (C::kOn) record_group_call(call, *file.comm, file.sequence, file.calls);
      drop_comm(file.comm);
    }
    if constexpr (C::kOn) call.leave();
  }
};

#define KOJAK_FILE_CALL(Name) \
  template <>                 \
  struct Hook<args::Name> : CollectiveFileHook {};
KOJAK_FILE_CALL(FilePreallocate)
KOJAK_FILE_CALL(FileReadAll)
KOJAK_FILE_CALL(FileReadAllBegin)
KOJAK_FILE_CALL(FileReadAllEnd)
KOJAK_FILE_CALL(FileReadAtAll)
KOJAK_FILE_CALL(FileReadAtAllBegin)
KOJAK_FILE_CALL(FileReadAtAllEnd)
KOJAK_FILE_CALL(FileReadOrdered)
KOJAK_FILE_CALL(FileReadOrderedBegin)
KOJAK_FILE_CALL(FileReadOrderedEnd)
KOJAK_FILE_CALL(FileSeekShared)
KOJAK_FILE_CALL(FileSetAtomicity)
KOJAK_FILE_CALL(FileSetInfo)
KOJAK_FILE_CALL(FileSetSize)
KOJAK_FILE_CALL(FileSetView)
KOJAK_FILE_CALL(FileSync)
KOJAK_FILE_CALL(FileWriteAll)
KOJAK_FILE_CALL(FileWriteAllBegin)
KOJAK_FILE_CALL(FileWriteAllEnd)
KOJAK_FILE_CALL(FileWriteAtAll)
KOJAK_FILE_CALL(FileWriteAtAllBegin)
KOJAK_FILE_CALL(FileWriteAtAllEnd)
KOJAK_FILE_CALL(FileWriteOrdered)
KOJAK_FILE_CALL(FileWriteOrderedBegin)
KOJAK_FILE_CALL(FileWriteOrderedEnd)
#undef KOJAK_FILE_CALL

}  // namespace kojak::measure
