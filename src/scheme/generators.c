/* Friction sets by their corners (ST section 3.1): which corners a contact's set has.
 *
 * Generators of a scene are such a list. The polyhedral cone with torsion or rolling resistance has one, too: corners of the ellipsoid that
 * `ellipsoid` fills. In units of the rows the ellipsoid is a ball, and its points are joins of the polygon F of forces, the two poles T of
 * torsion and the polygon R of rolling,
 *
 *     A * B = {cos(phi) a, sin(phi) b},   phi = 0 .. 90 degrees in as many steps as a quarter of the polygon has sides
 *
 * S = F * (T * R). With torsion alone they are the meridians and parallels of a globe; with four directions the octahedron of forces and
 * moments that share one limit linearly. Every corner lies on the ellipsoid, so that friction along one row alone reaches its full limit. */
#include "scheme/scheme.h"

#include <string.h>

enum { ROWS = SS_CONTACT_ROWS - 1 };

/* Points in ROWS coordinates. */
typedef struct points {
  int n;
  double (*at)[ROWS];
} points;

static const double quarter = 1.5707963267948966;

static int levels_of(int directions) { return directions < 6 ? 1 : (directions + 2) / 4; }

/* How many points the join of two sets has. */
static long joined(long a, long b, int levels) { return a == 0 ? b : b == 0 ? a : a + b + (levels - 1) * a * b; }

/* Corners of a polygon in rows first and first + 1, or the two ends of one row. */
static long round_count(int rows, int directions) { return rows == 2 ? directions : 2L * rows; }

static void put_round(points *p, int first, int rows, int directions) {
  const int count = (int)round_count(rows, directions);
  for (int i = 0; i < count; i++) {
    double *x = p->at[p->n++];
    memset(x, 0, sizeof *p->at);
    if (rows == 2) {
      const double angle = 4 * quarter * i / directions;
      x[first] = cos(angle);
      x[first + 1] = sin(angle);
    } else {
      x[first] = i ? -1 : 1;
    }
  }
}

/* The join of both, into out, which is none of them. */
static void put_join(points *out, const points *a, const points *b, int levels) {
  for (int level = 0; level <= levels; level++) {
    const double phi = quarter * level / levels;
    const double c = level == levels ? 0 : cos(phi), s = level == 0 ? 0 : sin(phi);
    for (int i = 0; i < (level == levels || a->n == 0 ? 1 : a->n); i++)
      for (int j = 0; j < (level == 0 || b->n == 0 ? 1 : b->n); j++) {
        if ((level < levels && a->n == 0) || (level > 0 && b->n == 0)) continue;
        double *x = out->at[out->n++];
        for (int k = 0; k < ROWS; k++)
          x[k] = (level < levels ? c * a->at[i][k] : 0) + (level > 0 ? s * b->at[j][k] : 0);
      }
  }
}

static ss_status allocate(ss_arena *arena, points *p, long n, ss_error *error) {
  *p = (points){.at = ss_arena_alloc(arena, sizeof *p->at * (size_t)(n + 1))};
  return p->at ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

static ss_status make(ss_sim *sim, int forces, int torsion, int rolling, ss_friction_table *out, ss_error *error) {
  const int k = sim->options.directions, levels = levels_of(k), rows = forces + torsion + rolling;
  const long nf = round_count(forces, k), nt = round_count(torsion, k), nr = round_count(rolling, k),
             nm = joined(nt, nr, levels), n = joined(nf, nm, levels);
  if (n > SS_MOST_GENERATORS)
    return ss_fail(error, SS_ERROR_UNSUPPORTED,
                   "friction: {directions: %d} with torsion and rolling resistance is a set of %ld corners, more than "
                   "%d; use fewer directions or cone: ellipsoid",
                   k, n, SS_MOST_GENERATORS);
  points f, t, r, m, all;
  const struct {
    points *p;
    long n;
  } lists[] = {{&f, nf}, {&t, nt}, {&r, nr}, {&m, nm}, {&all, n}};
  for (int i = 0; i < 5; i++) {
    const ss_status status = allocate(sim->arena, lists[i].p, lists[i].n, error);
    if (status != SS_OK) return status;
  }
  put_round(&f, 0, forces, k);
  put_round(&t, forces, torsion, k);
  put_round(&r, forces + torsion, rolling, k);
  put_join(&m, &t, &r, levels);
  put_join(&all, &f, &m, levels);
  double *corners = SS_ARENA_ARRAY(sim->arena, double, (size_t)n *(size_t)rows);
  if (!corners) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < all.n; i++) memcpy(corners + (size_t)i * (size_t)rows, all.at[i], sizeof(double) * (size_t)rows);
  *out = (ss_friction_table){.n_rows = rows, .n = all.n, .corners = corners};
  return SS_OK;
}

/* Every combination of rows that contacts of the scene may have. */
ss_status ss_polytopes_create(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  bool torsion = false, rolling = false;
  if (sim->options.cone != SS_CONE_POLYHEDRAL || model->planar != SS_SPATIAL) return SS_OK;
  for (int i = 0; i < model->n_materials; i++) {
    torsion |= model->materials[i].torsion > 0;
    rolling |= model->materials[i].rolling > 0;
  }
  for (int i = 0; i < model->n_overrides; i++) {
    torsion |= model->overrides[i].torsion > 0;
    rolling |= model->overrides[i].rolling > 0;
  }
  for (int f = 0; f <= 2; f++)
    for (int t = 0; t <= torsion; t++)
      for (int r = 0; r <= rolling; r++) {
        if (t + r == 0) continue;
        const ss_status status = make(sim, f, t, 2 * r, &sim->chosen.polytope[f][t][r], error);
        if (status != SS_OK) return status;
      }
  return SS_OK;
}

bool ss_has_corners(const ss_sim *sim) {
  const ss_model *model = sim->model;
  for (int i = 0; i < model->n_overrides; i++)
    if (model->overrides[i].generators) return true;
  return model->moments_anywhere && model->planar == SS_SPATIAL && sim->options.cone == SS_CONE_POLYHEDRAL;
}

const ss_friction_table *ss_friction_corners(const ss_sim *sim, const ss_contact *c) {
  if (c->law->generators) return c->law->generators;
  return &sim->chosen.polytope[c->n_forces - 1][c->law->torsion > 0][c->law->rolling > 0];
}
