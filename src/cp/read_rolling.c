/* Contacts with rolling friction: five rows (normal, two tangential, two rolling) and two discs,
 *
 *     0 <= z_n perp w_n >= 0,   z_t in mu z_n D maximises -w_t . z_t,   z_m in mu_r z_n D maximises -w_m . z_m.
 *
 * A friction block has one disc. The second one gets a block of its own, with a copy of the normal impulse in front:
 *
 *     rows n t1 t2 | n' m1 m2,   w_n' = W_nn (z_n' - z_n),   0 <= z_n' perp w_n' >= 0   gives   z_n' = z_n,
 *
 * and no other row sees z_n'. So that a problem of contacts x 5 rows becomes one of contacts x 6. */
#include "cp/tokens.h"

static size_t six(size_t row) { return row / 5 * 6 + row % 5 + (row % 5 >= 3); }

ss_status file_rolling(tokens *t, int contacts, const matrix *W, const double *q, const double *mu,
                       const double *mu_rolling, ss_cp_file *out, ss_error *error) {
  if (W->rows != 5 * contacts || W->cols != W->rows)
    return tokens_fail(t, error, "the matrix does not fit the contacts");
  if (!W->a && contacts) return tokens_fail(t, error, "too large for rolling friction");
  double *G, *g;
  ss_block *blocks;
  const ss_status status = file_problem(t, 6 * contacts, 2 * contacts, out, &G, &g, &blocks, error);
  if (status) return status;
  out->kind = "rolling-friction";
  const size_t m = (size_t)W->rows, n = 6 * (size_t)contacts;
  for (size_t i = 0; i < m; i++) {
    g[six(i)] = q[i];
    for (size_t j = 0; j < m; j++) G[six(i) * n + six(j)] = W->a[i * m + j];
  }
  for (int c = 0; c < contacts; c++) {
    const size_t normal = 6 * (size_t)c, copy = normal + 3;
    const double size = G[normal * n + normal] > 0 ? G[normal * n + normal] : 1;
    G[copy * n + copy] = size;
    G[copy * n + normal] = -size;
    for (int k = 0; k < 2; k++)
      blocks[2 * c + k] = (ss_block){.kind = SS_BLOCK_FRICTION,
                                     .first = 6 * c + 3 * k,
                                     .size = 3,
                                     .cone = SS_CONE_QUADRATIC,
                                     .mu = k ? mu_rolling[c] : mu[c]};
  }
  return SS_OK;
}
