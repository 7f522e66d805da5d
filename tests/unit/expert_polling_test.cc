// Polling that no pattern claims, and who serves and does not wait. Times are those of the scripts.
#include <cmath>

#include "expert/patterns/polling.h"
#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

constexpr double kNear = 1e-9;

// Rank 0 polls without pause for requests of the others, who wait for its answers. The finds stand
// at `first`, `first + step` ...; what is found was sent 0.5 before, so of each series since the
// answer before, 0.25 after the find before it, all but 0.5 is for the sender, and 0.5 is not.
struct Dispatcher {
  int finds = 10;
  double first = 10, step = 2;
  int answered = 1000;         // the first of the finds
  int sources = 2;             // ranks from 1 on, in turn
  double begin = 1, end = 19;  // of the life: exit of MPI_Init, enter of MPI_Finalize
  int processes = 4;
  int callers = 1;  // ranks from 0 on, that call MPI_Iprobe there
  bool any = true;  // asks for messages from any source

  double time(int find) const { return first + step * find; }
  // Of all series: the first begins 1.75 before its find.
  double polled() const { return finds * (step - 0.25); }
};

class ServiceScript : public CauseScript {
 public:
  // By call site: what rank 0 calls out of a library's function, and which that is.
  using Sites = std::map<std::string, int>;

  explicit ServiceScript(const Dispatcher& s, Sites sites = {})
      : CauseScript(s.processes), sites_(std::move(sites)) {
    for (int p = 0; p < s.processes; ++p) {
      call(p, 0, s.begin, "MPI_Init");
      if (p != 0 && p < s.callers) call(p, s.begin, s.begin, "MPI_Iprobe");
    }
    for (int f = 0; f < s.finds; ++f) {
      const int client = 1 + f % s.sources;
      find(s.time(f) - (s.step - 0.25), s.time(f), client, s.any);
      request(client, s.time(f) - 0.5, s.time(f));
      if (f < s.answered) answer(client, s.time(f) + 0.125, s.time(f) - 0.25);
    }
    for (int p = 0; p < s.processes; ++p) call(p, s.end, s.end, "MPI_Finalize");
  }
  void call(int process, double enter, double exit, const std::string& region,
            const std::vector<Record>& records = {}) {
    const auto site = sites_.find(region);
    if (process != 0 || site == sites_.end()) {
      return CauseScript::call(process, enter, exit, region, records);
    }
    add(0, enter, "ENTER_CS", "csid=" + std::to_string(site->second));
    for (const Record& r : records) add(0, r.time, r.event, r.rest);
    add(0, exit, "EXIT");
  }
  // One that blocks, of any source or not.
  void receive(double begin, double end, int source, bool any) {
    const std::string attribute = any ? "ATTR_UI1 kind=1 value=1\n" : "";
    call(source, end - 0.5, end - 0.5, "MPI_Send",
         {{end - 0.5, "MPI_SEND", "dlid=0 tag=0 sent=8"}});
    call(0, begin, end, "MPI_Recv",
         {{end, attribute + "MPI_RECV", "slid=" + std::to_string(source) + " tag=0 recvd=8"}});
  }
  // A series from `begin` on that finds a message.
  void find(double begin, double end, int source, bool any = true) {
    std::ostringstream polled, poll;
    polled.precision(17);
    polled << "count=10 begin=" << begin << " called=0.125 rest=0.125 judged=1 end=1 members=1";
    poll.precision(17);
    poll << "kind=2 region=MPI_Iprobe count=10 first_enter=" << begin << " last_enter=" << begin
         << " cid=0";
    if (const auto site = sites_.find("MPI_Iprobe"); site != sites_.end()) {
      poll << " csid=" << site->second;
    }
    if (!any) poll << " plid=" << source;
    call(0, begin, end, "MPI_Iprobe",
         {{end, "MPI_POLLED", polled.str()},
          {end, "MPI_POLL", poll.str()},
          {end, "MPI_PROBED", "slid=" + std::to_string(source) + " cid=0 tag=0"}});
  }
  // It is received at once.
  void request(int client, double sent, double found) {
    const std::string tag = " tag=0 ";
    call(client, sent, sent, "MPI_Send", {{sent, "MPI_SEND", "dlid=0" + tag + "sent=8"}});
    call(0, found, found + 0.125, "MPI_Recv",
         {{found + 0.125, "MPI_RECV", "slid=" + std::to_string(client) + tag + "recvd=8"}});
  }
  // The client waits for it since `asked`.
  void answer(int client, double time, double asked) {
    const std::string tag = " tag=1 ";
    call(0, time, time + 0.03125, "MPI_Send",
         {{time, "MPI_SEND", "dlid=" + std::to_string(client) + tag + "sent=8"}});
    call(client, asked, time + 0.125, "MPI_Recv",
         {{time + 0.125, "MPI_RECV", "slid=0" + tag + "recvd=8"}});
  }

