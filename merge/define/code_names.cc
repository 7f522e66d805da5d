#include "merge/define/code_names.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "epilog/format/io/regular_file.h"
#include "merge/define/data_names.h"

namespace kojak::merge {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

// libdwfl opens files by their names; one that is no regular file (a named pipe) could keep it
// waiting for ever. Those are not looked into, as if they were not there.

// The debugging information that stands apart from a module, beside it or in a folder of its own
// there (that of the system is nobody's to change).
int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base,
                    const char* file, const char* link, GElf_Word checksum, char** found) {
  const std::string path = file != nullptr ? file : "", linked = link != nullptr ? link : "";
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const std::string& place : {linked, folder + linked, folder + ".debug/" + linked}) {
    if (!linked.empty() && is_irregular_file(place.c_str())) return -1;
  }
  return dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, found);
}

const Dwfl_Callbacks kCallbacks = {nullptr, find_debug_file, dwfl_offline_section_address, nullptr};

// What libdw would open when it is asked for the scopes of a unit: its other half, where debugging
// information was split (-gsplit-dwarf).
bool is_split_into_irregular_file(Dwarf_Die* unit) {
  const auto text = [&](std::initializer_list<unsigned> names) -> std::string {
    for (const unsigned name : names) {
      Dwarf_Attribute attribute;
      const char* const value = dwarf_formstring(dwarf_attr(unit, name, &attribute));
      if (value != nullptr) return value;
    }
    return {};
  };
  const std::string file = text({DW_AT_dwo_name, DW_AT_GNU_dwo_name});
  if (file.empty()) return false;
  const std::string folder = text({DW_AT_comp_dir});
  return is_irregular_file(file.c_str()) || is_irregular_file((folder + "/" + file).c_str());
}

// The readable form of a C++ symbol, without its parameters; others as they are, without what
// compilers append to their clones.
std::string readable(const char* symbol) {
  if (std::strncmp(symbol, "_Z", 2) != 0) {
    const std::string name = symbol;
    for (const char* clone : {".constprop", ".part", ".isra", ".cold", ".lto_priv", "._omp_fn"}) {
      const std::size_t at = name.find(clone);
      if (at != std::string::npos && at != 0) return name.substr(0, at);
    }
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status));
  if (text == nullptr) return symbol;
  std::string name = text.get();
  // The parameters are the last group in parentheses; what follows are qualifiers and clones.
  const std::size_t end = name.rfind(')');
  if (end == std::string::npos) return name;
  int depth = 0;
  for (std::size_t i = end + 1; i-- != 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i != 0 ? name.substr(0, i) : name;
  }
  return name;
}

class OneModule {
 public:
  // Nothing is found in it if the file is not there, or another one.
  OneModule(const ModuleDef& def, std::vector<std::string>& folders,
            std::vector<std::string>& apart)
      : dwfl_(dwfl_begin(&kCallbacks), dwfl_end), folders_(&folders), apart_(&apart) {
    if (dwfl_ == nullptr) return;
    const int fd = open_regular_file(def.path.c_str());
    if (fd < 0) return;
    dwfl_report_begin(dwfl_.get());
    // Takes the file, if it can make something of it.
    Dwfl_Module* const module =
        dwfl_report_offline(dwfl_.get(), def.path.c_str(), def.path.c_str(), fd);
    if (module == nullptr) ::close(fd);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    if (module == nullptr || dwfl_module_getelf(module, &bias_) == nullptr) return;
    const unsigned char* bits = nullptr;
    GElf_Addr where = 0;
    const int size = dwfl_module_build_id(module, &bits, &where);
    const std::size_t known = size > 0 ? static_cast<std::size_t>(size) : 0;
    if (known != def.build_id.size() ||
        (known != 0 && std::memcmp(bits, def.build_id.data(), known) != 0)) {
      return;
    }
    module_ = module;
    data_.emplace(module);
  }
  bool good() const { return module_ != nullptr; }

