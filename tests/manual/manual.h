// What the C++ examples of the EARL manual are run with: their trace, and a comparison of what they
// write with what the manual says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "earl/access/archive.h"
#include "earl/access/byte_matrix.h"
#include "earl/index/state_stream.h"
#include "earl/replay.h"
#include "epilog/format/text/text_reader.h"

namespace kojak::test {

// The numbers of a list in a row.
template <class List>
void print(const List& list) {
  const char* space = "";
  for (const auto& number : list) {
    std::cout << space << number;
    space = " ";
  }
  std::cout << '\n';
}

// Runs `example` on the trace, which is also the file a.elg of the working folder, and compares.
void run_example(const std::string& trace, const std::string& expected,
                 const std::function<void(earl::Archive&, earl::Trace&)>& example);

}  // namespace kojak::test
