/* Random samples, Latin hypercubes, Sobol points, the normal distribution.
 *
 * Random: splitmix64 as a hash of (seed, sample, dimension).
 * Latin hypercube: sample k takes stratum p(k) of `samples` equal ones, where p is a permutation per dimension: a Feistel
 * network on the next power of four, walked until it lands in range, so that no table is needed. Within the stratum the
 * place is random.
 * Sobol: Gray-code order, direction numbers of Joe and Kuo (2008, new-joe-kuo-6), shifted digitally (exclusive or) by a
 * hash of the seed, which keeps the net's properties and keeps points away from the corner 0. */
#include "study/sampling.h"

#include <math.h>

static uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

uint64_t ss_sampling_hash(uint64_t seed, uint64_t sample, uint64_t dimension) {
  return mix(mix(mix(seed) ^ sample) ^ dimension);
}

static double unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

double ss_sampling_uniform(uint64_t seed, uint64_t sample, uint64_t dimension) {
  return unit(ss_sampling_hash(seed, sample, dimension));
}

double ss_sampling_normal(uint64_t seed, uint64_t sample, uint64_t dimension) {
  return ss_normal_quantile(ss_sampling_uniform(seed, sample, dimension) + 0x1p-54);
}

/* ---- Latin hypercube ---- */

static uint64_t feistel(uint64_t value, int half, uint64_t key) {
  const uint64_t mask = ((uint64_t)1 << half) - 1;
  uint64_t left = value >> half, right = value & mask;
  for (uint64_t round = 0; round < 6; round++) {
    const uint64_t next = left ^ (ss_sampling_hash(key, right, round) & mask);
    left = right;
    right = next;
  }
  return left << half | right;
}

static uint64_t permute(uint64_t index, uint64_t n, uint64_t key) {
  int half = 1;
  while (half < 31 && ((uint64_t)1 << (2 * half)) < n) half++;
  do index = feistel(index, half, key);
  while (index >= n);
  return index;
}

static double latin(uint64_t seed, long sample, long samples, int dimension) {
  const uint64_t key = ss_sampling_hash(seed, (uint64_t)-1, (uint64_t)dimension);
  const uint64_t stratum = permute((uint64_t)sample, (uint64_t)samples, key);
  const double within = ss_sampling_uniform(seed, (uint64_t)sample, (uint64_t)dimension);
  const double x = ((double)stratum + within) / (double)samples;
  return x < 1 ? x : 1 - 0x1p-53;
}

/* ---- Sobol ---- */

typedef struct sobol_row {
  int degree;
  uint32_t polynomial; /* inner coefficients */
  uint32_t initial[7];
} sobol_row;

static const sobol_row sobol_rows[SS_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

/* Direction number i (from 0) of a dimension, 32 bits. */
static void sobol_directions(int dimension, uint32_t direction[32]) {
  for (int i = 0; i < 32; i++) direction[i] = (uint32_t)1 << (31 - i);
  if (dimension == 0) return; /* van der Corput */
  const sobol_row *row = &sobol_rows[dimension - 1];
  const int s = row->degree;
  for (int i = 0; i < s; i++) direction[i] = row->initial[i] << (31 - i);
  for (int i = s; i < 32; i++) {
    direction[i] = direction[i - s] ^ (direction[i - s] >> s);
    for (int k = 1; k < s; k++)
      if (row->polynomial >> (s - 1 - k) & 1) direction[i] ^= direction[i - k];
  }
}

static double sobol(uint64_t seed, long sample, int dimension) {
  uint32_t direction[32];
  sobol_directions(dimension, direction);
  const uint64_t k = (uint64_t)sample, gray = k ^ (k >> 1);
  uint32_t bits = (uint32_t)(ss_sampling_hash(seed, (uint64_t)-2, (uint64_t)dimension) >> 32);
  for (int i = 0; i < 32; i++)
    if (gray >> i & 1) bits ^= direction[i];
  return ((double)bits + 0.5) * 0x1p-32;
}

double ss_sampling_coordinate(ss_sampling how, uint64_t seed, long sample, long samples, int dimension) {
  switch (how) {
  case SS_SAMPLE_LATIN:
    return latin(seed, sample, samples, dimension);
  case SS_SAMPLE_SOBOL:
    return sobol(seed, sample, dimension);
  case SS_SAMPLE_GRID:
  case SS_SAMPLE_RANDOM:
    break;
  }
  return ss_sampling_uniform(seed, (uint64_t)sample, (uint64_t)dimension);
}

/* ---- the normal distribution ---- */

double ss_normal_distribution(double x) { return erfc(-x * 0.70710678118654752440) / 2; }

static double polynomial(const double *c, int n, double x) {
  double sum = c[0];
  for (int i = 1; i < n; i++) sum = sum * x + c[i];
  return sum;
}

/* Acklam's rational approximation (relative error 1.15e-9), then one Halley step on erfc: full precision. */
double ss_normal_quantile(double p) {
  static const double a[6] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                              1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  static const double b[6] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                              6.680131188771972e+01,  -1.328068155288572e+01, 1};
  static const double c[6] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                              -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  static const double d[5] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                              3.754408661907416e+00, 1};
  const double tail = fmin(p, 1 - p);
  double x;
  if (tail < 0.02425) {
    const double q = sqrt(-2 * log(tail));
    x = polynomial(c, 6, q) / polynomial(d, 5, q);
    if (p > 0.5) x = -x;
  } else {
    const double q = p - 0.5, r = q * q;
    x = q * polynomial(a, 6, r) / polynomial(b, 6, r);
  }
  const double e = ss_normal_distribution(x) - p, u = e * 2.50662827463100050242 * exp(x * x / 2);
  return x - u / (1 + x * u / 2);
}