  std::vector<CodePlace> find(std::uint64_t offset) {
    std::vector<CodePlace> places;
    if (module_ == nullptr) return places;
    const Dwarf_Addr address = offset + bias_;
    add_scopes(address, places);
    if (places.empty()) {
      const char* const symbol = dwfl_module_addrname(module_, address);
      if (symbol == nullptr) return places;
      places.emplace_back();
      places.back().function = readable(symbol);
      places.back().main = places.back().function == "main";
    }
    GElf_Off behind = 0;
    GElf_Sym symbol;
    places.back().begin = dwfl_module_addrinfo(module_, address, &behind, &symbol, nullptr, nullptr,
                                               nullptr) != nullptr &&
                          behind == 0;
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = unit_at(address, bias);
    if (Dwarf_Line* line = unit == nullptr ? nullptr : dwarf_getsrc_die(unit, address - bias)) {
      int number = 0;
      const char* const file = dwarf_linesrc(line, nullptr, nullptr);
      if (file != nullptr && dwarf_lineno(line, &number) == 0 && number > 0) {
        places.front().file = file_name(file, unit);
        places.front().line = static_cast<std::uint32_t>(number);
      }
    }
    return places;
  }

  VariableDef variable(std::uint64_t offset) {
    if (module_ == nullptr) return {};
    DataNames::Found found = data_->find(offset + bias_);
    VariableDef variable{std::move(found.name), ""};
    if (!found.declared) return variable;
    if (const char* file = declaring_file(&found.unit, &found.variable))
      variable.file = file_name(file, &found.unit);
    return variable;
  }

 private:
  // The unit of the debugging information that holds an address. clang writes no table of the
  // units' addresses; then each unit is asked.
  Dwarf_Die* unit_at(Dwarf_Addr address, Dwarf_Addr& bias) {
    if (Dwarf_Die* known = dwfl_module_addrdie(module_, address, &bias)) return known;
    Dwarf_Die* unit = nullptr;
    while ((unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr) {
      if (dwarf_haspc(unit, address - bias) > 0) return unit;
    }
    return nullptr;
  }

  // What a unit says of its functions. With -gsplit-dwarf that lies in a file of its own (.dwo, or
  // .dwp where libdw reads these), which libdw finds beside the program or where it was compiled.
  Dwarf_Die whole(Dwarf_Die unit) {
    std::uint8_t type = 0;
    Dwarf_Die split;
    if (dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) != 0 ||
        type != DW_UT_skeleton) {
      return unit;
    }
    if (split.cu != nullptr) return split;
    Dwarf_Attribute attribute;
    for (const unsigned name : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
      const char* const file = dwarf_formstring(dwarf_attr(&unit, name, &attribute));
      if (file == nullptr) continue;
      const char* const folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
      const bool whole_path = *file == '/' || folder == nullptr;
      std::string path = whole_path ? file : std::string(folder) + "/" + file;
      if (std::find(apart_->begin(), apart_->end(), path) == apart_->end()) {
        apart_->push_back(std::move(path));
      }
      break;
    }
    return unit;
  }

  // The file that declares something. libdw knows none where it is the unit's own, as DWARF 5
  // numbers files from 0.
  static const char* declaring_file(Dwarf_Die* unit, Dwarf_Die* die) {
    if (const char* file = dwarf_decl_file(die)) return file;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    const std::uint32_t index = number_of(die, DW_AT_decl_file);
    const bool there = dwarf_getsrcfiles(unit, &files, &count) == 0 && index < count;
    return there ? dwarf_filesrc(files, index, nullptr, nullptr) : nullptr;
  }

