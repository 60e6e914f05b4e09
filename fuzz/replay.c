/* Runs a fuzz target without libFuzzer: on given files, and on a number of random inputs that are the same every time.
 * So the targets are compiled and run by the tests, with any compiler.   usage: TARGET COUNT FILE... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

int main(int argc, char **argv) {
  uint8_t *data = malloc(LARGEST);
  uint64_t random = 1;
  if (argc < 2 || !data) return 2;
  for (long k = strtol(argv[1], NULL, 10); k > 0; k--) {
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
  }
  free(data);
  return 0;
}
