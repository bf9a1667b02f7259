// facts: hand-made RunFacts for the tests of oracles: a run of four ranks, written in a few lines.
//
// Times are milliseconds after the begin of the run. No fault catalogue is linked: a fault had its effect
// when `struck` says so.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/oracle.h"

namespace rankfault::test {

inline constexpr Instant kBegin{1s};
inline Instant ms(double t) { return kBegin + Duration(static_cast<int64_t>(t * 1e6)); }

class Facts {
 public:
  explicit Facts(int ranks = 4);

  // "blamed: {kind: dead_rank, ranks: [2]}"
  Facts& expect(const std::string& yaml);
  Facts& fault(const std::string& id, std::vector<int> victims);
  Facts& struck(const std::string& id, double at, int64_t step = -1, uint64_t seq = 0);
  Facts& call(int rank, uint16_t op, double enter, double leave, int32_t result = 0, int attempt = 0);
  Facts& inside(int rank, uint16_t op, double since, int attempt = 0);  // and never leaves it
  Facts& exited(int rank, int code, double at, int attempt = 0);
  Facts& signalled(int rank, int signal, double at, int attempt = 0);
  Facts& died(int rank, double at, int attempt = 0);  // status unknown
  Facts& all_exited(int code, double at, int attempt = 0);
  Facts& mark(int rank, const char* what, int64_t number, double at, const char* name = "",
              uint64_t value = 0, int attempt = 0);
  Facts& found(const Finding& finding);
  Facts& torn_down(const char* reason, double at);
  Facts& line(const std::string& ev, const Json& fields = Json::object(), double at = 0);
  Facts& restarted(int attempt);
  Facts& reference(RunFacts facts);
  ProcessView& process(int rank, int attempt = 0);

  RunFacts take() { return std::move(facts_); }
  RunFacts& facts() { return facts_; }
  Judgement judged() { return judge(facts_); }
  ExpectationResult result();  // of the first expectation
  bool decided();              // it can be judged while the job runs, and no later event can change it

 private:
  RankEnd& ended(int rank, double at, int attempt);
  rf_record& record(int rank, int attempt, double at);

  RunFacts facts_;
  uint32_t calls_ = 0;
};

Finding finding(const std::string& kind, std::vector<int> ranks, Confidence = Confidence::kProven,
                const std::string& op = "all_reduce");

}  // namespace rankfault::test