 private:
  Sites sites_;
};

struct Severities {
  double late_sender, polling, idle;  // at MPI_Iprobe; polling with what is idle
};
Severities severities_of(ServiceScript script, double last) {
  std::optional<earl::Trace> trace;
  const Report report = analyse_script(script.until(last), trace, {});
  Severities found{};
  for (std::size_t p = 0; p < report.call_paths().size(); ++p) {
    if (report.region_name(report.call_paths()[p].region) != "MPI_Iprobe") continue;
    const auto sum = [&](const char* metric) {
      std::vector<double> values(report.threads());
      report.row(report.find_metric(metric), p, values);
      return values.empty() ? 0 : values[0];
    };
    found = {sum("mpi_latesender"), sum("mpi_polling"), sum("mpi_polling_idle")};
  }
  return found;
}

void expect_idle(const Dispatcher& s) {
  const Severities found = severities_of(ServiceScript(s), s.end + 1);
  EXPECT_NEAR(found.late_sender, 0, kNear);
  EXPECT_NEAR(found.polling, s.polled(), kNear);
  EXPECT_NEAR(found.idle, s.polled(), kNear);
}
void expect_waits(const Dispatcher& s) {
  const Severities found = severities_of(ServiceScript(s), s.end + 1);
  EXPECT_NEAR(found.late_sender, s.polled() - 0.5 * s.finds, kNear);
  EXPECT_NEAR(found.polling, 0.5 * s.finds, kNear);
  EXPECT_NEAR(found.idle, 0, kNear);
}

// Ten finds, at 10 to 28: 18 of the 18 s from 10 to 28, and of 36 s half.
TEST(Dispatcher, WithTenFindsInHalfOfItsLife) {
  expect_idle({.begin = 1, .end = 29});      // 18 of 28
  expect_idle({.begin = 1, .end = 37});      // 18 of 36
  expect_waits({.begin = 1, .end = 37.25});  // 18 of 36.25
}
TEST(Dispatcher, NineFindsAreTooFew) {
  expect_waits({.finds = 9, .begin = 1, .end = 27});  // at 10 to 26
}
TEST(Dispatcher, OneClientIsNoService) {
  expect_waits({.sources = 1, .begin = 1, .end = 29});
}
// Five of ten finds, four of ten.
TEST(Dispatcher, AnswersHalfOfThem) {
  expect_idle({.answered = 5, .begin = 1, .end = 29});
  expect_waits({.answered = 4, .begin = 1, .end = 29});
}
// Two of four locations call there, three of four.
TEST(Dispatcher, PeersServeNobody) {
  expect_idle({.begin = 1, .end = 29, .callers = 2});
  expect_waits({.begin = 1, .end = 29, .callers = 3});
}
TEST(Dispatcher, WhoAsksForOneSourceWaitsForIt) {
  expect_waits({.begin = 1, .end = 29, .any = false});
}

