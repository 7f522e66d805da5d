#include "tools/cli/lists.h"

#include <charconv>

namespace kojak::cli {
namespace {

constexpr std::uint32_t kMostRanks = 1u << 24;  // of a range: a mistake rather than a wish

bool number(std::string_view text, std::uint32_t& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

std::vector<std::string> option_words(const po::variables_map& values, const char* option) {
  std::vector<std::string> result;
  if (values.count(option) == 0) return result;
  for (const std::string& list : values[option].as<std::vector<std::string>>()) {
    std::size_t start = 0;
    for (std::size_t comma; (comma = list.find(',', start)) != std::string::npos;
         start = comma + 1) {
      result.push_back(list.substr(start, comma - start));
    }
    result.push_back(list.substr(start));
  }
  return result;
}

Result<std::set<std::uint32_t>> option_ranks(const po::variables_map& values, const char* option) {
  std::set<std::uint32_t> ranks;
  for (const std::string& word : option_words(values, option)) {
    const std::size_t dash = word.find('-');
    std::uint32_t first = 0, last = 0;
    const bool good = dash == std::string::npos ? number(word, first) && number(word, last)
                                                : number(word.substr(0, dash), first) &&
                                                      number(word.substr(dash + 1), last);
    if (!good || last < first || last - first >= kMostRanks) {
      Error error;
      error.code = ExitCode::kUsage;
      error.reason = "`" + word + "` is no rank, and no range of ranks like 4-7";
      return error;
    }
    for (std::uint32_t rank = first; rank <= last && rank >= first; ++rank) ranks.insert(rank);
  }
  return ranks;
}

}  // namespace kojak::cli
