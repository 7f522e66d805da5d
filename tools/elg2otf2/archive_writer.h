// An OTF2 archive that is being written: one writer of events a location, and the definitions.
//
// The archive is made in a temporary folder beside its name and gets the name when commit()
// succeeds; an older archive of that name goes then. Owns the library's writers; each keeps 256 KiB
// of events in memory, and its file up to 4 MiB (the library's own buffer). Single-threaded.
// Errors: exit code 4, remembered until commit().
#pragma once

#include <otf2/otf2.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "epilog/format/io/temporary_files.h"

namespace kojak::otf2 {

class ArchiveWriter {
 public:
  // Fails where a folder of that name is there that is no archive.
  static Result<ArchiveWriter> create(const std::string& path, std::uint32_t locations);

  OTF2_EvtWriter* events(std::uint32_t location) { return events_[location]; }
  // After the last event of all; how many each location has.
  std::vector<std::uint64_t> close_events();
  // Then the definitions.
  OTF2_GlobalDefWriter* definitions() { return definitions_; }
  // The number of a string, which is defined when it is new.
  OTF2_StringRef string(const std::string& text);
  // What the library says of a write; the first error counts.
  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS && failed_ == OTF2_SUCCESS) [[unlikely]]
      failed_ = code;
  }
  Status commit();

 private:
  struct Close {
    void operator()(OTF2_Archive* archive) const { OTF2_Archive_Close(archive); }
  };
  ArchiveWriter(std::string path, TemporaryFolder folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  Error failure(const std::string& what) const;

  // The archive, while it is made.
  std::string made() const { return folder_.path() + "/archive"; }
  std::string path_;
  TemporaryFolder folder_;
  std::unique_ptr<OTF2_Archive, Close> archive_;
  std::vector<OTF2_EvtWriter*> events_;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  std::map<std::string, OTF2_StringRef> strings_;
  OTF2_ErrorCode failed_ = OTF2_SUCCESS;
};

}  // namespace kojak::otf2
