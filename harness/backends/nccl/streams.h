/* streams.h: what was put on which stream, in which order, and what a part of that order is complete or
 * pending.
 *
 * A position is a stamp: a number that grows with each operation that is put on any stream, and with each
 * wait. All that is known is known for certain; what does not fit into the tables, or goes through a captured
 * graph, is left unknown: never called complete, never said to be waited for. */
#ifndef RANKFAULT_NCCL_STREAMS_H
#define RANKFAULT_NCCL_STREAMS_H

#include "decoder.h"

/* A part of the work of this process that is over when a wait for it has succeeded: what was put on a stream
 * (and what that stream waited for in others), or on all streams of a device, or on those that the device's
 * legacy default stream waits for; before the position `until`. */
struct rf_extent {
  enum rf_extent_kind { RF_NOTHING, RF_ON_STREAM, RF_ON_DEVICE, RF_BEFORE_LEGACY } kind;
  int device;
  uint64_t stream; /* rf_stream_key */
  uint64_t until;
};

/* What tells `stream` apart from all others. A default stream has one handle on every device (per-thread: and
 * thread), so its key depends on the device; RF_NO_STREAM where that is not known: it is in no extent. */
#define RF_NO_STREAM UINT64_MAX
uint64_t rf_stream_key(cudaStream_t stream, int device);
/* Of a call that names the stream alone: CUDA takes the default stream of the current device. */
uint64_t rf_stream_key_here(cudaStream_t stream);
struct rf_extent rf_extent_of_stream(cudaStream_t stream); /* what is on it now */
int rf_current_device(void);                               /* -1 unknown */
int rf_stream_is_plain(
    cudaStream_t stream); /* its work runs when the stream does, not with a captured graph */
/* All work on `stream` from now on comes after what `earlier`, an extent of a stream, covers. */
void rf_stream_comes_after(cudaStream_t stream, const struct rf_extent* earlier);
void rf_stream_gone(cudaStream_t stream); /* its handle may come back as another stream */

int rf_extent_has_pending(const struct rf_extent* extent);
void rf_extent_complete(const struct rf_extent* extent);
enum { RF_MOST_NAMED = 64 };
/* Origins of what is pending in it, in order of position, the newest `most` of them; `all`: how many there
 * are. */
int rf_extent_pending(const struct rf_extent* extent, uint64_t* origins, int most, uint32_t* all);

/* events.c: the extent that an event stands for, RF_NOTHING when it is not known. */
struct rf_event_view {
  struct rf_extent extent;
  uint64_t version;
};
struct rf_event_view rf_event_view(cudaEvent_t event);
int rf_event_unchanged(cudaEvent_t event, const struct rf_event_view* view); /* not recorded anew since */

/* callers.c: the calls that NCCL and the runtime make of CUDA are not the user's. */
void rf_callers_learn(void);
int rf_is_users(const void* return_address);
int rf_is_of_nccl(const void* return_address);

#endif /* RANKFAULT_NCCL_STREAMS_H */
