#include "epilog/format/error.h"

namespace kojak {

std::string Error::message() const {
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (offset) text += "offset " + std::to_string(*offset) + ": ";
  if (!record.empty()) {
    text += record;
    if (!field.empty()) text += "." + field;
    text += ": ";
  }
  text += reason;
  if (!remedy.empty()) text += " (" + remedy + ")";
  return text;
}

}  // namespace kojak
