// What stands behind this library in the order in which the dynamic linker looks for functions.
//
// dlsym(RTLD_NEXT) tells, as long as it finds an MPI: it sees the global scope only, and a program
// may have loaded its MPI with RTLD_LOCAL (Python). Then, and where another copy of us has to be
// passed over, the loaded files are looked through in the order in which they were loaded.
//
// In such a look-through a file counts only where it is in somebody's scope: in the global one, or
// needed by another file. One that a program has opened for itself alone stands before nobody's
// MPI.
//
// Not thread-safe, for a moment's use: files must not be unloaded meanwhile. Without memory nothing
// is found but by RTLD_NEXT.
#pragma once

#include <link.h>

#include "epilog/runtime/memory.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// A file that is loaded, and all of its memory.
struct LoadedFile {
  CodeRange range;             // empty: no file
  const char* path = nullptr;  // the dynamic linker's; empty for the program itself
  bool holds(const void* address) const { return range.holds(address); }
  const char* name() const;  // behind the last slash
};
LoadedFile loaded_file(const dl_phdr_info& info);
LoadedFile file_of(const void* address);
bool is_in_our_file(const void* address);
// What the file that holds `caller` and those that it needs define; null if that is nothing, or
// ours. Of the program itself these are all names that are known.
void* find_for(const void* caller, const char* name);

class Behind {
 public:
  Behind();
  ~Behind();
  Behind(const Behind&) = delete;
  Behind& operator=(const Behind&) = delete;

  // The first definition of a name behind us; null if there is none.
  void* find(const char* name) const;
  // From now on the loaded files are looked through: all of them, if none behind us has the name,
  // which is one that only an MPI has.
  void look_through_files(const char* name);
  bool looks_through_files() const { return !files_.empty(); }
  // Files that bring an MPI of one process along for somebody (MPI_Init, but no call of PMPI_) are
  // no part of the chain where another one is the MPI.
  void leave_out_stubs(const LoadedFile& mpi);

 private:
  struct File {
    LoadedFile loaded;
    void* handle;
    ElfW(Addr) base;
    const ElfW(Phdr) * headers;
    int header_count;
  };

  static int take(dl_phdr_info* info, std::size_t size, void* data);
  void take_files(bool behind_us);
  void drop(std::size_t file);
  void* find_in(const File& file, const char* name) const;
  bool stands_between(const File& file, const char* name, const void* address) const;

  Vector<File> files_;
  const char* sign_ =
      nullptr;              // what the MPI itself has, where the files are looked through for it
  bool from_here_ = false;  // while they are taken: ours has come
};

}  // namespace kojak::measure
