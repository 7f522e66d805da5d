#include "epilog/format/io/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace kojak {

int open_unnamed_file(std::string& directory) {
  if (directory.empty()) {
    const char* told = ::secure_getenv("TMPDIR");
    directory = told != nullptr && *told != '\0' ? told : "/tmp";
  }
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = directory + "/kojak.XXXXXX";  // a file system without unnamed files
  fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

}  // namespace kojak
