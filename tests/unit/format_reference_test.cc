// The traces that the classic tools wrote, against the listings that the classic printer made of
// them: every record, every field, doubles to the digits printed.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "epilog/format/definitions.h"
#include "epilog/format/io/reader.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

// One line of a classic listing: "(  4, 24): <NODE>  nid  :   0,  mid  :   0, ...".
struct Listed {
  int type = 0, length = 0;
  std::string name;
  std::map<std::string, std::string> values;  // arrays as "1 4", bits as "11110000"
};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

Listed parse(const std::string& line) {
  Listed listed;
  if (std::sscanf(line.c_str(), "(%d,%d)", &listed.type, &listed.length) != 2) {
    ADD_FAILURE() << "no listing: " << line;
    return listed;
  }
  const std::size_t open = line.find('<'), close = line.find('>');
  listed.name = line.substr(open + 1, close - open - 1);
  std::string rest = line.substr(close + 1);
  if (listed.name == "STRING") {  // its text may hold anything, up to one blank at the end
    const std::size_t at = rest.find("str    : ");
    listed.values["str"] = rest.substr(at + 9, rest.size() - at - 10);
    rest.resize(at);
  }
  // key : value pairs; a value is one word or a list in parentheses; commas only separate
  std::size_t pos = 0;
  while (true) {
    const std::size_t colon = rest.find(':', pos);
    if (colon == std::string::npos) break;
    std::string key = trimmed(rest.substr(pos, colon - pos));
    while (!key.empty() && (key[0] == ',' || key[0] == ' ')) key.erase(0, 1);
    std::size_t start = rest.find_first_not_of(' ', colon + 1);
    std::string value;
    if (rest[start] == '(') {
      const std::size_t end = rest.find(')', start);
      value = rest.substr(start + 1, end - start - 1);
      for (char& c : value) c = c == ',' ? ' ' : c;
      std::istringstream words(value);
      value.clear();
      for (std::string word; words >> word;) value += value.empty() ? word : " " + word;
      pos = end + 1;
    } else {
      const std::size_t end = rest.find_first_of(", ", start);
      value = rest.substr(start, end == std::string::npos ? end : end - start);
      pos = end == std::string::npos ? rest.size() : end;
    }
    listed.values[key] = value;
  }
  return listed;
}

// Compares the fields of a decoded record with a listing; removes what it compared.
class Compare {
 public:
  explicit Compare(Listed& listed) : listed_(listed) {}

  template <class T>
  void field(const FieldInfo& info, const T& value) {
    const std::string text = take(info.name);
    if constexpr (kIsTime<T>) {
      const std::size_t point = text.find('.');
      ASSERT_NE(point, std::string::npos) << info.name;
      const double half = 0.5000001 * std::pow(10.0, -static_cast<double>(text.size() - point - 1));
      EXPECT_NEAR(value.value, std::stod(text), half) << info.name;
    } else {
      EXPECT_EQ(std::to_string(raw(value)), text) << info.name;
    }
  }
  template <class U>
  void rest(const FieldInfo& info, const PackedArray<U>& view) {
    std::string ours;
    for (std::uint32_t i = 0; i < view.size(); ++i) {
      if (i > 0) ours += ' ';
      ours += std::to_string(view[i]);
    }
    EXPECT_EQ(ours, take(info.name)) << info.name;
  }
  void rest(const FieldInfo& info, const BitArray& view) {
    std::string ours;
    for (std::uint32_t rank = 0; rank < view.size() * 8; ++rank) {
      ours += (view[rank / 8] >> (rank % 8) & 1) != 0 ? '1' : '0';
    }
    EXPECT_EQ(ours, take(info.name)) << info.name;
  }
  template <class U>
  void array(const FieldInfo& info, const PackedArray<U>& view, std::uint32_t) {
    rest(info, view);
  }
  void text(const FieldInfo& info, const Text& text) { EXPECT_EQ(text, take(info.name)); }
  void metrics(const FieldInfo& info, const MetricValues& view) { rest(info, view); }

