// Where the records of a TraceWriter go: into a file, as they are or compact, maybe compressed.
//
// Takes whole buffers of records, maybe in another thread than the one that fills them: packing
// them costs more than all else. Several buffers may be packed at a time, each in a thread of its
// own, and are then put in one after the other. What has been written may be replaced only where it
// is the number of events. Owns the file. Not thread-safe but for pack(); errors are those of the
// file.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "epilog/format/compact/pack.h"
#include "epilog/format/io/compression.h"
#include "epilog/format/io/output_file.h"

namespace kojak {

class RecordOutput {
 public:
  RecordOutput(OutputFile file, const Dialect& dialect, Compression compression);
  RecordOutput(RecordOutput&&) noexcept;
  ~RecordOutput();

  // Whole records of version 2.0 or earlier; before the first of them the header.
  Status write(const std::byte* data, std::size_t size);
  // Writes records in two steps, pack and put. A Packed may be used again; the records must stay
  // until it is put.
  struct Packed {
    const std::byte* records = nullptr;
    std::size_t size = 0;
    std::unique_ptr<std::byte[]> bytes;  // compact, if the file is
    std::size_t used = 0, capacity = 0;
    // Where records stand that tell how many events there are: their offsets among these records,
    // and those of their blocks among these bytes.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
  };
  // `first`: nothing has been given before.
  void pack(const std::byte* data, std::size_t size, bool first, Packed& to) const;
  Status put(const Packed& packed);
  // Replaces the record that begins at this offset of what was given to write(), by as many bytes.
  Status overwrite(std::uint64_t offset, const void* data, std::size_t size);
  bool empty() const { return records_ == 0; }  // nothing has been put
  bool seekable() const { return compressor_ == nullptr && file_.seekable(); }
  Status commit();
  const std::string& path() const { return file_.path(); }

 private:
  Status put(const std::byte* data, std::size_t size);

  OutputFile file_;
  std::unique_ptr<Compressor> compressor_;
  Dialect dialect_;
  Packed packed_;                            // of write()
  std::uint64_t records_ = 0, written_ = 0;  // bytes of records, and in the file
  // As in Packed, of all.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts_;
};

}  // namespace kojak
