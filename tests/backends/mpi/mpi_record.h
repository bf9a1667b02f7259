// mpi_record: a whole MPI job and its records, once for each installed MPI.
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

  // MPICH 4 and 5 share one decoder: if both are installed, most tests need only one of them. Behaviour of
  // the library itself is tested with the older one.
  bool shown_by_the_other_mpich() const {
    const bool is_4 = GetParam() == std::string("Mpich4");
    if (!is_4 && GetParam() != std::string("Mpich5")) return false;
    if (!mpi_named(is_4 ? "Mpich5" : "Mpich4").usable()) return false;
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string test = name.substr(0, name.find('/'));
    const std::set<std::string> both{"ATypeBeyond2GiBHasItsSize",
                                     "CountsEqualTheProgramsOwnForEveryOp",
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

// The parts of a record that the diagnosis may read, without times and addresses.
inline std::vector<std::string> what_was_done(const FlightRecord& record) {
  std::vector<std::string> out;
  for (const rf_record& r : record.records(RF_LIB_MPI))
    out.push_back(std::string(op_name(r.op)) + " phase " + std::to_string(r.phase) + " seq " +
                  std::to_string(r.seq) + " count " + std::to_string(r.count) + " dtype " +
                  std::to_string(r.dtype) + " op " + std::to_string(r.reduce_op) + " peer " +
                  std::to_string(r.peer) + " flags " + std::to_string(r.flags) + " call " +
                  std::to_string(r.call));
  return out;
}

}  // namespace rankfault::test
