#include "expert/page/verdict/excerpt.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace kojak::html {
namespace {

struct Block {
  long head = 0, open = 0, close = 0;  // lines: where its statement begins, its brace, its end
  bool loop = false;
};

bool begins_loop(std::string_view statement) {
  for (const std::string_view word : {"for", "while", "do"}) {
    if (!statement.starts_with(word)) continue;
    const std::string_view rest = statement.substr(word.size());
    if (rest.empty() ||
        (std::isalnum(static_cast<unsigned char>(rest[0])) == 0 && rest[0] != '_')) {
      return true;
    }
  }
  return false;
}

// Braces, with what stands before each that opens.
class Braces {
 public:
  std::vector<Block> find(const std::vector<std::string>& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      line_ = static_cast<long>(i) + 1;
      read(text[i]);
      if (quote_ != 0 && (text[i].empty() || text[i].back() != '\\')) quote_ = 0;
    }
    return std::move(blocks_);
  }

 private:
  void read(const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (!comment_ && first != std::string::npos && line[first] == '#') return;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i], next = i + 1 < line.size() ? line[i + 1] : '\0';
      if (comment_) {
        if (c == '*' && next == '/') {
          comment_ = false;
          ++i;
        }
      } else if (quote_ != 0) {
        if (c == '\\') {
          ++i;
        } else if (c == quote_) {
          quote_ = 0;
        }
      } else if (c == '/' && next == '/') {
        return;
      } else if (c == '/' && next == '*') {
        comment_ = true;
        ++i;
      } else if (c == '"' || (c == '\'' && !within_number(line, i))) {
        quote_ = c;
      } else {
        take(c);
      }
    }
  }
  // 1'000'000
  static bool within_number(const std::string& line, std::size_t i) {
    return i > 0 && std::isxdigit(static_cast<unsigned char>(line[i - 1])) != 0 &&
           i + 1 < line.size() && std::isxdigit(static_cast<unsigned char>(line[i + 1])) != 0;
  }
  void take(char c) {
    if (c == '{') {
      open_.push_back({head_ != 0 ? head_ : line_, line_, 0, begins_loop(statement_)});
    } else if (c == '}' && !open_.empty()) {
      open_.back().close = line_;
      blocks_.push_back(open_.back());
      open_.pop_back();
    }
    if (c == '(') ++parentheses_;
    if (c == ')') parentheses_ = std::max(parentheses_ - 1, 0);
    if (c == '{' || c == '}' || (c == ';' && parentheses_ == 0)) {
      statement_.clear();
      head_ = 0;
      parentheses_ = 0;
    } else if (!statement_.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) {
      if (head_ == 0) head_ = line_;
      if (statement_.size() < 8) statement_ += c;
    }
  }

  std::vector<Block> blocks_, open_;
  std::string statement_;
  long line_ = 0, head_ = 0;
  int parentheses_ = 0;
  bool comment_ = false;
  char quote_ = 0;
};

// Without blanks and in small letters, up to a comment.
std::string fortran_words(const std::string& line) {
  std::string words;
  for (const char c : line) {
    if (c == '!') break;
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return words;
}

std::vector<Block> fortran_blocks(const std::vector<std::string>& text) {
  std::vector<Block> blocks, loops;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const long line = static_cast<long>(i) + 1;
    std::string words = fortran_words(text[i]);
    if (const std::size_t name = words.find(":do"); name != std::string::npos) {
      words.erase(0, name + 1);  // a loop with a name
    }
    const bool counted = words.starts_with("do") && words.find('=') != std::string::npos;
    if (counted || words == "do" || words.starts_with("dowhile(") ||
        words.starts_with("doconcurrent(")) {
      loops.push_back({line, line, 0, true});
    } else if (words.starts_with("enddo") && !loops.empty()) {
      loops.back().close = line;
      blocks.push_back(loops.back());
      loops.pop_back();
    } else if (words == "end" || words.starts_with("endfunction") ||
               words.starts_with("endsubroutine") || words.starts_with("endprogram")) {
      blocks.push_back({line, line, line, false});
    }
  }
  return blocks;
}

// A statement that ends with a colon begins a block, which ends before the next statement that
// stands no further in.
class Indentation {
 public:
  std::vector<Block> find(const std::vector<std::string>& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      line_ = static_cast<long>(i) + 1;
      const bool inside = triple_ != 0 || parentheses_ > 0 || continued_;
      if (!inside) begin(text[i]);
      continued_ = false;
      read(text[i]);
      if (triple_ == 0 && parentheses_ == 0 && !continued_) end();
    }
    close(0);
    return std::move(blocks_);
  }

 private:
  struct Open {
    std::size_t indent;
    Block block;
  };

  void begin(const std::string& line) {
    statement_.clear();
    head_ = line_;
    indent_ = 0;
    for (const char c : line) {
      if (c != ' ' && c != '\t') break;
      indent_ = c == '\t' ? indent_ / 8 * 8 + 8 : indent_ + 1;
    }
  }
  void read(const std::string& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      const bool three = i + 2 < line.size() && line[i + 1] == c && line[i + 2] == c;
      if (triple_ != 0) {
        if (c == '\\') {
          ++i;
        } else if (c == triple_ && three) {
          triple_ = 0;
          i += 2;
        }
      } else if (c == '#') {
        return;
      } else if ((c == '"' || c == '\'') && three) {
        triple_ = c;
        statement_ += 's';
        i += 2;
      } else if (c == '"' || c == '\'') {
        for (++i; i < line.size() && line[i] != c; ++i) i += line[i] == '\\';
        statement_ += 's';
      } else if (c == '\\' && i + 1 == line.size()) {
        continued_ = true;
      } else {
        if (c == '(' || c == '[' || c == '{') ++parentheses_;
        if (c == ')' || c == ']' || c == '}') parentheses_ = std::max(parentheses_ - 1, 0);
        if (std::isspace(static_cast<unsigned char>(c)) == 0) statement_ += c;
      }
    }
  }
  void end() {
    if (statement_.empty()) return;
    close(indent_ + 1);
    last_ = line_;
    if (statement_.back() != ':') return;
    const bool loop = starts_loop();
    open_.push_back({indent_, {head_, head_, line_, loop}});
  }
  bool starts_loop() const {
    const std::string_view words = statement_;
    return words.starts_with("for") || words.starts_with("while") || words.starts_with("asyncfor");
  }
  // Those that stand so far in.
  void close(std::size_t indent) {
    while (!open_.empty() && open_.back().indent + 1 >= indent) {
      open_.back().block.close = std::max(open_.back().block.close, last_);
      blocks_.push_back(open_.back().block);
      open_.pop_back();
    }
  }

  std::vector<Block> blocks_;
  std::vector<Open> open_;
  std::string statement_;  // without blanks
  std::size_t indent_ = 0;
  long line_ = 0, head_ = 0, last_ = 0;
  int parentheses_ = 0;
  char triple_ = 0;
  bool continued_ = false;
};

