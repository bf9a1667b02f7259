/* talk.c: the guardian's side of the connection to the tool. A stopped tool must not stop us. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guardian.h"

/* 1 when done with the packet (sent, or the tool is gone). */
static int try_send(struct rf_guardian* g, const void* data, size_t bytes) {
  if (g->socket < 0) return 1;
  if (send(g->socket, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return 1;
  return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ENOBUFS;
}

void rf_flush(struct rf_guardian* g) {
  while (g->queue && try_send(g, g->queue->data, g->queue->bytes)) {
    struct rf_message* sent = g->queue;
    g->queue = sent->next;
    if (!g->queue) g->queue_end = &g->queue;
    free(sent);
  }
}

/* The kernel refuses packets larger than its limit for a socket, which is 208 KiB by default. */
#define LINES_BYTES ((size_t)64 * 1024)

void rf_say(struct rf_guardian* g, const struct rf_guardian_packet* packet, const char* text, size_t bytes) {
  if (bytes > RF_GUARDIAN_PACKET - sizeof *packet) bytes = RF_GUARDIAN_PACKET - sizeof *packet;
  struct rf_message* message = malloc(sizeof *message + sizeof *packet + bytes);
  if (!message) return;
  message->next = NULL;
  message->bytes = sizeof *packet + bytes;
  memcpy(message->data, packet, sizeof *packet);
  if (bytes) memcpy(message->data + sizeof *packet, text, bytes);
  *g->queue_end = message;
  g->queue_end = &message->next;
  rf_flush(g);
}

/* A line that is longer than a packet is cut. */
void rf_say_lines(struct rf_guardian* g, const struct rf_guardian_packet* packet, uint32_t more,
                  const char* text, size_t bytes) {
  struct rf_guardian_packet part = *packet;
  part.message = more;
  while (bytes > LINES_BYTES) {
    const char* end = memrchr(text, '\n', LINES_BYTES);
    const size_t whole = end ? (size_t)(end - text) + 1 : LINES_BYTES;
    rf_say(g, &part, text, whole);
    text += whole;
    bytes -= whole;
  }
  rf_say(g, packet, text, bytes);
}