  // The function of the source whose text holds that of a function which the compiler has made of
  // an OpenMP construct (clang's .omp_outlined. and its like): the one of the same file that begins
  // nearest before it.
  static bool find_source_function(Dwarf_Die* unit, Dwarf_Die* made, Dwarf_Die& found) {
    const char* const file = declaring_file(unit, made);
    int line = 0, best = 0;
    if (file == nullptr || dwarf_decl_line(made, &line) != 0) return false;
    Dwarf_Die child;
    if (dwarf_child(unit, &child) != 0) return false;
    do {
      int begin = 0;
      if (dwarf_tag(&child) != DW_TAG_subprogram || dwarf_decl_line(&child, &begin) != 0) continue;
      if (begin > line || begin < best || is_made(name_of(&child))) continue;
      const char* const other = declaring_file(unit, &child);
      if (other == nullptr || std::strcmp(file, other) != 0) continue;
      best = begin;
      found = child;
    } while (dwarf_siblingof(&child, &child) == 0);
    return best != 0;
  }
  // (That of a reduction has no name.)
  static bool is_made(const std::string& name) { return name.empty() || name.starts_with(".omp"); }

  static std::string name_of(Dwarf_Die* function) {
    Dwarf_Attribute attribute;
    const char* linkage =
        dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
    if (linkage != nullptr && std::strncmp(linkage, "_Z", 2) == 0) return readable(linkage);
    const char* const name = dwarf_diename(function);
    return name != nullptr ? name : "";
  }
  static std::uint32_t number_of(Dwarf_Die* die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value) != 0) return kAbsent;
    return static_cast<std::uint32_t>(value);
  }

  // A file as the compiler was given it: relative to where it ran, if it lies there.
  std::string file_name(const char* path, Dwarf_Die* unit) {
    Dwarf_Attribute attribute;
    const char* const directory =
        unit == nullptr ? nullptr : dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    const std::string folder = directory != nullptr ? directory : "";
    const std::string name = path;
    if (folder.empty()) return name;
    const bool below = name.starts_with(folder + "/");
    if (!below && name.starts_with('/')) return name;
    if (std::find(folders_->begin(), folders_->end(), folder) == folders_->end()) {
      folders_->push_back(folder);
    }
    return below ? name.substr(folder.size() + 1) : name;
  }

  // The innermost scope at an address below a DIE. Functions lie in functions, too (Fortran's
  // internal procedures), where the code of the outer one does not hold the inner one's.
  static bool find_nested(Dwarf_Die* parent, Dwarf_Addr address, Dwarf_Die& found) {
    Dwarf_Die child;
    if (dwarf_child(parent, &child) != 0) return false;
    do {
      switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_lexical_block:
        case DW_TAG_module:
        case DW_TAG_namespace:
          break;
        default:
          continue;
      }
      const bool here = dwarf_haspc(&child, address) > 0;
      if (here) found = child;
      if (find_nested(&child, address, found) || here) return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
  }

  // The function at an address, and what it was inlined into.
  void add_scopes(Dwarf_Addr address, std::vector<CodePlace>& places) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = unit_at(address, bias);
    if (unit == nullptr || is_split_into_irregular_file(unit)) return;
    Dwarf_Die functions = whole(*unit);
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(&functions, address - bias, &scopes);
    const std::unique_ptr<Dwarf_Die, Free> owner(scopes);
    if (count > 0) add_enclosing(unit, &functions, scopes[0], places);
    Dwarf_Die nested;
    if (places.empty() && find_nested(&functions, address - bias, nested)) {
      add_enclosing(unit, &functions, nested, places);
    }
  }

  // The functions that enclose a scope in the source, up to the one whose code it is.
  void add_enclosing(Dwarf_Die* unit, Dwarf_Die* functions, Dwarf_Die innermost,
                     std::vector<CodePlace>& places) {
    Dwarf_Die* enclosing = nullptr;
    const int count = dwarf_getscopes_die(&innermost, &enclosing);
    const std::unique_ptr<Dwarf_Die, Free> owner(enclosing);
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    if (dwarf_getsrcfiles(functions, &files, &file_count) != 0) files = nullptr;
    std::string called_in;  // where the function that was passed last was inlined
    std::uint32_t called_at = kAbsent;
    for (int i = 0; i < count; ++i) {
      Dwarf_Die* die = &enclosing[i];
      const int tag = dwarf_tag(die);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      CodePlace place;
      place.function = name_of(die);
      if (place.function.empty()) continue;
      Dwarf_Die source;
      if (is_made(place.function) && find_source_function(functions, die, source)) {
        die = &source;
        place.function = name_of(die);
      }
      place.main = place.function == "main" || dwarf_hasattr(die, DW_AT_main_subprogram) != 0;
      if (const char* file = declaring_file(functions, die))
        place.declared_in = file_name(file, unit);
      int line = 0;
      if (dwarf_decl_line(die, &line) == 0 && line > 0) {
        place.declared_at = static_cast<std::uint32_t>(line);
      }
      place.file = std::exchange(called_in, "");
      place.line = std::exchange(called_at, kAbsent);
      places.push_back(std::move(place));
      if (tag == DW_TAG_subprogram) break;
      const std::uint32_t index = number_of(&enclosing[i], DW_AT_call_file);
      if (files != nullptr && index < file_count) {
        const char* const file = dwarf_filesrc(files, index, nullptr, nullptr);
        if (file != nullptr) called_in = file_name(file, unit);
      }
      called_at = number_of(&enclosing[i], DW_AT_call_line);
    }
  }

  std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl_;
  std::vector<std::string>*folders_, *apart_;
  Dwfl_Module* module_ = nullptr;
  std::optional<DataNames> data_;
  Dwarf_Addr bias_ = 0;
};

