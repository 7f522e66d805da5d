// From addresses in a program or library to function, file and line, or to a variable.
//
// Reads the symbol tables and debugging information of the modules that local traces name, with
// libdw (elfutils), which also finds separate debugging files. Each address is resolved once, each
// module opened once; results live as long as the object. Inlined functions are places of their
// own. A module that is missing, or is not the one that was measured (another build id), names
// nothing: the place is "module+0x1234". Source:
// docs/measurement.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "epilog/format/definitions.h"

namespace kojak::merge {

struct CodePlace {
  std::string function;
  std::string file;  // of the address
  std::uint32_t line = kAbsent;
  std::string declared_in;  // of the function
  std::uint32_t declared_at = kAbsent;
  bool main = false;   // nothing of interest lies further out
  bool entry = false;  // the program called a communication library by it
  bool begin = false;  // the address is the function's first one: no call stands there
  template <class Archive>
  void visit(Archive& archive) {
    archive(function, file, line, declared_in, declared_at, main, entry, begin);
  }
};

class CodeNames {
 public:
  CodeNames();
  ~CodeNames();
  CodeNames(CodeNames&&) noexcept;
  CodeNames& operator=(CodeNames&&) noexcept;

  // The function that the address lies in; then, where it was inlined, what it was inlined into. A
  // return address stands for the call before it. `module` may be null.
  const std::vector<CodePlace>& find(const ModuleDef* module, std::uint64_t address,
                                     bool return_address);
  // The variable whose data an offset in a module lies in: "lock", "locks[3]", "table.lock" as far
  // as the debugging information tells, else "table+16". No name if there is none, or no module.
  VariableDef variable(const ModuleDef* module, std::uint64_t offset);
  // Modules that were not there as measured, in the order in which they were asked for.
  const std::vector<std::string>& missing() const { return found().missing; }
  // Files that hold what the compiler knew of functions (-gsplit-dwarf) and were not found.
  const std::vector<std::string>& apart() const { return found().apart; }
  // The folders that names of files are relative to, in the order in which they were found.
  const std::vector<std::string>& folders() const { return found().folders; }

  // What find() has looked up so far, which another one may know before it begins: of that nothing
  // is looked up again.
  struct Found {
    std::map<std::pair<std::string, std::string>,  // path of the module and its build id
             std::map<std::uint64_t, std::vector<CodePlace>>>
        places;
    std::vector<std::string> missing, apart, folders;
    template <class Archive>
    void visit(Archive& archive) {
      archive(places, missing, apart, folders);
    }
  };
  const Found& found() const;
  void know(Found found);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kojak::merge
