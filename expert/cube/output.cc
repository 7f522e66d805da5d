#include "expert/cube/output.h"

#include <span>

namespace kojak::expert {

Result<ReportOutput> ReportOutput::create(const std::string& path) {
  auto file = OutputFile::create(path);
  if (!file) return file.error();
  return ReportOutput(std::move(*file),
                      path.ends_with(".gz") ? Compression::kGzip : Compression::kNone);
}

Status ReportOutput::write(const char* data, std::size_t size) {
  if (!status_) return status_;
  if (compressor_ == nullptr) return status_ = file_.write(data, size);
  return status_ = compressor_->write(file_, std::as_bytes(std::span(data, size)).data(), size);
}

Status ReportOutput::commit() {
  if (compressor_ != nullptr && status_) status_ = compressor_->finish(file_);
  if (!status_) return status_;
  return file_.commit();
}

}  // namespace kojak::expert
