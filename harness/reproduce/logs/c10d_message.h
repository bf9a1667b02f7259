// c10d_message: the parts that PyTorch's messages of calls share: who writes, and of which call.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/reproduce/logs/clue.h"

namespace rankfault {

// Reads the brackets that end before byte `at`: "[Rank 3] ", "[PG 1 Rank 3] ",
// "[PG ID 2 PG GUID 9(mesh_tp) Rank 3] ". Rank 3 is a place in the group. It is the rank of the world if the
// group is the default one, or if the message names none.
void say_group(Clue& clue, std::string_view line, size_t at);

// Reads the fields of "WorkNCCL(SeqNum=...)" and of "CollectiveFingerPrint(SequenceNumber=...)".
void say_call(Clue& clue, std::string_view fields);

// The number of elements of "[20, 10]"; -1 without one, or if it does not fit.
int64_t elements_of_shape(std::string_view shape);

}  // namespace rankfault
