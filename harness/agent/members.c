/* members.c: the lists of world ranks of communicators. Most communicators are copies of another, and most
 * lists belong to communicators that are soon freed. So equal lists are kept once, and the room of a list
 * that no entry names is reused. */
#include <string.h>

#include "harness/agent/agent.h"

static struct region {
  uint32_t at, room; /* in the pool; the regions are in this order, without gaps */
  uint32_t size;     /* of the list in it */
  uint32_t users;    /* entries of the communicator table */
} regions[RF_MAX_COMMS];
static uint32_t regions_used;

void rf_members_reset(void) { regions_used = 0; }

static struct region* region_at(uint32_t at) {
  for (uint32_t i = 0; i < regions_used; ++i)
    if (regions[i].at == at) return &regions[i];
  return NULL;
}

void rf_members_share(uint32_t at) {
  struct region* r = region_at(at);
  if (r) ++r->users;
}

void rf_members_release(uint32_t at) {
  struct region* r = region_at(at);
  if (r && r->users > 0) --r->users;
}

static struct region* equal_list(const int32_t* ranks, uint32_t size) {
  for (uint32_t i = 0; i < regions_used; ++i)
    if (regions[i].size == size && memcmp(rf_members + regions[i].at, ranks, size * sizeof(*ranks)) == 0)
      return &regions[i];
  return NULL;
}

static struct region* smallest_free(uint32_t size) {
  struct region* best = NULL;
  for (uint32_t i = 0; i < regions_used; ++i)
    if (regions[i].users == 0 && regions[i].room >= size && (!best || regions[i].room < best->room))
      best = &regions[i];
  return best;
}

/* Cuts a free region to `size` and frees the rest. */
static struct region* cut(struct region* r, uint32_t size) {
  if (!r || r->room == size || regions_used == RF_MAX_COMMS) return r;
  memmove(r + 2, r + 1, (size_t)(regions + regions_used - (r + 1)) * sizeof(*r));
  r[1] = (struct region){.at = r->at + size, .room = r->room - size};
  r->room = size;
  ++regions_used;
  return r;
}

static void join_free_neighbours(void) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < regions_used; ++i) {
    struct region* last = kept ? &regions[kept - 1] : NULL;
    if (last && last->users == 0 && regions[i].users == 0)
      last->room += regions[i].room;
    else
      regions[kept++] = regions[i];
  }
  regions_used = kept;
}

static struct region* new_region(uint32_t size) {
  const uint32_t at = RF_LOAD(&rf_head->members_used);
  if (regions_used == RF_MAX_COMMS || size > RF_MAX_MEMBERS - at) return NULL;
  RF_STORE(&rf_head->members_used, at + size);
  regions[regions_used] = (struct region){.at = at, .room = size};
  return &regions[regions_used++];
}

uint32_t rf_members_keep(const int32_t* ranks, uint32_t size) {
  struct region* r = equal_list(ranks, size);
  if (!r) {
    r = cut(smallest_free(size), size);
    if (!r) r = new_region(size);
    if (!r) {
      join_free_neighbours();
      r = cut(smallest_free(size), size);
    }
    if (!r) r = new_region(size);
    if (!r) return RF_NO_MEMBERS;
    memcpy(rf_members + r->at, ranks, size * sizeof(*ranks));
    r->size = size;
  }
  ++r->users;
  return r->at;
}