// An answer that comes behind the next find is none of the find before: rank 1 and 2 send each a
// request, the server finds both and answers both afterwards: of each pair the second only.
TEST(Dispatcher, AnAnswerComesBeforeTheNextFind) {
  Dispatcher s{.answered = 0, .begin = 1, .end = 29};
  ServiceScript late(s);
  for (int f = 0; f + 1 < s.finds; f += 2) {  // 5 of 10: at the finds 1, 3 ...
    late.answer(1, s.time(f + 1) + 0.125, s.time(f) - 0.25);
    late.answer(2, s.time(f + 1) + 0.1875, s.time(f + 1) - 0.25);
  }
  const Severities found = severities_of(late, 30);
  EXPECT_NEAR(found.idle, s.polled(), kNear);  // five of ten
  ServiceScript later(s);
  for (int f = 0; f + 3 < s.finds; f += 2) {  // 4 of 10
    later.answer(1, s.time(f + 1) + 0.125, s.time(f) - 0.25);
    later.answer(2, s.time(f + 1) + 0.1875, s.time(f + 1) - 0.25);
  }
  EXPECT_NEAR(severities_of(later, 30).idle, 0, kNear);
}

// MPI_Recv of any source: 10 x (1.75 - 0.5) of Late Sender; what is left of it is none of Polling.
TEST(Dispatcher, MayBlock) {
  for (const bool any : {true, false}) {
    ServiceScript s({.finds = 0, .begin = 1, .end = 29, .processes = 6});  // of which 3 receive
    for (int f = 0; f < 10; ++f) {
      s.receive(8.25 + 2 * f, 10 + 2 * f, 1 + f % 2, any);
      s.answer(1 + f % 2, 10.125 + 2 * f, 9.75 + 2 * f);
    }
    std::optional<earl::Trace> trace;
    const Report report = analyse_script(s.until(30), trace, {});
    const auto total = [&](const char* metric) { return report.total(report.find_metric(metric)); };
    EXPECT_NEAR(total("mpi_polling_idle"), any ? 12.5 : 0, kNear);
    EXPECT_NEAR(total("mpi_polling"), any ? 12.5 : 0, kNear);
    EXPECT_NEAR(total("mpi_latesender"), (any ? 0 : 12.5) + 10 * 0.375, kNear);
  }
}

// Functions of a library: one that main calls at line 40, which calls MPI_Iprobe, MPI_Recv and
// MPI_Send; and one for each of these, at lines 50, 51 and 52.
const ServiceScript::Sites kOneFunction{{"MPI_Iprobe", 20}, {"MPI_Recv", 21}, {"MPI_Send", 22}};
const ServiceScript::Sites kOneEach{{"MPI_Iprobe", 30}, {"MPI_Recv", 31}, {"MPI_Send", 32}};
const ServiceScript::Sites kSendApart{{"MPI_Iprobe", 20}, {"MPI_Recv", 21}, {"MPI_Send", 32}};
ServiceScript with_library(ServiceScript script) {
  const char* const functions[] = {"get", "probe", "receive", "send"};
  const char* const calls[] = {"MPI_Iprobe", "MPI_Recv", "MPI_Send"};
  for (int f = 0; f < 4; ++f) {
    const std::string number = std::to_string(50 + f);
    script.define("REGION rid=" + number + " rnid=\"" + functions[f] + "\" rtype=30");
    script.define("CALL_SITE csid=" + std::to_string(10 + f) + " fid=absent lno=" +
                  std::to_string(f == 0 ? 40 : 49 + f) + " erid=" + number + " lrid=absent");
  }
  for (int c = 0; c < 3; ++c) {
    script.define("REGION rid=" + std::to_string(60 + c) + " rnid=\"" + calls[c] + "\" rtype=0");
    for (const bool each : {false, true}) {
      const std::string site = std::to_string((each ? 30 : 20) + c);
      script.define("CALL_SITE csid=" + site + " fid=absent lno=absent erid=" +
                    std::to_string(60 + c) + " lrid=" + std::to_string(each ? 51 + c : 50));
      script.define("CALL_SITE_CALLER csid=" + site +
                    " caller=" + std::to_string(each ? 11 + c : 10));
    }
  }
  return script;
}
// Rank 0 asks rank 1 five times, then rank 2 five times, 2 s after each other, polls 1.75 s for the
// answer, which is sent 0.5 before it is found, and receives it. With `asks` false nothing is sent
// before: what is sent in between answers it, as a server does.
ServiceScript with_gets(const ServiceScript::Sites& sites, bool asks) {
  ServiceScript s({.finds = 0, .begin = 1, .end = 29}, sites);
  for (int f = 0; f < 10; ++f) {
    const double found = 10 + 2 * f;
    const int client = 1 + f / 5;
    if (asks) {
      s.call(0, found - 1.8125, found - 1.78125, "MPI_Send",
             {{found - 1.8125, "MPI_SEND", "dlid=" + std::to_string(client) + " tag=1 sent=8"}});
      s.call(client, found - 1, found - 0.75, "MPI_Recv",
             {{found - 0.75, "MPI_RECV", "slid=0 tag=1 recvd=8"}});
    }
    s.find(found - 1.75, found, client);
    s.request(client, found - 0.5, found);
    if (!asks) s.answer(client, found + 0.125, found - 0.25);
  }
  return with_library(std::move(s));
}

