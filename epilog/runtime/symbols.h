// Names of functions while the program runs, for the filter: from the symbol tables of its files.
//
// The dynamic linker knows exported names only, so the file of the module is mapped and its symbol
// table read, once per module; the table is kept sorted by address. Thread-safe. Needs memory for
// one word per function. Without a symbol (stripped) the name is "module+0x1234". Formats other
// than 64-bit ELF of this machine's byte order count as stripped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::measure {

void symbol_of(const void* function, char* name, std::size_t size);

struct Module;
// Calls visit(data, name, address, size) for the functions that a module's symbol table lists, in
// no order. A size may be 0. The names live until visit() returns.
void visit_functions(const Module& module,
                     void (*visit)(void*, const char*, std::uintptr_t, std::uintptr_t), void* data);

}  // namespace kojak::measure
