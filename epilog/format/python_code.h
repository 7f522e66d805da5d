// What samples in Python's interpreter are of where its frames were not read: the program's Python
// code, of which they do not tell the function. The merge names it so.
#pragma once

namespace kojak {

inline constexpr const char* kPythonCode = "Python code";

}  // namespace kojak