// Who calls a library to get something waits for it, whoever else is answered meanwhile: 10 x
// (1.75 - 0.5) s of Late Sender. The same calls of the program's own are a service's, by the rule:
// it sends to five times the same one after each find but the last. So are a loop of a library's
// that answers, and a program that calls the library for each of its calls of MPI.
TEST(Dispatcher, IsNoneWhereALibraryWasAsked) {
  const Severities get = severities_of(with_gets(kOneFunction, true), 30);
  EXPECT_NEAR(get.late_sender, 12.5, kNear);
  EXPECT_NEAR(get.polling, 5, kNear);
  EXPECT_NEAR(get.idle, 0, kNear);
  const std::pair<ServiceScript::Sites, bool> services[] = {
      {{}, true}, {kOneEach, true}, {kSendApart, true}, {kOneFunction, false}, {kOneEach, false}};
  for (const auto& [sites, asks] : services) {
    const Severities found = severities_of(with_gets(sites, asks), 30);
    EXPECT_NEAR(found.idle, 17.5, kNear) << sites.size() << asks;
    EXPECT_NEAR(found.late_sender, 0, kNear) << sites.size() << asks;
  }
}

// Whoever is found first below the call asks; what is sent to it then is its answer.
TEST(Dispatcher, AnswersWhomALibraryFoundFirst) {
  ServiceScript s({.finds = 0, .begin = 1, .end = 29}, kOneFunction);
  for (int f = 0; f < 10; ++f) {
    s.find(8.25 + 2 * f, 10 + 2 * f, 1 + f % 2);
    s.request(1 + f % 2, 9.5 + 2 * f, 10 + 2 * f);
    s.answer(1 + f % 2, 10.125 + 2 * f, 9.75 + 2 * f);
  }
  const Severities found = severities_of(with_library(std::move(s)), 30);
  EXPECT_NEAR(found.idle, 17.5, kNear);
}

// Nobody is to blame for what a dispatcher is idle: what is left are the clients' waits for its
// answers, 0.375 s each.
TEST(Dispatcher, HasNoCost) {
  ServiceScript s({.begin = 1, .end = 29});
  const CauseScript::Found found = s.analyse_until(30);
  EXPECT_NEAR(found.causes.waits, 10 * 0.375, kNear);
  EXPECT_NEAR(found.direct(0) + found.indirect(0), 0, kNear);
  // None of what they compute: they send once in 4 s.
  EXPECT_LT(found.gain(1), 0.25);
  EXPECT_LT(found.gain(2), 0.25);
  EXPECT_LT(found.computing(1) + found.computing(2), 10 * 0.25);
  ServiceScript few({.finds = 9, .begin = 1, .end = 27});
  EXPECT_NEAR(few.analyse_until(28).causes.waits, 9 * (0.375 + 1.25 + 0.5), kNear);
}

