// Writes a text trace as a trace file: text_trace INPUT OUTPUT.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "epilog/format/text/text_reader.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: text_trace INPUT OUTPUT\n";
    return 1;
  }
  std::ifstream in(argv[1]);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const kojak::Status written = kojak::text_to_trace_file(text, argv[2]);
  if (!written) std::cerr << written.error().message() << '\n';
  return written ? 0 : 2;
}
