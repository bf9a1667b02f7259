// mpi_record: a whole MPI job and its records, once for each MPI that is here.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/backends/flight_record.h"
#include "tests/backends/mpi/mpi_job.h"

namespace rankfault::test {

class MpiRecord : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    mpi_ = mpi_named(GetParam());
    if (!mpi_.usable()) GTEST_SKIP() << GetParam() << " or its rank programs are not here";
    if (shown_by_the_other_mpich()) GTEST_SKIP() << "shown with the other MPICH";
    char name[] = "/tmp/rf-mpi-XXXXXX";
    run_dir_ = mkdtemp(name);
  }
  void TearDown() override {
    if (!run_dir_.empty()) std::filesystem::remove_all(run_dir_);
  }

  // MPICH 4 and 5 have one decoder: where both are here, most tests need only one of them. What the library
  // itself decides is asked of the older one.
  bool shown_by_the_other_mpich() const {
    const bool is_4 = GetParam() == std::string("Mpich4");
    if (!is_4 && GetParam() != std::string("Mpich5")) return false;
    if (!mpi_named(is_4 ? "Mpich5" : "Mpich4").usable()) return false;
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string test = name.substr(0, name.find('/'));
    const std::set<std::string> both{"CountsEqualTheProgramsOwnForEveryOp",
                                     "SaysWhichLibraryItStandsIn",
                                     "FortransCallsAreThoseOfItsOwnBook",
                                     "SoAreTheRarerOnes",
                                     "AnErrorThatTheProgramHandlesIsRecorded",
                                     "StartallStartsNoneWhereOneIsRefused",
                                     "SeesFortranCallsOnce"};
    const std::set<std::string> of_4{"GivesACommunicatorOneIdentityOnAllItsMembers",
                                     "SendsThatAreCompleteAtOnceAreAllTold",
                                     "AFailedCallReachesTheErrorHandler"};
    return both.count(test) == 0 && (of_4.count(test) != 0) != is_4;
  }

  JobEnd run(const std::vector<std::string>& program, int ranks = 4) {
    JobOptions options;
    options.ranks = ranks;
    options.run_dir = run_dir_;
    JobEnd end = run_mpi(mpi_, program, options);
    records_ = read_flight_records(run_dir_);
    return end;
  }

  Mpi mpi_;
  std::string run_dir_;
  std::map<int, FlightRecord> records_;
};

inline std::map<std::string, long> own_book(const Json& book) {
  std::map<std::string, long> out;
  for (const auto& [op, calls] : book["counts"].items()) out[op] = calls.get<long>();
  return out;
}

}  // namespace rankfault::test