 private:
  // The classic printer has its own names for some fields.
  std::string take(std::string name) {
    if (listed_.values.count(name) == 0) {
      if (name == "uag") name = "mode";
      if (name == "grpv") name = "group";
      if (name == "sent" && listed_.name.find("_1TS") != std::string::npos) name = "nbytes";
      if (name == "topnid") name = "tnid";
      if (name == "dimnid") name = "dimids";
    }
    const auto it = listed_.values.find(name);
    if (it == listed_.values.end()) {
      ADD_FAILURE() << listed_.name << " has no " << name << " in the listing";
      return "";
    }
    const std::string value = it->second;
    listed_.values.erase(it);
    return value;
  }
  Listed& listed_;
};

class Reference : public testing::TestWithParam<const char*> {
 protected:
  std::string path(const char* suffix) const {
    return std::string(KOJAK_REFERENCE_DIR) + "/" + GetParam() + suffix;
  }
};

TEST_P(Reference, EveryFieldIsWhatTheClassicPrinterSaw) {
  auto reader = TraceReader::open(path(".elg"));
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_EQ(reader->dialect().major, 1);
  std::istringstream listing(test::read_text(path(".print.txt")));
  RawRecord record;
  std::string line;
  std::size_t number = 0;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    ASSERT_TRUE(static_cast<bool>(std::getline(listing, line)));
    SCOPED_TRACE("line " + std::to_string(++number) + ": " + line);
    Listed listed = parse(line);
    ASSERT_EQ(listed.type, record.type);
    ASSERT_EQ(listed.length, record.length);
    ASSERT_EQ(listed.name, record_name(record.type));
    const bool known = dispatch_record(record.type, [&]<class R>() {
      R decoded;
      ASSERT_EQ(decode(record, reader->dialect(), decoded), nullptr);
      visit_fields(decoded, reader->dialect(), Compare(listed));
    });
    ASSERT_TRUE(known);
    // No metrics were recorded: the printer shows an empty list.
    if (listed.values.count("metv") != 0) {
      EXPECT_EQ(listed.values["metv"], "");
      listed.values.erase("metv");
    }
    EXPECT_TRUE(listed.values.empty()) << "not compared: " << listed.values.begin()->first;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_FALSE(static_cast<bool>(std::getline(listing, line))) << "listed only: " << line;
  EXPECT_GT(number, 600u);
}

TEST_P(Reference, DefinitionsAreResolved) {
  auto reader = TraceReader::open(path(".elg"));
  ASSERT_TRUE(reader.ok());
  Definitions definitions;
  RawRecord record;
  std::uint64_t events = 0;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (is_event(record.type)) {
      ++events;
    } else {
      const Status status = definitions.add(record, reader->dialect());
      EXPECT_TRUE(status.ok()) << status.error().message();
    }
  }
  EXPECT_EQ(definitions.event_count, events);
  EXPECT_TRUE(definitions.last_def);
  EXPECT_EQ(definitions.locations.size(), 4u);
  ASSERT_NE(definitions.comms.find(CommId{0}), nullptr);
  EXPECT_EQ(definitions.comms.find(CommId{0})->ranks.vector(),
            (std::vector<std::uint32_t>{0, 1, 2, 3}));
  ASSERT_NE(definitions.windows.find(WindowId{0}), nullptr);
  EXPECT_EQ(definitions.windows.find(WindowId{0})->comm, CommId{0});
  const RegionDef* put = nullptr;
  definitions.regions.for_each([&](RegionId, const RegionDef& region) {
    if (region.name == "MPI_Put") put = &region;
  });
  ASSERT_NE(put, nullptr);
  EXPECT_EQ(put->file, "MPI");
  ASSERT_NE(put->function, nullptr);
  EXPECT_EQ(put->function->role, MpiRole::kPut);
}

INSTANTIATE_TEST_SUITE_P(Files, Reference, testing::Values("fence", "gats"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace kojak
