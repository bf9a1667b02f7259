// StopRequest: SIGTERM, the scheduler's polite notice, as a flag that the training loop reads.
//
// The handler sets the flag and does nothing else: it may stand inside any call of any library. Acting on it
// is the loop's, at a point where all ranks are: they agree in the step's error flag, commit the step, write
// a checkpoint and leave together.
#pragma once

namespace trainer {

// From now on SIGTERM is a request, also the second and third one while the checkpoint is being written.
// `once`: the second one ends the process, as many programs have it.
void take_stop_requests(bool once);
bool stop_requested();

}  // namespace trainer
