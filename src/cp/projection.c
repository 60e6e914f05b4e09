/* The linear pieces of the projection on an interval, a square, a polygon, a disc or a ball. */
#include "cp/projection.h"

#include <math.h>

static void project_axes(int slip, const double *x, double R, int n, projection *p) {
  for (int i = 0; i < n; i++, slip /= 3) {
    p->by_R[i] = slip % 3 - 1;
    p->by_x[i][i] = slip % 3 == 1;
    p->P[i] = slip % 3 == 1 ? x[i] : p->by_R[i] * R;
  }
}

static void project_disc(const double *x, double R, int n, projection *p) {
  double norm = 0;
  for (int i = 0; i < n; i++) norm += x[i] * x[i];
  norm = sqrt(norm);
  for (int i = 0; i < n; i++) p->by_R[i] = x[i] / norm;
  for (int i = 0; i < n; i++) {
    p->P[i] = R * p->by_R[i];
    for (int j = 0; j < n; j++) p->by_x[i][j] = R / norm * ((i == j) - p->by_R[i] * p->by_R[j]);
  }
}

static void project_polygon(const site *s, int slip, const double *x, double R, projection *p) {
  const double *c = s->corners + (slip - 1) / 2 * 2, *d = c + 2;
  const bool edge = slip % 2 == 0;
  const double e[2] = {d[0] - c[0], d[1] - c[1]}, length = sqrt(e[0] * e[0] + e[1] * e[1]);
  const double t[2] = {e[0] / length, e[1] / length};
  for (int i = 0; i < 2; i++) {
    p->by_R[i] = edge ? (c[i] + d[i]) / 2 : c[i];
    p->P[i] = R * p->by_R[i];
    for (int j = 0; edge && j < 2; j++) {
      p->by_x[i][j] = t[i] * t[j];
      p->P[i] += p->by_x[i][j] * x[j];
    }
  }
}

projection project_on_set(const site *s, int slip, const double *x, double R) {
  const ss_block *block = s->block;
  const int n = block->size - 1;
  projection p = {0};
  if (block->mu == 0) return p;
  if (n == 1 || block->cone == SS_CONE_PYRAMID) {
    project_axes(slip, x, R, n, &p);
  } else if (slip == SLIP_STICKS) {
    for (int i = 0; i < n; i++) {
      p.P[i] = x[i];
      p.by_x[i][i] = 1;
    }
  } else if (block->cone == SS_CONE_QUADRATIC) {
    project_disc(x, R, n, &p);
  } else {
    project_polygon(s, slip, x, R, &p);
  }
  return p;
}
