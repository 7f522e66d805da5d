// Where a report's bytes go: a file that appears when it is complete, compressed if its name says
// so.
//
// A name that ends in ".gz" gets gzip, without a time in its header, so that the same report gives
// the same bytes; "-" is standard output, never compressed. Owns the file and the compressor. The
// first error is kept and told by write() and commit().
#pragma once

#include <zlib.h>

#include <memory>
#include <string>
#include <vector>

#include "epilog/format/io/writer.h"

namespace kojak::expert {

class ReportOutput {
 public:
  static Result<ReportOutput> create(const std::string& path);

  Status write(const char* data, std::size_t size);
  // Compresses what is left and gives the file its name.
  Status commit();
  const Status& status() const { return status_; }

 private:
  struct EndDeflate {
    void operator()(z_stream* stream) const {
      deflateEnd(stream);
      delete stream;  // NOLINT: the deleter of a unique_ptr
    }
  };
  explicit ReportOutput(OutputFile file) : file_(std::move(file)) {}
  void compress(int flush);

  OutputFile file_;
  std::unique_ptr<z_stream, EndDeflate> stream_;  // null: not compressed
  std::vector<char> compressed_;
  Status status_;
};

}  // namespace kojak::expert
