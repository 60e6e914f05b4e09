/* Friction problems written out as plain LCPs (Stewart & Trinkle 1996), from bodies and contacts of the test's own. */
#ifndef PLAIN_LCP_H
#define PLAIN_LCP_H

#include "cp_suite.h"

enum { DOFS = 6 };

/* Boxes in a pile: contact c is between body c / per_body and the one below, w = J v. */
typedef struct pile {
  int bodies, contacts, directions;
  double *J[3]; /* [contacts][6 bodies] normal and tangents */
  double *W, *v, *mu;
} pile;

static inline pile random_pile(random_source *r, int bodies, int per_body, int directions) {
  pile p = {.bodies = bodies, .contacts = bodies * per_body, .directions = directions};
  const int dofs = DOFS * bodies;
  for (int t = 0; t < 3; t++) p.J[t] = numbers(p.contacts * dofs);
  p.W = numbers(dofs);
  p.v = numbers(dofs);
  p.mu = numbers(p.contacts);
  for (int k = 0; k < dofs; k++) {
    p.W[k] = k % DOFS < 3 ? 1 : 6;
    p.v[k] = k % DOFS == 2 ? -0.1 : random_between(r, -0.02, 0.02);
  }
  for (int c = 0; c < p.contacts; c++) {
    const double x = random_between(r, -0.5, 0.5), y = random_between(r, -0.5, 0.5);
    p.mu[c] = random_between(r, 0.2, 0.9);
    for (int side = 0; side < 2; side++) {
      const int body = c / per_body - side;
      const double z = side ? 0.5 : -0.5, sign = 1 - 2 * side;
      const double rows[3][DOFS] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
      for (int t = 0; t < 3 && body >= 0; t++)
        for (int k = 0; k < DOFS; k++) p.J[t][c * dofs + body * DOFS + k] = sign * rows[t][k];
    }
  }
  return p;
}

static inline void pile_free(pile *p) {
  for (int t = 0; t < 3; t++) free(p->J[t]);
  free(p->W);
  free(p->v);
  free(p->mu);
}

/* Contact by contact; all normals, then all directions, then all lambdas; the rows of that in random order, scaled. */
typedef enum plain_order { BY_CONTACT, GROUPED, SHUFFLED, N_ORDERS } plain_order;

typedef struct plain_rows {
  int n, first; /* rows of the contacts, and of the velocities before them */
  int *normal, *direction, *lambda;
  double *scale; /* [first + n] of the rows */
} plain_rows;

static inline int *integers(int count) {
  int *x = calloc((size_t)count + 1, sizeof *x);
  if (!x) abort();
  return x;
}

static inline plain_rows place_rows(random_source *r, const pile *p, plain_order order, bool mixed) {
  const int k = p->directions, c = p->contacts, n = c * (k + 2), first = mixed ? DOFS * p->bodies : 0;
  plain_rows rows = {n, first, integers(c), integers(c * k), integers(c), numbers(first + n)};
  int *place = integers(n);
  for (int i = 0; i < n; i++) place[i] = first + i;
  for (int i = n - 1; i > 0 && order == SHUFFLED; i--) {
    const int j = random_below(r, i + 1), x = place[i];
    place[i] = place[j];
    place[j] = x;
  }
  for (int i = 0; i < first + n; i++) rows.scale[i] = order == SHUFFLED && i >= first ? random_between(r, 0.5, 2) : 1;
  for (int i = 0; i < c; i++) {
    const bool near = order == BY_CONTACT;
    rows.normal[i] = place[near ? i * (k + 2) : i];
    rows.lambda[i] = place[near ? i * (k + 2) + k + 1 : c * (k + 1) + i];
    for (int j = 0; j < k; j++) rows.direction[i * k + j] = place[near ? i * (k + 2) + 1 + j : c + i * k + j];
  }
  free(place);
  return rows;
}

static inline void rows_free(plain_rows *rows) {
  free(rows->normal);
  free(rows->direction);
  free(rows->lambda);
  free(rows->scale);
}

/* J of every row of the LCP: that of a lambda is zero. Two directions are those of the plane. */
static inline double *plain_jacobian(const pile *p, const plain_rows *rows) {
  const int dofs = DOFS * p->bodies, k = p->directions;
  const double turn = 8 * atan(1.0) / k;
  double *J = numbers((rows->first + rows->n) * dofs);
  for (int c = 0; c < p->contacts; c++)
    for (int l = 0; l < dofs; l++) {
      J[rows->normal[c] * dofs + l] = p->J[0][c * dofs + l];
      for (int j = 0; j < k; j++)
        J[rows->direction[c * k + j] * dofs + l] =
            cos(turn * j) * p->J[1][c * dofs + l] + (k > 2 ? sin(turn * j) : 0) * p->J[2][c * dofs + l];
    }
  return J;
}

/* With velocities as free rows: A v = A v0 + J^T z, w = J v. */
static inline owned_cp plain_lcp(const pile *p, const plain_rows *rows) {
  const int dofs = DOFS * p->bodies, n = rows->first + rows->n, k = p->directions;
  owned_cp lcp = owned_create(n, 2);
  double *J = plain_jacobian(p, rows);
  if (rows->first) add_block(&lcp, (ss_block){.kind = SS_BLOCK_FREE, .size = rows->first});
  add_block(&lcp, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = rows->n});
  if (!rows->first) set_mechanics(&lcp, J, p->W, p->v, dofs);
  for (int l = 0; l < rows->first; l++) {
    lcp.G[l * n + l] = 1 / p->W[l];
    lcp.g[l] = -p->v[l] / p->W[l];
    for (int i = rows->first; i < n; i++) {
      lcp.G[l * n + i] = -J[i * dofs + l];
      lcp.G[i * n + l] = J[i * dofs + l];
    }
  }
  for (int c = 0; c < p->contacts; c++) {
    lcp.G[rows->lambda[c] * n + rows->normal[c]] = p->mu[c];
    for (int j = 0; j < k; j++) {
      lcp.G[rows->lambda[c] * n + rows->direction[c * k + j]] = -1;
      lcp.G[rows->direction[c * k + j] * n + rows->lambda[c]] = 1;
    }
  }
  for (int i = 0; i < n; i++) {
    lcp.g[i] *= rows->scale[i];
    for (int j = 0; j < n; j++) lcp.G[i * n + j] *= rows->scale[i];
  }
  free(J);
  return lcp;
}

/* A pile written as a plain LCP, and where its rows went. */
typedef struct written {
  plain_rows rows;
  owned_cp lcp;
} written;

static inline written write_plain(random_source *r, const pile *p, plain_order order, bool mixed) {
  written w = {.rows = place_rows(r, p, order, mixed)};
  w.lcp = plain_lcp(p, &w.rows);
  return w;
}

static inline void written_free(written *w) {
  owned_free(&w->lcp);
  rows_free(&w->rows);
}

#endif
