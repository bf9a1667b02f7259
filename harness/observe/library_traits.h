// library_traits: what is true of each library that has records. One row describes one library.
//
// Code that treats libraries differently asks for a trait, never for a library. A new back end is a new row.
// Only what is about one library by its nature, such as a text that names it, tests for that library.
#pragma once

#include <array>

#include "harness/agent/agent_abi.h"

namespace rankfault {

// How the collectives that the members of a communicator make find each other.
enum class Pairing : uint8_t {
  kByOrder,           // the first call of a member meets the first of every other one, and so on
  kByOrderOfGroups,   // the same, but the library itself orders the calls between group_start and group_end
  kBySlot,            // those of one kind with one tag, which the program gives (sequence/gloo_slots.h)
  kByNumberOfLibrary  // the library numbers each call that it gets, also one that fails
};

struct LibraryTraits {
  rf_library library = RF_LIB_NONE;
  const char* name = "unknown library";  // in files and in texts of findings

  // ---- what its records are ----
  bool communicates = false;  // its calls meet calls of other ranks; oracles judge them
  bool is_of_files = false;   // its calls are on files and segments: `seq` of a record is the place of a path
  bool is_of_marks = false;   // its records are marks of the program, not calls
  bool counts_blocks = false;  // of gather, scatter: one block, on each rank; of reduce_scatter: all blocks
  bool records_taken_type = false;  // the tag of a collective that takes shares of others is rf_taken
  bool has_named_calls = false;     // of some functions it has no more than the name (named_calls.def)

  // ---- which calls belong together ----
  Pairing pairing = Pairing::kByOrder;
  bool refuses_alone = false;  // it refuses a call whatever the others do: failures tell nothing of places
  bool repair_ends_order = false;  // members may repair a communicator: from there on, places pair nothing
  bool nonblocking_apart = false;  // a nonblocking collective never meets a blocking one
  bool meets_by_id = false;        // comm_create meets by an id; its tag is RF_TAG_OF_ID
  bool numbers_groups = false;     // comm_create meets by the number of the group, which is its tag
  bool messages_by_order = false;  // messages of a pair meet by their order alone; their sizes must be equal

  // ---- what a correct program owes ----
  bool types_must_match = false;   // to receive another type than was sent is forbidden
  bool must_receive_all = false;   // each message must be received before the end
  bool may_not_buffer = false;     // a program must also run if no message is buffered
  bool must_be_finalized = false;  // before its end a rank finalises it, and makes no call afterwards

  // ---- who waits ----
  // A call puts its operation on a stream of a device: it returns before the work is done, the tag of the
  // operation is the number of the stream, and no call but a wait for the stream needs the others.
  bool runs_on_streams = false;
  rf_library stream_waits_in = RF_LIB_NONE;  // whose calls are the waits for its streams
  // Pending work holds its rank only while a call waits for it: until then the rank may poll or cancel it.
  bool pending_holds_no_rank = false;
  bool declares_threads = false;  // its initialisation says whether several threads make calls

  // ---- how it ends ----
  bool errors_end_rank = false;  // an error ends its rank inside the call, unless the program handles errors
  bool left_by_jump = false;     // a call that is left by unwinding was left by a jump, not by its own error
  bool abort_ends_job = false;   // comm_abort ends all ranks
  bool freed_by_program_alone = false;  // a communicator is not destroyed by the unwinding of a failed rank
  int result_of_mismatch = 0;           // its error for messages that do not fit; 0: it has none

  // ---- how reports call it ----
  const char* title = "";
  int prominence = 0;  // of the libraries of a run, the most prominent one is the back end of that run
};

// In the order of rf_library.
inline constexpr std::array kLibraries{
    LibraryTraits{.library = RF_LIB_NONE, .name = "none"},
    LibraryTraits{.library = RF_LIB_MPI,
                  .name = "mpi",
                  .communicates = true,
                  .counts_blocks = true,
                  .records_taken_type = true,
                  .has_named_calls = true,
                  .repair_ends_order = true,
                  .nonblocking_apart = true,  // MPI 4.1, 6.12
                  .types_must_match = true,   // 3.3.1
                  .must_receive_all = true,
                  .may_not_buffer = true,  // 3.5 and 6.14
                  .must_be_finalized = true,
                  .pending_holds_no_rank = true,
                  .declares_threads = true,
                  .errors_end_rank = true,
                  .left_by_jump = true,
                  .abort_ends_job = true,
                  .freed_by_program_alone = true,
                  .result_of_mismatch = 15,  // MPI_ERR_TRUNCATE
                  .title = "MPI",
                  .prominence = 1},
    LibraryTraits{.library = RF_LIB_NCCL,
                  .name = "nccl",
                  .communicates = true,
                  .pairing = Pairing::kByOrderOfGroups,
                  .refuses_alone = true,
                  .meets_by_id = true,
                  .messages_by_order = true,
                  .runs_on_streams = true,
                  .stream_waits_in = RF_LIB_CUDA,
                  .title = "NCCL",
                  .prominence = 3},
    LibraryTraits{.library = RF_LIB_GLOO,
                  .name = "gloo",
                  .communicates = true,
                  .pairing = Pairing::kBySlot,
                  .title = "Gloo",
                  .prominence = 2},
    LibraryTraits{.library = RF_LIB_C10D,
                  .name = "c10d",
                  .communicates = true,
                  .pairing = Pairing::kByNumberOfLibrary,
                  .numbers_groups = true,
                  .title = "PyTorch on Gloo",
                  .prominence = 4},
    LibraryTraits{.library = RF_LIB_LIBC, .name = "libc", .is_of_files = true},
    LibraryTraits{.library = RF_LIB_CUDA, .name = "cuda"},
    LibraryTraits{.library = RF_LIB_MARK, .name = "mark", .is_of_marks = true}};

constexpr bool each_has_its_row() {
  for (size_t i = 0; i < kLibraries.size(); ++i)
    if (kLibraries[i].library != static_cast<rf_library>(i)) return false;
  return kLibraries.size() == RF_LIB_COUNT;
}
static_assert(each_has_its_row(), "a library of agent_abi.h has no row");

inline constexpr LibraryTraits kUnknownLibrary{};

constexpr const LibraryTraits& traits_of(uint8_t library) {
  return library < kLibraries.size() ? kLibraries[library] : kUnknownLibrary;
}

}  // namespace rankfault
