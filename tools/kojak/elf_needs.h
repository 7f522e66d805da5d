// The libraries that an ELF file names as needed, and where it wants them looked for.
//
// Reads the file itself (64-bit, this machine's byte order); anything else, and anything damaged,
// needs nothing. Every offset is checked against the file.
#pragma once

#include <string>
#include <vector>

namespace kojak::run {

struct ElfNeeds {
  std::vector<std::string> libraries;
  std::string run_path;  // RUNPATH, or RPATH where there is none
};

ElfNeeds read_elf_needs(const std::string& path);

}  // namespace kojak::run