// The C++ bindings of MPI are inlined into the program: its own function is the caller.
bool is_binding(const CodePlace& place) {
  return place.function.rfind("MPI::", 0) == 0;
}

}  // namespace

struct CodeNames::State {
  std::map<std::pair<std::string, std::string>, OneModule> modules;  // by path and build id
  std::map<std::uint64_t, std::vector<CodePlace>> without_module;
  Found found;

  OneModule& module(const ModuleDef& def) {
    const auto [it, opened] =
        modules.try_emplace({def.path, def.build_id}, def, found.folders, found.apart);
    if (opened && !it->second.good() && def.path.rfind('/', 0) == 0) {
      found.missing.push_back(def.path);
    }
    return it->second;
  }
};

CodeNames::CodeNames() : state_(std::make_unique<State>()) {}
CodeNames::~CodeNames() = default;
CodeNames::CodeNames(CodeNames&&) noexcept = default;
CodeNames& CodeNames::operator=(CodeNames&&) noexcept = default;

const std::vector<CodePlace>& CodeNames::find(const ModuleDef* module, std::uint64_t address,
                                              bool return_address) {
  State& state = *state_;
  const auto nameless = [&] {
    CodePlace place;
    place.function = code_name(module, address);
    return std::vector<CodePlace>{std::move(place)};
  };
  if (module == nullptr) {
    const auto [it, fresh] = state.without_module.try_emplace(address);
    if (fresh) it->second = nameless();
    return it->second;
  }
  const std::uint64_t looked_up = return_address && address != 0 ? address - 1 : address;
  auto& places = state.found.places[{module->path, module->build_id}];
  const auto [place, fresh] = places.try_emplace(looked_up);
  if (fresh) {
    std::vector<CodePlace> found = state.module(*module).find(looked_up);
    while (found.size() > 1 && is_binding(found.front())) found.erase(found.begin());
    place->second = found.empty() ? nameless() : std::move(found);
  }
  return place->second;
}

VariableDef CodeNames::variable(const ModuleDef* module, std::uint64_t offset) {
  return module == nullptr ? VariableDef{} : state_->module(*module).variable(offset);
}

const CodeNames::Found& CodeNames::found() const {
  return state_->found;
}
void CodeNames::know(Found found) {
  state_->found = std::move(found);
}

}  // namespace kojak::merge
