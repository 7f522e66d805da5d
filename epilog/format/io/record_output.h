// Where the records of a TraceWriter go: into a file, as they are or compact, maybe compressed.
//
// Takes whole buffers of records, maybe in another thread than the one that fills them: packing
// them costs as much as writing them. What has been written may be replaced only where it is the
// number of events. Owns the file. Not thread-safe; errors are those of the file.
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
  // Replaces the record that begins at this offset of what was given to write(), by as many bytes.
  Status overwrite(std::uint64_t offset, const void* data, std::size_t size);
  bool seekable() const { return compressor_ == nullptr && file_.seekable(); }
  Status commit();
  const std::string& path() const { return file_.path(); }

 private:
  static constexpr std::size_t kPacked = 128 * 1024;
  Status pack(const std::byte* data, std::size_t size);
  Status flush(std::byte* end);
  Status put(const std::byte* data, std::size_t size);

  OutputFile file_;
  std::unique_ptr<Compressor> compressor_;
  std::unique_ptr<compact::Packer> packer_;  // if records are made compact
  Dialect dialect_;
  std::unique_ptr<std::byte[]> packed_;
  std::uint64_t records_ = 0, written_ = 0;  // bytes given to write(), and in the file
  // Where records stand that tell how many events there are: their offsets among the records, and
  // those of their blocks in the file.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts_;
};

}  // namespace kojak
