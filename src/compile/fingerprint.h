/* What a run was made of, part by part: numbers that differ where a part does. Two runs of equal fingerprints take the same
 * steps; where they differ, the part's name says in what. Text, parameters and build determine everything but the meshes;
 * the other parts are there to say what a difference means, and for scenes that are built in C.
 *
 * Of a user-defined system the numbers are known, but not its functions. */
#ifndef SS_COMPILE_FINGERPRINT_H
#define SS_COMPILE_FINGERPRINT_H

#include "model/model.h"

#include <stdint.h>

typedef enum ss_fingerprint_part {
  SS_PART_BUILD, /* of the program */
  SS_PART_TEXT,  /* of the scene */
  SS_PART_PARAMETERS,
  SS_PART_BODIES,
  SS_PART_MASSES,
  SS_PART_START, /* poses and velocities at t = 0 */
  SS_PART_GEOMETRY,
  SS_PART_MATERIALS,
  SS_PART_JOINTS,
  SS_PART_FORCES,
  SS_PART_GRAVITY,
  SS_PART_OPTIONS, /* scheme, step, cone, ...: all but the duration */
  SS_FINGERPRINT_PARTS
} ss_fingerprint_part;

extern const char *const ss_fingerprint_names[SS_FINGERPRINT_PARTS];
extern const char ss_build_id[];

typedef struct ss_fingerprint {
  uint64_t part[SS_FINGERPRINT_PARTS];
} ss_fingerprint;

ss_fingerprint ss_fingerprint_of(const ss_model *model, const ss_simulation *options);

/* FNV-1a, byte by byte. */
static const uint64_t ss_hash_start = 0xcbf29ce484222325u;
static inline uint64_t ss_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ b[i]) * 0x100000001b3u;
  return hash;
}

#endif
