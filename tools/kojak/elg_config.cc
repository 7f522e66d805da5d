// elg_config: how programs are compiled, linked and run with the measurement, and its settings.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "tools/cli/cli.h"
#include "tools/kojak/places.h"
#include "tools/kojak/settings.h"

namespace {

using kojak::ExitCode;
namespace cli = kojak::cli;
namespace run = kojak::run;

constexpr cli::ToolInfo kInfo{
    "elg_config", "[options]",
    "Prints how programs are compiled, linked and run with the measurement library, for C, C++ "
    "and\n"
    "Fortran alike, and all settings with their values now. Without options: all of it.",
    "mpif90 -o prog *.o $(elg_config --libs)"};

std::string quoted(const std::string& path) {
  const bool plain = path.find_first_of(" '\"\\$") == std::string::npos;
  return plain ? path : "'" + path + "'";
}

std::string folder_of(const std::string& library) {
  return quoted(std::filesystem::path(library).parent_path().string());
}
// In front of the MPI's own libraries, which the compiler's wrapper adds. No program refers to the
// library by a name that its MPI has not, too, so the linker must be told to keep it, and what
// comes behind it: the MPI, and libraries between, all of whose functions are found here.
std::string shared_libs(const std::string& library) {
  const std::string directory = folder_of(library);
  const std::string name = std::filesystem::path(library).stem().string().substr(3);  // after "lib"
  return "-L" + directory + " -Wl,-rpath," + directory + " -Wl,--no-as-needed -l" + name;
}
std::string static_libs(const std::string& library) {
  const std::string archive = std::filesystem::path(library).replace_extension(".a").string();
  return "-Wl,--whole-archive " + quoted(archive) +
         " -Wl,--no-whole-archive -ldl -lpthread -Wl,--no-as-needed";
}
std::string user_libs() {
  const std::string directory = folder_of(run::find_library(run::known_mpis().front()));
  return "-L" + directory + " -Wl,-rpath," + directory + " -lelg_user";
}
// The front of ARMCI, right before -larmci: as an archive, though a shared one of the same name
// lies beside it. Nothing refers to it where GA comes first, and the linker must be told which
// functions it is to wrap, those without a second name.
std::string armci_libs() {
  std::string wrapped;
  for (const char* const name : {
#include "epilog/armci/wrapped.inc"
       }) {
    wrapped += std::string(",--wrap=") + name;
  }
  return "-Wl,-u,ARMCI_Init,-u,__wrap_ARMCI_Malloc_group -L" +
         folder_of(run::find_armci_library()) + " -l:libelg_armci.a -Wl" + wrapped;
}
// The front of GASP. Nothing refers to it where the compiler's runtime has functions of these names
// that do nothing.
std::string gasp_libs() {
  return "-Wl,-u,gasp_init -L" + folder_of(run::find_gasp_front()) + " -lelg_gasp";
}
std::string cflags() {
  return "-I" + quoted(run::include_directory());
}

void print_library(const std::string& name, const std::string& library) {
  if (library.empty()) return;
  std::cout << cli::bold(name) << '\n'
            << "  preload  " << library << '\n'
            << "  libs     " << shared_libs(library) << '\n'
            << "  static   " << static_libs(library) << '\n';
}

void print_all() {
  for (const std::string& mpi : run::known_mpis()) print_library(mpi, run::find_library(mpi));
  for (const std::string& mpi : run::known_mpis())
    print_library("SHMEM, with " + mpi + " or without MPI", run::find_shmem_library(mpi));
  std::cout << cli::bold("ARMCI (in front of -larmci)") << '\n'
            << "  preload  " << run::find_armci_library() << '\n'
            << "  libs     " << armci_libs() << '\n';
  std::cout << cli::bold("UPC (the compiler must tell of its events: GASP)") << '\n'
            << "  preload  " << run::find_base_library() << '\n'
            << "  source   " << quoted(run::find_gasp_source()) << '\n'
            << "  libs     " << gasp_libs() << '\n';
  std::cout << cli::bold("regions of the user (elg_user.h, elg_user.inc)") << '\n'
            << "  cflags   " << cflags() << '\n'
            << "  Fortran  " << user_libs() << "   (where the library is preloaded)\n\n";
  run::print_settings(false);
}

ExitCode body(const cli::po::variables_map& values) {
  const std::string mpi = values["mpi"].as<std::string>();
  const std::vector<std::string> mpis = run::known_mpis();
  if (std::find(mpis.begin(), mpis.end(), mpi) == mpis.end()) {
    return cli::usage_error("no library for the MPI \"" + mpi +
                            "\" was built; known: " + KOJAK_MPI_NAMES);
  }
  const bool shmem = values.count("shmem") != 0;
  const std::string library = shmem ? run::find_shmem_library(mpi) : run::find_library(mpi);
  bool asked = shmem;
  const auto print = [&](const char* option, const std::string& text) {
    if (values.count(option) == 0) return;
    asked = true;
    std::cout << text << '\n';
  };
  print("cflags", cflags());
  print("libs", shared_libs(library));
  print("static", static_libs(library));
  print("user-libs", user_libs());
  print("armci", armci_libs());
  print("gasp", values.count("source") != 0 ? quoted(run::find_gasp_source()) : gasp_libs());
  print("preload", library);
  if (values.count("settings") != 0 || values.count("csv") != 0) {
    run::print_settings(values.count("csv") != 0);
  } else if (shmem &&
             values.count("libs") + values.count("static") + values.count("preload") == 0) {
    print_library("SHMEM", library);
  } else if (!asked) {
    print_all();
  }
  return ExitCode::kFine;
}

}  // namespace

int main(int argc, char** argv) {
  cli::ToolOptions options;
  options.visible.add_options()(
      "mpi", cli::po::value<std::string>()->default_value(KOJAK_DEFAULT_MPI)->value_name("NAME"),
      "the MPI library that the program uses: " KOJAK_MPI_NAMES);
  options.visible.add_options()(
      "shmem", "the library for programs that use OpenSHMEM, of any library, alone or with MPI");
  options.visible.add_options()(
      "armci", "what to link with in front of -larmci, so that its calls are named");
  options.visible.add_options()(
      "gasp", "what to link a program of UPC with, whose compiler tells of its events (GASP)");
  options.visible.add_options()("source",
                                "with --gasp: what to compile with it, by the compiler of UPC");
  options.visible.add_options()("cflags", "what to compile with, for elg_user.h and elg_user.inc");
  options.visible.add_options()("libs", "what to link with");
  options.visible.add_options()("static", "what to link with, the library as an archive");
  options.visible.add_options()(
      "user-libs",
      "what to link with where Fortran's elg_user.inc is used and the library is preloaded");
  options.visible.add_options()("preload", "the library for LD_PRELOAD");
  options.visible.add_options()("settings", "the settings alone");
  options.visible.add_options()("csv", "the settings as comma-separated values");
  return cli::run_tool(argc, argv, kInfo, options, body);
}
