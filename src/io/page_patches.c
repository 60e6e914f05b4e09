#include "io/page_patches.h"

#include "core/arena.h"
#include "core/words.h"

ss_status ss_patch_source_open(ss_patch_source *s, const ss_result *r, ss_error *error) {
  hsize_t n[4] = {0};
  s->frame = ss_result_numbers(r, "patches/frame", &s->n);
  s->a = ss_result_numbers(r, "patches/a", &n[0]);
  s->b = ss_result_numbers(r, "patches/b", &n[1]);
  s->count = ss_result_numbers(r, "patches/elements", &n[2]);
  s->state = ss_result_numbers(r, "elements/state", &s->n_elements);
  s->point = ss_result_vectors(r, "patches/point", s->n, 3);
  s->normal = ss_result_vectors(r, "patches/normal", s->n, 3);
  s->tangent = ss_result_vectors(r, "patches/tangent", s->n, 3);
  s->place = ss_result_vectors(r, "elements/place", s->n_elements, 2);
  s->force = ss_result_vectors(r, "elements/force", s->n_elements, 3);
  const bool read =
      s->frame && s->a && s->b && s->count && s->state && s->point && s->normal && s->tangent && s->place && s->force;
  if (!read || n[0] != s->n || n[1] != s->n || n[2] != s->n) return ss_result_damaged(r, error);
  double total = 0;
  for (hsize_t i = 0; i < s->n; i++) total += s->count[i];
  for (hsize_t i = 0; i < s->n; i++)
    if (!(s->count[i] >= 1) || !(s->a[i] >= -1 && s->a[i] < (double)r->n_bodies) ||
        !(s->b[i] >= -1 && s->b[i] < (double)r->n_bodies))
      return ss_result_damaged(r, error);
  return total == (double)s->n_elements ? SS_OK : ss_result_damaged(r, error);
}

static ss_status add_patch(const ss_patch_source *s, ss_page *page, ss_error *error) {
  const hsize_t n = (hsize_t)s->count[s->at];
  ss_page_patch patch = {.body = {(int)s->a[s->at], (int)s->b[s->at]}};
  for (hsize_t k = 0; k < 3; k++) {
    patch.point[k] = (float)s->point[3 * s->at + k];
    patch.normal[k] = (float)s->normal[3 * s->at + k];
    patch.tangent[k] = (float)s->tangent[3 * s->at + k];
  }
  ss_page_element *elements = ss_alloc(sizeof *elements * n);
  if (!elements) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (hsize_t i = 0; i < n; i++) {
    const hsize_t e = s->element + i;
    for (hsize_t k = 0; k < 2; k++) elements[i].place[k] = (float)s->place[2 * e + k];
    for (hsize_t k = 0; k < 3; k++) elements[i].force[k] = (float)s->force[3 * e + k];
    elements[i].state = s->state[e] == 1 ? 1 : s->state[e] == 2 ? 2 : 0;
  }
  const ss_status status = ss_page_add_patch(page, &patch, elements, (long)n, error);
  ss_free(elements);
  return status;
}

ss_status ss_patch_source_frame(ss_patch_source *s, const ss_result *r, ss_page *page, hsize_t row, ss_error *error) {
  for (; s->at < s->n && s->frame[s->at] <= (double)row; s->at++) {
    if (s->element + (hsize_t)s->count[s->at] > s->n_elements) return ss_result_damaged(r, error);
    if (s->frame[s->at] == (double)row) SS_TRY(add_patch(s, page, error));
    s->element += (hsize_t)s->count[s->at];
  }
  return SS_OK;
}

void ss_patch_source_release(ss_patch_source *s) {
  double *const columns[] = {s->frame,  s->a,       s->b,     s->count, s->point,
                             s->normal, s->tangent, s->place, s->force, s->state};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) ss_free(columns[i]);
}
