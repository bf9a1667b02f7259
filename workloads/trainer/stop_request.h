// StopRequest: SIGTERM, by which a scheduler announces the end, as a flag that the training loop reads.
//
// The handler only sets the flag, because it may interrupt any call of any library. The loop acts on the flag
// at a point that all ranks reach: they agree by the step's error flag, commit the step, write a checkpoint
// and leave together.
#pragma once

namespace trainer {

// From now on every SIGTERM is a request, also one that arrives while the checkpoint is written. `once`: the
// second SIGTERM ends the process, as in many programs.
void take_stop_requests(bool once);
bool stop_requested();

}  // namespace trainer
