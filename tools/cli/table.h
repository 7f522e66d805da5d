// Tables for terminals, and numbers as people read them.
//
// A Table owns its cells as text and prints them in columns that are as wide as they need to be.
// It has no colours and no state besides its cells.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace kojak::cli {

enum class Align : std::uint8_t { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as there are columns. What may not be printed is replaced (printable.h).
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Columns separated by two spaces, titles in the first line, no trailing blanks.
  void print(std::ostream& out) const;
  // The same as comma-separated values (csv_cell.h).
  void print_csv(std::ostream& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Seconds with the given number of decimals, whatever the locale: "1.709586".
std::string format_seconds(double seconds, int decimals = 6);
// "12.3 %"; "-" if the whole is 0.
std::string format_percent(double part, double whole);
// "1,234,567"
std::string format_count(std::uint64_t count);
// A string as JSON and as C write it, with quotes.
std::string quoted_json(const std::string& text);

}  // namespace kojak::cli
