// From addresses in the data of a module to variables, by its debugging information or its symbols.
//
// The variables of the debugging information are listed when one is first asked for; a module with
// more than kMostEntries entries is looked at so far. Borrows the module. Not thread-safe; nothing
// fails: what is not found has no name.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>
#include <vector>

namespace kojak::merge {

class DataNames {
 public:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 21;

  explicit DataNames(Dwfl_Module* module) : module_(module) {}

  struct Found {
    std::string name;  // "lock", "locks[3]", "table.lock", "table+16"; empty: nothing is there
    bool declared = false;
    Dwarf_Die unit{}, variable{};  // where it is declared, if it is
  };
  Found find(Dwarf_Addr address);

 private:
  struct Variable {
    Dwarf_Addr begin, size;
    Dwarf_Off unit, die;
  };
  void list();
  void list_below(Dwarf_Die* parent, Dwarf_Die* unit, Dwarf_Addr bias);
  Found symbol_at(Dwarf_Addr address) const;

  Dwfl_Module* module_;
  bool listed_ = false;
  std::size_t entries_ = 0;
  std::vector<Variable> variables_;  // by address
};

}  // namespace kojak::merge
