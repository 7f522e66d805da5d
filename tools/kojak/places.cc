#include "tools/kojak/places.h"

#include <algorithm>
#include <sstream>

#include "tools/cli/cli.h"

namespace kojak::run {

namespace fs = std::filesystem;

std::string in_library_directory(const fs::path& name, bool canonical) {
  for (const char* lib : {"../" KOJAK_LIBDIR, "../lib"}) {
    std::error_code error;
    const fs::path file = cli::program_folder() / lib / name;
    if (!fs::exists(file, error)) continue;
    return (canonical ? fs::canonical(file, error) : fs::absolute(file, error).lexically_normal())
        .string();
  }
  return "";
}

namespace {
std::string find_for_mpi(const std::string& mpi, const char* name) {
  return in_library_directory((mpi == KOJAK_DEFAULT_MPI ? fs::path() : fs::path(mpi)) / name);
}
}  // namespace

std::string find_library(const std::string& mpi) {
  return find_for_mpi(mpi, "libelg_mpi.so");
}

std::string find_shmem_library(const std::string& mpi) {
  return find_for_mpi(mpi, "libelg_shmem.so");
}

std::string find_armci_library() {
  return in_library_directory("libelg_armci.so");
}

std::string find_base_library() {
  return in_library_directory("libelg_base.so");
}

std::string find_gasp_front() {
  return in_library_directory("libelg_gasp.a");
}

std::string find_gasp_source() {
  for (const fs::path& candidate :
       {cli::program_folder() / "../" KOJAK_DATADIR "/kojak", fs::path(KOJAK_BUILD_GASP)}) {
    std::error_code error;
    if (fs::exists(candidate / "elg_gasp.upc", error))
      return fs::canonical(candidate / "elg_gasp.upc", error).string();
  }
  return "";
}

std::string include_directory() {
  for (const fs::path& candidate :
       {cli::program_folder() / "../" KOJAK_INCLUDEDIR, fs::path(KOJAK_BUILD_INCLUDE)}) {
    std::error_code error;
    if (fs::exists(candidate / "elg_user.h", error))
      return fs::canonical(candidate, error).string();
  }
  return "";
}

std::vector<std::string> known_mpis() {
  std::istringstream names(KOJAK_MPI_NAMES);
  std::vector<std::string> mpis;
  for (std::string name; std::getline(names, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    mpis.push_back(name);
  }
  std::stable_partition(mpis.begin(), mpis.end(),
                        [](const std::string& name) { return name == KOJAK_DEFAULT_MPI; });
  return mpis;
}

}  // namespace kojak::run
