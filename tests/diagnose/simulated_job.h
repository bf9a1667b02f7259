// SimulatedJob: random programs of a few ranks over a few communicators, with collectives and messages. A
// scheduler lets a call return only when what it needs has come. Every prefix of a run is a Timeline.
//
// There are three libraries. One pairs collective calls by their place, and is as permissive as data flow
// allows. The second builds them from messages, which pair whenever they fit. The third is as strict as MPI
// allows.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <vector>

#include "tests/diagnose/simulated_collectives.h"
#include "tests/diagnose/simulated_mail.h"
#include "tests/falsify/refute.h"
#include "tests/support/timeline_builder.h"

namespace rankfault::testing {

class SimulatedJob {
 public:
  // kStrict buffers nothing: a send waits for its receive, and every collective for all its members.
  enum class Library { kByPlace, kOfMessages, kStrict };
  enum class Refusals { kNone, kSome };
  // `mistakes`: some programs leave out, add or change a call, or cross two communicators. `refusals`: in
  // some programs ranks make calls that the library refuses, and continue. Such calls have no place.
  SimulatedJob(uint32_t seed, bool mistakes, Library = Library::kByPlace, Refusals = Refusals::kNone);

  int ranks() const { return ranks_; }
  // One event of one rank: it enters or leaves a call. Returns false when no rank can move.
  bool advance();
  bool has_ended() const;  // every rank made all of its calls
  // Adds ring exchanges and orders that end only in a library that buffers. Call it before the first
  // advance().
  void add_unsafe_orders();
  bool leaves_a_choice() const;  // a receive from any source, or a wait for one of several
  Timeline timeline() const { return builder_.build(); }
  TimelineBuilder& builder() { return builder_; }
  // Ends a rank where it is: by a signal, by an exit, by the error of the call it is in, or by a
  // call that the library refuses and an exit.
  void end(int rank);
  const std::vector<std::string>& comms() const { return names_; }
  const TruePlaces& places() const { return places_; }

 private:
  struct Request {
    uint64_t origin;
    size_t post;
    bool at_once = false;  // a send that the library buffers
  };
  struct Rank {
    std::vector<CallSpec> program;
    size_t next = 0;
    bool inside = false, dead = false;
    uint64_t seq = 0;                        // place of its call, by the library's count
    std::map<std::string, uint64_t> places;  // the number of calls it entered on each communicator
    std::vector<size_t> posts;               // of the call that it is in
    std::vector<Request> requests;           // not complete
  };
  void write_programs();
  void add_messages();
  void add_race();
  void make_a_mistake();
  bool can_return(int rank) const;
  void try_a_wrong_call(int rank, const CallSpec& next);
  void is_refused(int rank, const CallSpec&);
  void enter(int rank);
  void leave(int rank);
  void give_up(int rank);
  void stand_at(int rank, uint64_t place);
  bool everybody_needed_came(int rank, const CallSpec&) const;
  size_t number(const std::string& comm) const;
  const std::vector<int>& members(const std::string& comm) const { return members_[number(comm)]; }

  std::mt19937 random_;
  int ranks_;
  TimelineBuilder builder_;
  std::vector<std::string> names_;
  std::vector<std::vector<int>> members_;
  std::vector<Rank> state_;
  bool strict_ = false;
  int late_ = -1;  // a rank that seldom moves
  unsigned refused_of_hundred_ = 0;
  SimulatedMail mail_;
  TruePlaces places_;
  std::optional<SimulatedCollectives> of_messages_;
};

}  // namespace rankfault::testing
