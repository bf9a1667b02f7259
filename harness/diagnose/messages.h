// messages: point-to-point calls of one communicator, and whether the partner entered what one of them
// waits for.
//
// The rule is the standard's (MPI 4.1, 3.5: messages of one sender that fit one receive do not overtake
// each other): of the messages from q to r with one tag, the k-th is taken by the k-th receive that asks
// for exactly those. Receives with a wildcard, and probes that take their message along, only take more
// away. So a count of what was sent, less what is certainly taken, is a bound from above: where it is
// zero nothing is there to be received, whatever the wildcards took.
#pragma once

#include <optional>

#include "harness/diagnose/view.h"

namespace rankfault {

bool is_message(uint16_t op);  // send, ssend, recv, sendrecv, probe
bool sends(const Call&);
bool receives(const Call&);  // a probe takes nothing
int source_of(const Call&);
int receive_tag(const Call&);
bool any_source(const Call&);

// The ranks of the communicator one of which must come, the caller among them; empty: nobody is waited for.
struct Partners {
  std::vector<int> ranks;
  bool by_need = true;  // else the library may wait for it (a send that was not buffered)
};
Partners partners_of(const Call&, const CommGroup&);

// Whether `partner` has entered the call that lets this call of `me` complete. kNo where both records are
// whole and no message is left; that both were fully seen is for the proof to check.
Known partner_entered(const Call&, const Member& me, const Member& partner);

// Whether all that was ever sent for a receive from any source was taken by others before it. True only
// when certain.
bool nothing_left(const Call&, const Member& me, const CommGroup&);

// The tag of a message that `partner` sent to `me`, that nobody received and that a receive for another tag
// may have been meant for.
std::optional<int> unreceived_tag(const Call& receive, const Member& me, const Member& partner);

// Whether all sends and receives of a member of a communicator of NCCL are on record as such. They are
// matched in order for each pair and direction, and have no tags.
bool nccl_messages_known(const Member&);

}  // namespace rankfault
