// Where a report's bytes go: a file that appears when it is complete, compressed if its name says
// so.
//
// A name that ends in ".gz" gets gzip; "-" is standard output, never compressed. Owns the file and
// the compressor. The first error is kept and told by write() and commit().
#pragma once

#include <memory>
#include <string>

#include "epilog/format/io/compression.h"

namespace kojak::expert {

class ReportOutput {
 public:
  static Result<ReportOutput> create(const std::string& path);

  Status write(const char* data, std::size_t size);
  // Compresses what is left and gives the file its name.
  Status commit();
  const Status& status() const { return status_; }

 private:
  ReportOutput(OutputFile file, Compression how)
      : file_(std::move(file)), compressor_(make_compressor(how)) {}

  OutputFile file_;
  std::unique_ptr<Compressor> compressor_;  // null: not compressed
  Status status_;
};

}  // namespace kojak::expert
