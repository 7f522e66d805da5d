#include "tools/kojak/openmp_use.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tools/kojak/find_mpi.h"
#include "tools/kojak/places.h"

namespace kojak::run {

namespace fs = std::filesystem;

OpenMpLibrary openmp_of_program(const std::string& path) {
  OpenMpLibrary found = OpenMpLibrary::kNone;
  for_each_needed_library(path, [&](const std::string& library) {
    if (library.starts_with("libgomp.so")) found = OpenMpLibrary::kGcc;
    const bool llvm = library.starts_with("libomp.so") || library.starts_with("libomp5.so") ||
                      library.starts_with("libiomp5.so");
    if (llvm && found == OpenMpLibrary::kNone) found = OpenMpLibrary::kLlvm;
    return found == OpenMpLibrary::kGcc;
  });
  return found;
}

std::string folder_for_gcc_programs() {
  const std::string link = in_library_directory("kojak/openmp/libgomp.so.1", false);
  return fs::path(link).parent_path().string();
}

std::string openmp_objection() {
  const char* const tool = std::getenv("OMP_TOOL");
  if (tool != nullptr && std::string_view(tool) == "disabled") return "OMP_TOOL is disabled";
  const char* const libraries = std::getenv("OMP_TOOL_LIBRARIES");
  if (libraries != nullptr && *libraries != '\0') {
    return std::string("OMP_TOOL_LIBRARIES names another tool: ") + libraries;
  }
  return {};
}

}  // namespace kojak::run
