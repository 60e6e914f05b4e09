/* Runs a fuzz target without libFuzzer: on given files, on random inputs, and on the files with random damage, the same every
 * time. So the targets are compiled and run by the tests, with any compiler.   usage: TARGET COUNT FILE... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 16, MARGIN = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Changes, removes, repeats or cuts off a few bytes; returns the new size. */
static size_t mutate(uint8_t *data, size_t size, uint64_t *random) {
  for (int changes = 1 + (int)(next_random(random) % 4); changes > 0 && size > 0; changes--) {
    const size_t at = next_random(random) % size, room = size - at;
    const size_t n = 1 + next_random(random) % (room < MARGIN / 4 ? room : MARGIN / 4);
    switch (next_random(random) % 5) {
    case 0:
      data[at] = (uint8_t)next_random(random);
      break;
    case 1:
      data[at] ^= (uint8_t)(1u << next_random(random) % 8);
      break;
    case 2:
      memmove(data + at, data + at + n, room - n);
      size -= n;
      break;
    case 3:
      memmove(data + at + n, data + at, room);
      size += n;
      break;
    default:
      if (next_random(random) % 8 == 0) size = at;
    }
  }
  return size;
}

int main(int argc, char **argv) {
  uint8_t *data = malloc(LARGEST + MARGIN), *changed = malloc(LARGEST + MARGIN);
  uint64_t random = 1;
  if (argc < 2 || !data || !changed) return 2;
  const long count = strtol(argv[1], NULL, 10);
  for (long k = count; k > 0; k--) {
    const size_t size = next_random(&random) % 300;
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)next_random(&random);
    (void)LLVMFuzzerTestOneInput(data, size);
  }
  for (int i = 2; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    if (!file) return 2;
    const size_t size = fread(data, 1, LARGEST, file);
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, size);
    for (long k = count / (argc - 2); k > 0; k--) {
      memcpy(changed, data, size);
      (void)LLVMFuzzerTestOneInput(changed, mutate(changed, size, &random));
    }
  }
  free(data);
  free(changed);
  return 0;
}
