#include "merge/define/data_names.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace kojak::merge {
namespace {

std::string whole_name(const char* symbol) {
  if (std::strncmp(symbol, "_Z", 2) == 0) {
    int status = 0;
    char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
    return text != nullptr ? text : symbol;
  }
  // A variable that is static in a function has a number behind its name.
  std::string name = symbol;
  const std::size_t dot = name.rfind('.');
  const bool numbered = dot != std::string::npos && dot != 0 && dot + 1 != name.size() &&
                        name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return numbered ? name.substr(0, dot) : name;
}

bool type_of_die(Dwarf_Die* die, Dwarf_Die& type) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type) != nullptr &&
         dwarf_peel_type(&type, &type) == 0;
}

Dwarf_Word size_of(Dwarf_Die* die) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(die, &size) == 0 ? size : 0;
}

// Which part of something of this type begins there: "[3].lock".
std::string part(Dwarf_Die type, Dwarf_Word offset) {
  constexpr int kDeepest = 8;
  std::string text;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const int tag = dwarf_tag(&type);
    Dwarf_Die child, inner;
    if (tag == DW_TAG_array_type) {
      const bool one = dwarf_child(&type, &child) == 0 && dwarf_siblingof(&child, &child) != 0;
      const bool known = one && type_of_die(&type, inner);
      const Dwarf_Word size = known ? size_of(&inner) : 0;
      if (size == 0) break;
      text += '[' + std::to_string(offset / size) + ']';
      offset %= size;
    } else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) {
      bool found = false;
      if (dwarf_child(&type, &child) != 0) break;
      do {
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0;
        if (dwarf_tag(&child) != DW_TAG_member || dwarf_diename(&child) == nullptr ||
            dwarf_formudata(dwarf_attr(&child, DW_AT_data_member_location, &attribute), &at) != 0 ||
            at > offset || !type_of_die(&child, inner) || offset - at >= size_of(&inner)) {
          continue;
        }
        text += '.' + std::string(dwarf_diename(&child));
        offset -= at;
        found = true;
      } while (!found && dwarf_siblingof(&child, &child) == 0);
      if (!found) break;
    } else {
      break;
    }
    type = inner;
  }
  return offset == 0 ? text : text + '+' + std::to_string(offset);
}

}  // namespace

// Variables in the data of the program, wherever they are declared.
void DataNames::list_below(Dwarf_Die* parent, Dwarf_Die* unit, Dwarf_Addr bias) {
  Dwarf_Die child;
  if (dwarf_child(parent, &child) != 0) return;
  do {
    if (++entries_ > kMostEntries) return;
    switch (dwarf_tag(&child)) {
      case DW_TAG_variable:
        break;
      case DW_TAG_subprogram:
      case DW_TAG_lexical_block:
      case DW_TAG_module:
      case DW_TAG_namespace:
      case DW_TAG_common_block:
        list_below(&child, unit, bias);
        continue;
      default:
        continue;
    }
    Dwarf_Attribute attribute;
    Dwarf_Op* place = nullptr;
    std::size_t length = 0;
    if (dwarf_getlocation(dwarf_attr(&child, DW_AT_location, &attribute), &place, &length) != 0 ||
        length == 0 || place[0].atom != DW_OP_addr) {
      continue;
    }
    Dwarf_Word at = place[0].number;
    if (length == 2 && place[1].atom == DW_OP_plus_uconst) at += place[1].number;
    Dwarf_Die type;
    const Dwarf_Word size = type_of_die(&child, type) ? size_of(&type) : 0;
    variables_.push_back({at + bias, size, dwarf_dieoffset(unit), dwarf_dieoffset(&child)});
  } while (dwarf_siblingof(&child, &child) == 0);
}

void DataNames::list() {
  listed_ = true;
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = nullptr;
  while ((unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr) {
    list_below(unit, unit, bias);
  }
  std::sort(variables_.begin(), variables_.end(),
            [](const Variable& a, const Variable& b) { return a.begin < b.begin; });
}

DataNames::Found DataNames::symbol_at(Dwarf_Addr address) const {
  GElf_Off behind = 0;
  GElf_Sym symbol;
  const char* const name =
      dwfl_module_addrinfo(module_, address, &behind, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || behind >= symbol.st_size) {
    return {};
  }
  Found found;
  found.name = whole_name(name);
  if (behind != 0) found.name += '+' + std::to_string(behind);
  return found;
}

DataNames::Found DataNames::find(Dwarf_Addr address) {
  if (!listed_) list();
  Found found = symbol_at(address);
  const auto after =
      std::upper_bound(variables_.begin(), variables_.end(), address,
                       [](Dwarf_Addr at, const Variable& variable) { return at < variable.begin; });
  Dwarf_Addr bias = 0;
  Dwarf* const dwarf = dwfl_module_getdwarf(module_, &bias);
  if (after == variables_.begin() || dwarf == nullptr) return found;
  const Variable& at = *std::prev(after);
  const Dwarf_Addr offset = address - at.begin;
  if (offset != 0 && offset >= at.size) return found;
  if (dwarf_offdie(dwarf, at.unit, &found.unit) == nullptr ||
      dwarf_offdie(dwarf, at.die, &found.variable) == nullptr) {
    return found;
  }
  Dwarf_Attribute attribute;
  const char* const linkage =
      dwarf_formstring(dwarf_attr_integrate(&found.variable, DW_AT_linkage_name, &attribute));
  const char* const name = dwarf_diename(&found.variable);
  if (linkage == nullptr && name == nullptr) return found;
  found.declared = true;
  found.name = linkage != nullptr ? whole_name(linkage) : name;
  Dwarf_Die type;
  const bool typed = type_of_die(&found.variable, type);
  if (typed) found.name += part(type, offset);
  return found;
}

}  // namespace kojak::merge
