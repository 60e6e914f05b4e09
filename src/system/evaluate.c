/* Evaluation of a system's functions: outputs are zeroed before and looked at after every call. What a function refuses,
 * or answers with NaN or infinity, becomes the failure of the step; until the step notices, the numbers are harmless ones.
 *
 * A part of a step asks for the same few configurations many times (all gaps at the start, in the middle, at the end), so
 * that the last few are kept. */
#include "system/system.h"

#include <string.h>

ss_system_work *ss_system_work_create(ss_arena *arena, const ss_system_model *system, double time_step) {
  const ss_system *def = &system->def;
  const size_t n = (size_t)def->n, rows = (size_t)(def->n_joints + def->n_pfaffian), gaps = (size_t)def->n_gaps;
  const size_t directions = (size_t)system->n_directions, most = n + rows + gaps;
  ss_system_work *w = SS_ARENA_ARRAY(arena, ss_system_work, 1);
  if (!w) return NULL;
  w->system = system;
  w->time_step = time_step;
  const struct {
    double **array;
    size_t size;
  } arrays[] = {{&w->mass, n * n},     {&w->constant_mass, n * n},
                {&w->a, n * n},        {&w->inverse, n * n},
                {&w->scratch, n * n},  {&w->kq, n * n},
                {&w->kv, n * n},       {&w->k, n},
                {&w->row, n},          {&w->path_q, n},
                {&w->moved, n},        {&w->column[0], most},
                {&w->column[1], most}, {&w->column[2], most},
                {&w->column[3], most}};
  bool memory = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    memory &= (*arrays[i].array = SS_ARENA_ARRAY(arena, double, arrays[i].size)) != NULL;
  for (int k = 0; k < SS_SPOTS && memory; k++) {
    ss_spot *s = &w->spots[k];
    const size_t size = n + n * n + gaps * (2 + n) + directions * (1 + n) + rows * (2 + n);
    double *next = SS_ARENA_ARRAY(arena, double, size);
    memory = next != NULL;
    const struct {
      double **array;
      size_t size;
    } parts[] = {{&s->q, n},
                 {&s->mass, n * n},
                 {&s->gap, gaps},
                 {&s->gap_rate, gaps},
                 {&s->normal, gaps * n},
                 {&s->slip, directions * n},
                 {&s->slip_rate, directions},
                 {&s->theta, rows},
                 {&s->nu, rows * n},
                 {&s->nu_rate, rows}};
    for (size_t i = 0; memory && i < sizeof parts / sizeof *parts; next += parts[i].size, i++) *parts[i].array = next;
    s->t = (double)NAN; /* nowhere yet */
  }
  return memory ? w : NULL;
}

bool ss_system_accept(ss_system_work *w, const char *name, int refused, double t, double *numbers, size_t count) {
  size_t bad = count;
  for (size_t i = 0; i < count && bad == count && !refused; i++)
    if (!isfinite(numbers[i])) bad = i;
  if (!refused && bad == count) return true;
  if (w->failure.status == SS_OK) {
    if (refused)
      (void)ss_fail(&w->failure, SS_ERROR_CALLBACK, "the function '%s' of the system refused (returned %d) at t = %.9g",
                    name, refused, t);
    else
      (void)ss_fail(&w->failure, SS_ERROR_CALLBACK,
                    "the function '%s' of the system returned %s as number %zu at t = %.9g", name,
                    isnan(numbers[bad]) ? "NaN" : "infinity", bad + 1, t);
  }
  memset(numbers, 0, sizeof *numbers * count);
  return false;
}

static void evaluate_mass(ss_system_work *w, ss_spot *s) {
  const ss_system *def = &w->system->def;
  const size_t n = (size_t)def->n;
  if (w->mass_known) {
    memcpy(s->mass, w->constant_mass, sizeof(double) * n * n);
    return;
  }
  memset(s->mass, 0, sizeof(double) * n * n);
  if (ss_system_accept(w, "mass", def->mass(def->user, s->t, s->q, s->mass), s->t, s->mass, n * n)) {
    w->mass_known = def->constant_mass;
    memcpy(w->constant_mass, s->mass, sizeof(double) * n * n);
    return;
  }
  for (size_t i = 0; i < n; i++) s->mass[i * n + i] = 1;
}

static void evaluate_values(ss_system_work *w, const char *name, ss_system_function function, int count, ss_spot *s,
                            double *out) {
  memset(out, 0, sizeof(double) * (size_t)count);
  const int refused = function(w->system->def.user, s->t, s->q, out);
  (void)ss_system_accept(w, name, refused, s->t, out, (size_t)count);
}