// Rank 1 has its last answer when rank 2 has sent its last result, for which the server is idle
// from 28.25 to 39.5 and polls on to 40. Since rank 1 and the server stood together last, when the
// request of 29.5 came, rank 1 waits [29.75, 40.125]; what the server waited longer there passes on
// to rank 2, which computes.
TEST(Dispatcher, AChainPassesThrough) {
  ServiceScript script(
      Dispatcher{.begin = 1, .end = 45, .processes = 3});  // up to 28: the last of rank 2
  script.find(28.25, 30, 1);
  script.request(1, 29.5, 30);
  script.find(30.25, 40, 2);
  script.request(2, 39.5, 40);
  script.answer(1, 40.125, 29.75);
  script.answer(2, 40.25, 39.75);
  const CauseScript::Found found = script.analyse_until(46);
  // 10 x 0.375, 40.125 - 29.75, 40.25 - 39.75.
  EXPECT_NEAR(found.causes.waits, 3.75 + 10.375 + 0.5, kNear);
  // The server was idle from 30.25 to 39.5: 9.25 of the 10.375.
  EXPECT_GT(found.computing(2), 9.25 - 0.25);
  EXPECT_GT(found.gain(2), 8);
  for (const RootCause& c : found.causes.causes) {
    const bool slow = c.location == 2 && c.seconds > 8;
    EXPECT_LT(slow ? c.longer : 0, 12);  // since 28.25, not all its time
  }
  // Each of the twelve it took 0.125 s to receive, and the answer 0.03125.
  EXPECT_LE(found.computing(0) + found.of(0, Stretch::Kind::kCall), 12 * (0.125 + 0.03125));
}

// Series without a find: 1 ms is long enough, less is not; who reads one place need not wait.
class Alone : public CauseScript {
 public:
  Alone() : CauseScript(1) {}
  void series(double begin, double end, int flags, int kind = 1, int found = 3) {
    std::ostringstream polled, poll;
    polled.precision(17);
    polled << "count=9 begin=" << begin << " called=0 rest=0 judged=1 end=" << found
           << " flags=" << flags << " members=1";
    poll.precision(17);
    poll << "kind=" << kind << " region=MPI_Test count=9 first_enter=" << begin
         << " last_enter=" << begin << " reqid=0 requests=1";
    call(0, begin, end, "MPI_Test",
         {{end, "MPI_POLLED", polled.str()}, {end, "MPI_POLL", poll.str()}});
  }
  double polling() {
    std::optional<earl::Trace> trace;
    const Report report = analyse_script(until(10), trace, {});
    return report.total(report.find_metric("mpi_polling"));
  }
};
constexpr int kAlone = 4, kGoesOn = 1;

TEST(Polling, WithoutAFindFromOneMillisecondOn) {
  Alone enough, little, goes_on, not_on, reads, found;
  enough.series(0, 1e-3, kAlone);
  EXPECT_NEAR(enough.polling(), 1e-3, kNear);
  little.series(1, 1 + 0x1p-10, kAlone);  // 0.98 ms
  EXPECT_NEAR(little.polling(), 0, kNear);
  // Two parts of 0.98 ms together, and apart.
  goes_on.series(1, 1 + 0x1p-10, kAlone);
  goes_on.series(1 + 0x1p-10, 1 + 0x1p-9, kAlone | kGoesOn);
  EXPECT_NEAR(goes_on.polling(), 0x1p-9, kNear);
  not_on.series(1, 1 + 0x1p-10, kAlone);
  not_on.series(1 + 0x1p-10, 1 + 0x1p-9, kAlone);
  EXPECT_NEAR(not_on.polling(), 0, kNear);
  reads.series(1, 2, kAlone, 4);
  EXPECT_NEAR(reads.polling(), 0, kNear);
  found.series(1, 1 + 0x1p-10, kAlone, 4, 1);  // another value at last
  EXPECT_NEAR(found.polling(), 0x1p-10, kNear);
}

// More parts than are kept until others follow, each with its own time.
TEST(Polling, OfManySeries) {
  Alone many;
  for (int i = 0; i < 200; ++i) many.series(i * 0x1p-7, i * 0x1p-7 + 0x1p-8, kAlone);
  EXPECT_NEAR(many.polling(), 200 * 0x1p-8, kNear);
}

}  // namespace
}  // namespace kojak::expert
