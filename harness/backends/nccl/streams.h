/* streams.h: the operations on each stream, their order, and the parts of that order that are complete or
 * pending.
 *
 * A position is a stamp: a number that increases with each operation put on any stream and with each wait.
 * All known facts are certain. Work that does not fit into the tables, or goes through a captured graph,
 * stays unknown: it is never called complete, and no wait names it. */
#ifndef RANKFAULT_NCCL_STREAMS_H
#define RANKFAULT_NCCL_STREAMS_H

#include "decoder.h"

/* A part of this process's work that is complete when a wait for it has succeeded: the work on one stream
 * (and on the streams that it waited for), on all streams of a device, or on those that the device's legacy
 * default stream waits for; in each case before the position `until`. */
struct rf_extent {
  enum rf_extent_kind { RF_NOTHING, RF_ON_STREAM, RF_ON_DEVICE, RF_BEFORE_LEGACY } kind;
  int device;
  uint64_t stream; /* rf_stream_key */
  uint64_t until;
};

/* Returns a key that identifies `stream`. A default stream has one handle on every device (the per-thread
 * one: on every thread, too), so its key depends on the device. RF_NO_STREAM if the device is unknown: such a
 * stream is in no extent. */
#define RF_NO_STREAM UINT64_MAX
uint64_t rf_stream_key(cudaStream_t stream, int device);
/* For a call that names only the stream: CUDA uses the default stream of the current device. */
uint64_t rf_stream_key_here(cudaStream_t stream);
struct rf_extent rf_extent_of_stream(cudaStream_t stream); /* its present work */
int rf_current_device(void);                               /* -1 unknown */
int rf_stream_is_plain(
    cudaStream_t stream); /* its work runs when the stream runs, not with a captured graph */
/* From now on, all work on `stream` comes after the work that `earlier`, an extent of a stream, covers. */
void rf_stream_comes_after(cudaStream_t stream, const struct rf_extent* earlier);
void rf_stream_gone(cudaStream_t stream); /* its handle may return as another stream */

int rf_extent_has_pending(const struct rf_extent* extent);
void rf_extent_complete(const struct rf_extent* extent);
enum { RF_MOST_NAMED = 64 };
/* Returns the origins of the pending operations in the extent, in order of position: the newest `most` of
 * them. `all`: their total number. */
int rf_extent_pending(const struct rf_extent* extent, uint64_t* origins, int most, uint32_t* all);

/* events.c: the extent that an event stands for; RF_NOTHING if it is unknown. */
struct rf_event_view {
  struct rf_extent extent;
  uint64_t version;
};
struct rf_event_view rf_event_view(cudaEvent_t event);
int rf_event_unchanged(cudaEvent_t event, const struct rf_event_view* view); /* not recorded again since */

/* callers.c: CUDA calls that NCCL and the runtime make do not belong to the user. */
void rf_callers_learn(void);
int rf_is_users(const void* return_address);
int rf_is_of_nccl(const void* return_address);

#endif /* RANKFAULT_NCCL_STREAMS_H */
