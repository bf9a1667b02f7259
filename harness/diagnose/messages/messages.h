// messages: the point-to-point calls of one communicator, and whether the partner entered the call that one
// of them waits for.
//
// The rule comes from the standard (MPI 4.1, 3.5: messages of one sender that fit one receive do not overtake
// each other). Of the messages from q to r with one tag, the k-th receive that asks for exactly those takes
// the k-th message. Receives with a wildcard, and probes that take their message along, only take more
// messages. So the number of messages sent, minus those certainly taken, is an upper bound. If it is zero,
// there is nothing to receive, whatever the wildcards took.
#pragma once

#include <optional>

#include "harness/diagnose/model/view.h"
#include "harness/observe/call_records.h"

namespace rankfault {

bool sends(const Call&);
bool receives(const Call&);  // a probe takes no message
int source_of(const Call&);
int receive_tag(const Call&);
bool any_source(const Call&);

// The ranks of the communicator; one of them must come; the caller may be among them. Empty: the call waits
// for no rank.
struct Partners {
  std::vector<int> ranks;
  bool by_need = true;  // else the library may wait for the partner (a send that was not buffered)
};
Partners partners_of(const Call&, const CommGroup&);

// Whether `partner` has entered the call that lets this call of `me` complete. It is kNo if both records are
// whole and no message is left. The proof must check that both were fully seen.
Known partner_entered(const Call&, const Member& me, const Member& partner);

// Whether earlier receives took every message that could match a receive from any source. True only if
// certain.
bool nothing_left(const Call&, const Member& me, const CommGroup&);

// Returns the tag of a message that `partner` sent to `me` and no call received, if a receive for another tag
// may have been meant for it.
std::optional<int> unreceived_tag(const Call& receive, const Member& me, const Member& partner);

// Whether the record has all sends and receives of a member of an NCCL communicator as such. They match in
// order for each pair and direction and have no tags.
bool nccl_messages_known(const Member&);

}  // namespace rankfault