std::vector<Block> find_blocks(const std::vector<std::string>& text, Blocks written) {
  switch (written) {
    case Blocks::kFortran:
      return fortran_blocks(text);
    case Blocks::kPython:
      return Indentation().find(text);
    default:
      return Braces().find(text);
  }
}

class Maker {
 public:
  Maker(const std::vector<std::string>& text, const ExcerptLines& lines, Blocks written)
      : lines_(lines),
        blocks_(find_blocks(text, written)),
        last_(static_cast<long>(text.size())),
        fortran_(written == Blocks::kFortran) {}

  std::vector<ExcerptRow> make() {
    if (!lines_.hot.empty()) {
      add_function();
    } else if (lines_.after == 0) {
      for (long l = lines_.before - 3; l <= lines_.before + 3; ++l) {
        add(l, l == lines_.before ? "call" : "", "");
      }
    } else if (lines_.after < lines_.before) {
      add_between();
    } else {
      add_round();
    }
    return std::move(rows_);
  }

 private:
  void add(long line, const char* mark, std::string note) {
    if (line >= 1 && line <= last_) rows_.push_back({line, mark, std::move(note)});
  }
  void cut(const char* note) { rows_.push_back({0, "", note}); }

  // Where the function that begins there ends; 0: not found.
  long end_of_function() const {
    long end = 0, opened = 0;
    for (const Block& b : blocks_) {
      if (b.open < lines_.begin || b.loop) continue;
      const bool first = fortran_ ? end == 0 || b.close < end : opened == 0 || b.open < opened;
      if (!first) continue;
      opened = b.open;
      end = b.close;
    }
    return end;
  }

  void add_function() {
    const long first_hot = lines_.hot.front().first, last_hot = lines_.hot.back().first;
    const long end = lines_.begin > 0 ? end_of_function() : 0;
    const bool known = end >= last_hot && lines_.begin <= first_hot;
    const long from = known ? lines_.begin : first_hot - 3, to = known ? end : last_hot + 3;
    const bool whole = to - from < kLongestExcerpt;
    long before = 0;
    for (long l = std::max(from, 1L); l <= std::min(to, last_); ++l) {
      const auto hot = std::find_if(lines_.hot.begin(), lines_.hot.end(),
                                    [&](const auto& h) { return h.first == l; });
      const bool near = std::any_of(lines_.hot.begin(), lines_.hot.end(), [&](const auto& h) {
        return h.first - 5 <= l && l < h.first + 5;
      });
      if (!whole && !near) continue;
      if (before != 0 && before + 1 != l) cut("...");
      before = l;
      if (hot != lines_.hot.end()) {
        add(l, "hot", hot->second);
      } else {
        add(l, known ? "inside" : "", "");
      }
    }
  }

  void add_inside(long from, long to) {
    constexpr long kEnds = 8;
    const bool whole = to - from < kLongestExcerpt - 2;
    for (long l = from; l <= to; ++l) {
      if (!whole && l == from + kEnds) {
        cut("...");
        l = to - kEnds + 1;
      }
      add(l, "inside", "");
    }
  }
  void add_between() {
    add(lines_.after, "call", "after this");
    add_inside(lines_.after + 1, lines_.before - 1);
    add(lines_.before, "call", "before this");
  }
  void add_round() {
    const Block* loop = nullptr;
    for (const Block& b : blocks_) {
      if (!b.loop || b.head > lines_.before || b.close < lines_.after) continue;
      if (loop == nullptr || b.close - b.head < loop->close - loop->head) loop = &b;
    }
    const bool same = lines_.after == lines_.before;
    if (loop == nullptr) {
      add(lines_.before, "call", same ? "" : "before this");
      if (same) return;
      if (lines_.before + 1 < lines_.after) cut("...");
      add(lines_.after, "call", "after this");
      return;
    }
    add(lines_.after, "call", same ? "after and before this" : "after this");
    add_inside(lines_.after + 1, loop->close);
    cut("round the loop");
    add_inside(loop->head, lines_.before - 1);
    if (!same) add(lines_.before, "call", "before this");
  }

  const ExcerptLines& lines_;
  std::vector<Block> blocks_;
  std::vector<ExcerptRow> rows_;
  long last_;
  bool fortran_;
};

}  // namespace

std::vector<ExcerptRow> excerpt_of(const std::vector<std::string>& text, const ExcerptLines& lines,
                                   Blocks blocks) {
  return Maker(text, lines, blocks).make();
}

}  // namespace kojak::html
