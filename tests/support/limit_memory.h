// A limit of memory, so that an allocation that a lying number asks for fails the test.
#pragma once

namespace kojak::test {

// Lowers the limit of the process's address space to 256 MiB more than it uses now. Not under the
// sanitizers, which have a limit of their own for a single allocation. Throws if that cannot be
// done.
void limit_memory();

}  // namespace kojak::test
