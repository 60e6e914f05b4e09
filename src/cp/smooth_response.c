/* Coulomb's law, smoothed, with derivatives: z_n = max(x_n, 0), z_t the projection of x_t on mu (z_n + extra) S, both by the
 * functions of smooth_sets.c. Sections of steep or flat cones are smoothed alike in proportion to their size. */
#include "cp/smooth_response.h"

#include "cp/reduce.h"
#include "cp/smooth_sets.h"

#include <math.h>

/* Row `row`, of a block of `size`, with its derivative by the first x of the block. */
static void put(response *out, int row, int size, double z, double by_x) {
  out->z[row] = z;
  for (int j = 1; j < size; j++) out->D[row][j] = 0;
  out->D[row][0] = by_x;
}

static void respond_alone(const site *s, const double *x, double sigma, response *out) {
  const bool box = s->block->kind == SS_BLOCK_BOX;
  double slope;
  const double z = smooth_box(x[s->row], box ? s->block->lower : 0, box ? s->block->upper : HUGE_VAL, sigma, &slope);
  put(out, s->row, 1, z, slope);
}

static void respond_with_friction(const site *s, const double *x, double sigma, response *out) {
  const ss_block *block = s->block;
  const int row = s->row, tangents = block->size - 1;
  const double normal = smooth_plus(x[row], sigma), by_normal = smooth_plus_slope(x[row], sigma);
  double p[SMOOTH_ROWS] = {0}, slope[SMOOTH_ROWS * SMOOTH_ROWS] = {0}, by_radius[SMOOTH_ROWS] = {0};
  put(out, row, block->size, normal, by_normal);
  if (block->mu > 0)
    smooth_section(block, s->corners, x + row + 1, block->mu * (normal + block->extra), sigma * fmin(1, block->mu), p,
                   slope, by_radius);
  for (int i = 0; i < tangents; i++) {
    put(out, row + 1 + i, block->size, p[i], block->mu * by_normal * by_radius[i]);
    for (int j = 0; j < tangents; j++) out->D[row + 1 + i][1 + j] = slope[i * tangents + j];
  }
}

void respond_smoothly(const active_set *set, const double *x, double sigma, response *out) {
  const ss_cp *problem = set->problem;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = block->first; block_is_free(block) && i < block->first + block->size; i++) put(out, i, 1, x[i], 1);
  }
  for (int k = 0; k < set->n_sites; k++) {
    const site *s = &set->sites[k];
    if (s->block->kind == SS_BLOCK_FRICTION)
      respond_with_friction(s, x, sigma, out);
    else
      respond_alone(s, x, sigma, out);
  }
}