/* A matrix and a vector: gradients and rates, A and b, D and u. */
static void evaluate_rows(ss_system_work *w, const char *name,
                          int (*function)(void *user, double t, const double *q, double *rows, double *rate), int count,
                          ss_spot *s, double *rows, double *rate) {
  const size_t numbers = (size_t)count * (size_t)w->system->def.n;
  memset(rows, 0, sizeof(double) * numbers);
  memset(rate, 0, sizeof(double) * (size_t)count);
  const int refused = function(w->system->def.user, s->t, s->q, rows, rate);
  (void)(ss_system_accept(w, name, refused, s->t, rows, numbers) &&
         ss_system_accept(w, name, 0, s->t, rate, (size_t)count));
}

static void evaluate_joint_rows(ss_system_work *w, ss_spot *s) {
  const ss_system *def = &w->system->def;
  if (def->joint_gradients)
    evaluate_rows(w, "joint_gradients", def->joint_gradients, def->n_joints, s, s->nu, s->nu_rate);
  else if (def->n_joints)
    ss_differentiate(w, "joints", def->joints, def->n_joints, s->t, s->q, s->nu, s->nu_rate);
  if (!def->n_pfaffian) return;
  double *b = s->nu_rate + def->n_joints;
  evaluate_rows(w, "pfaffian", def->pfaffian, def->n_pfaffian, s, s->nu + (size_t)def->n_joints * (size_t)def->n, b);
  for (int i = 0; i < def->n_pfaffian; i++) b[i] = -b[i]; /* A v - b = 0 */
}

static void evaluate(ss_system_work *w, ss_spot *s, unsigned what) {
  const ss_system *def = &w->system->def;
  if (what & SS_SPOT_MASS) evaluate_mass(w, s);
  if ((what & SS_SPOT_GAPS) && def->n_gaps) evaluate_values(w, "gap", def->gap, def->n_gaps, s, s->gap);
  if ((what & SS_SPOT_JOINTS) && def->n_joints) evaluate_values(w, "joints", def->joints, def->n_joints, s, s->theta);
  if ((what & SS_SPOT_FRICTION) && w->system->n_directions)
    evaluate_rows(w, "friction", def->friction, w->system->n_directions, s, s->slip, s->slip_rate);
  if ((what & SS_SPOT_NORMALS) && def->n_gaps) {
    if (def->gap_gradients)
      evaluate_rows(w, "gap_gradients", def->gap_gradients, def->n_gaps, s, s->normal, s->gap_rate);
    else
      ss_differentiate(w, "gap", def->gap, def->n_gaps, s->t, s->q, s->normal, s->gap_rate);
  }
  if (what & SS_SPOT_JOINT_ROWS) evaluate_joint_rows(w, s);
  s->known |= what;
}

const ss_spot *ss_spot_at(ss_system_work *w, double t, const double *q, unsigned what) {
  const size_t size = sizeof(double) * (size_t)w->system->def.n;
  ss_spot *spot = NULL;
  for (int i = 0; i < SS_SPOTS && !spot; i++)
    if (w->spots[i].t == t && memcmp(w->spots[i].q, q, size) == 0) spot = &w->spots[i];
  if (!spot) {
    spot = &w->spots[w->oldest];
    w->oldest = (w->oldest + 1) % SS_SPOTS;
    spot->t = t;
    memcpy(spot->q, q, size);
    spot->known = 0;
  }
  if (what & ~spot->known) evaluate(w, spot, what & ~spot->known);
  return spot;
}

void ss_system_force(ss_system_work *w, double t, const double *q, const double *v, double *k) {
  const ss_system *def = &w->system->def;
  memset(k, 0, sizeof(double) * (size_t)def->n);
  if (def->force) (void)ss_system_accept(w, "force", def->force(def->user, t, q, v, k), t, k, (size_t)def->n);
}

void ss_system_force_jacobian(ss_system_work *w, double t, const double *q, const double *v, double *kq, double *kv) {
  const ss_system *def = &w->system->def;
  const size_t square = (size_t)def->n * (size_t)def->n;
  memset(kq, 0, sizeof(double) * square);
  memset(kv, 0, sizeof(double) * square);
  if (!def->force_jacobian) {
    if (def->force) ss_differentiate_force(w, t, q, v, kq, kv);
    return;
  }
  const int refused = def->force_jacobian(def->user, t, q, v, kq, kv);
  (void)(ss_system_accept(w, "force_jacobian", refused, t, kq, square) &&
         ss_system_accept(w, "force_jacobian", 0, t, kv, square));
}

double ss_system_potential(ss_system_work *w, double t, const double *q) {
  const ss_system *def = &w->system->def;
  double energy = 0;
  if (def->potential) (void)ss_system_accept(w, "potential", def->potential(def->user, t, q, &energy), t, &energy, 1);
  return energy;
}

void ss_system_power(ss_system_work *w, double t, const double *q, const double *v, double *applied, double *damped) {
  const ss_system *def = &w->system->def;
  double power[2] = {0, 0};
  if (def->power) (void)ss_system_accept(w, "power", def->power(def->user, t, q, v, &power[0], &power[1]), t, power, 2);
  *applied = power[0];
  *damped = power[1];
}
