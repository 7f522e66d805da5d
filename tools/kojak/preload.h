// The measurement library under a name that LD_PRELOAD can hold.
//
// The dynamic linker splits LD_PRELOAD at blanks and colons and knows no quotes. A library whose
// path has one is preloaded through a link in a directory of our own below /tmp, which lives as
// long as this object. The link leads to the library's folder, so that the library finds those
// beside it. On other nodes there is no such link: kojak must lie under a path without blanks
// there.
#pragma once

#include <optional>
#include <string>

#include "epilog/format/io/temporary_files.h"

namespace kojak::run {

class Preload {
 public:
  // Fails where no link can be made.
  Status use(const std::string& library);
  const std::string& path() const { return path_; }
  bool linked() const { return directory_.has_value(); }

 private:
  std::string path_;
  std::optional<TemporaryFolder> directory_;  // if there is a link
};

}  // namespace kojak::run
