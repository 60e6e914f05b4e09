/* Given Jacobians against difference quotients: a wrong sign or a swapped pair of rows is found before it costs a day. An
 * entry may differ by 1e-5 of the largest entry of its row, both measured per scale of the coordinates. */
#include "system/system.h"

static const double allowed = 1e-5;

typedef struct comparison {
  const char *function, *derivative; /* what was called; what it should be */
  const double *given, *quotient;    /* [n_rows][n_columns] */
  int n_rows, n_columns;
  const double *scale; /* [n_columns]; NULL: 1 */
  double floor;        /* below, entries are rounding */
} comparison;

static double scale_of(const comparison *c, int column) { return c->scale ? c->scale[column] : 1; }

static ss_status compare(const comparison *c, ss_error *error) {
  for (int i = 0; i < c->n_rows; i++) {
    double largest = c->floor;
    for (int j = 0; j < c->n_columns; j++) {
      const int at = i * c->n_columns + j;
      largest = fmax(largest, scale_of(c, j) * fmax(fabs(c->given[at]), fabs(c->quotient[at])));
    }
    for (int j = 0; j < c->n_columns; j++) {
      const int at = i * c->n_columns + j;
      if (scale_of(c, j) * fabs(c->given[at] - c->quotient[at]) <= allowed * largest) continue;
      return ss_fail(error, SS_ERROR_INPUT,
                     "%s: row %d, column %d is %.9g, but the difference quotient of '%s' is %.9g", c->function, i + 1,
                     j + 1, c->given[at], c->derivative, c->quotient[at]);
    }
  }
  return SS_OK;
}

static ss_status failed(const ss_system_work *w, ss_error *error) {
  if (w->failure.status && error) *error = w->failure;
  return w->failure.status;
}

typedef int (*gradient_function)(void *user, double t, const double *q, double *rows, double *rate);

static ss_status check_rows(ss_system_work *w, const char *function, const char *rate_name, gradient_function gradients,
                            const char *values, ss_system_function of, int count, double t, const double *q,
                            ss_error *error) {
  const ss_system *def = &w->system->def;
  if (!gradients || count == 0 || def->unchecked_gradients) return SS_OK;
  const size_t numbers = (size_t)count * ((size_t)def->n + 1);
  ss_arena *arena = ss_arena_create();
  double *memory = arena ? SS_ARENA_ARRAY(arena, double, 2 * numbers) : NULL;
  if (!memory) {
    ss_arena_destroy(arena);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  double *given = memory, *given_rate = given + (size_t)count * (size_t)def->n;
  double *quotient = memory + numbers, *quotient_rate = quotient + (size_t)count * (size_t)def->n;
  const int refused = gradients(def->user, t, q, given, given_rate);
  if (ss_system_accept(w, function, refused, t, given, numbers))
    ss_differentiate(w, values, of, count, t, q, quotient, quotient_rate);
  ss_status status = failed(w, error);
  const double length = def->length > 0 ? def->length : 1;
  const comparison rows = {function, values, given, quotient, count, def->n, def->scale, 1e-6 * length};
  const comparison rate = {rate_name, values, given_rate, quotient_rate, count, 1, NULL, 1e-6 * length / w->time_step};
  if (status == SS_OK) status = compare(&rows, error);
  if (status == SS_OK) status = compare(&rate, error);
  ss_arena_destroy(arena);
  return status;
}

static ss_status check_force(ss_system_work *w, double t, const double *q, const double *v, ss_error *error) {
  const ss_system *def = &w->system->def;
  const size_t square = (size_t)def->n * (size_t)def->n;
  if (!def->force_jacobian || !def->force || def->approximate_jacobian) return SS_OK;
  ss_arena *arena = ss_arena_create();
  double *quotient = arena ? SS_ARENA_ARRAY(arena, double, 2 * square) : NULL;
  if (!quotient) {
    ss_arena_destroy(arena);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  ss_system_force_jacobian(w, t, q, v, w->kq, w->kv);
  ss_differentiate_force(w, t, q, v, quotient, quotient + square);
  ss_system_force(w, t, q, v, w->k);
  double largest = 0; /* rounding of the force itself */
  for (int i = 0; i < def->n; i++) largest = fmax(largest, fabs(w->k[i]));
  ss_status status = failed(w, error);
  const comparison kq = {"force_jacobian, Kq", "force", w->kq, quotient, def->n, def->n, def->scale, 1e-4 * largest};
  const comparison kv = {"force_jacobian, Kv", "force", w->kv, quotient + square, def->n, def->n, NULL, 1e-4 * largest};
  if (status == SS_OK) status = compare(&kq, error);
  if (status == SS_OK) status = compare(&kv, error);
  ss_arena_destroy(arena);
  return status;
}

ss_status ss_system_check_jacobians(ss_system_work *w, double t, const double *q, const double *v, ss_error *error) {
  const ss_system *def = &w->system->def;
  w->failure = (ss_error){0};
  ss_status status = check_rows(w, "joint_gradients", "joint_gradients, rate", def->joint_gradients, "joints",
                                def->joints, def->n_joints, t, q, error);
  if (status == SS_OK)
    status = check_rows(w, "gap_gradients", "gap_gradients, rate", def->gap_gradients, "gap", def->gap, def->n_gaps, t,
                        q, error);
  return status == SS_OK ? check_force(w, t, q, v, error) : status;
}
