/* Points of random studies. A coordinate depends on (seed, sample, dimension) alone: neither the order of runs nor their
 * number of threads or ranks matters. */
#ifndef SS_STUDY_SAMPLING_H
#define SS_STUDY_SAMPLING_H

#include <stdint.h>

typedef enum ss_sampling { SS_SAMPLE_GRID, SS_SAMPLE_RANDOM, SS_SAMPLE_LATIN, SS_SAMPLE_SOBOL } ss_sampling;

enum { SS_SOBOL_DIMENSIONS = 21 };

/* A hash of three numbers. */
uint64_t ss_sampling_hash(uint64_t seed, uint64_t sample, uint64_t dimension);
/* Uniform in [0, 1), from the hash. */
double ss_sampling_uniform(uint64_t seed, uint64_t sample, uint64_t dimension);
/* Standard normal, from two hashes. */
double ss_sampling_normal(uint64_t seed, uint64_t sample, uint64_t dimension);

/* The coordinate of sample number `sample` (of `samples`, for Latin hypercubes) in [0, 1). */
double ss_sampling_coordinate(ss_sampling how, uint64_t seed, long sample, long samples, int dimension);

/* Inverse of the standard normal distribution function, for p in (0, 1), and the function itself. */
double ss_normal_quantile(double p);
double ss_normal_distribution(double x);

#endif
