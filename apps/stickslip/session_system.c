/* A user-defined system in a shared library instead of a scene: `stickslip run woodpecker.so`. The library has one function,
 * stickslip_system (stickslip/system.h), which fills in the definition; parameters are those of --set. */
#include "session.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

bool session_is_library(const char *path) {
  const size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".so") == 0;
}

/* "name=value": cuts the text in two, in place, and evaluates the value. */
static ss_status read_setting(char *text, ss_parameter *out, ss_error *error) {
  char *sign = strchr(text, '=');
  if (!sign || sign == text) return ss_fail(error, SS_ERROR_INPUT, "--set needs name=value, not '%s'", text);
  *sign = '\0';
  out->name = text;
  return ss_expression_constant(sign + 1, NULL, 0, &out->value, error);
}

/* The settings as parameters; *texts is their memory. */
static ss_status read_settings(const text_list *set, ss_parameter **out, char **texts, ss_error *error) {
  size_t size = 1;
  for (int i = 0; i < set->n; i++) size += strlen(set->items[i]) + 1;
  *out = calloc((size_t)set->n + 1, sizeof **out);
  *texts = malloc(size);
  if (!*out || !*texts) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  char *next = *texts;
  for (int i = 0; i < set->n; i++) {
    const size_t length = strlen(set->items[i]) + 1;
    memcpy(next, set->items[i], length);
    const ss_status status = read_setting(next, &(*out)[i], error);
    if (status) return status;
    next += length;
  }
  return SS_OK;
}

/* Without a slash the path would be looked for among the machine's own libraries. */
static void *open_library(const char *path) {
  if (strchr(path, '/')) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const size_t size = strlen(path) + 3;
  char *here = malloc(size);
  if (!here) return NULL;
  (void)snprintf(here, size, "./%s", path);
  void *library = dlopen(here, RTLD_NOW | RTLD_LOCAL);
  free(here);
  return library;
}

static ss_status define(void *library, const char *path, const ss_parameter *parameters, int n, ss_system *system,
                        ss_error *error) {
  ss_system_entry *entry = NULL;
  void *symbol = dlsym(library, "stickslip_system");
  if (!symbol) return ss_fail(error, SS_ERROR_INPUT, "'%s' has no function stickslip_system", path);
  memcpy(&entry, &symbol, sizeof entry); /* the way from an object's address to a function's */
  *system = ss_system_default();
  const ss_status status = entry(system, parameters, n, error);
  if (status && error->message[0] == '\0')
    return ss_fail(error, status, "'%s': stickslip_system returned %d", path, status);
  return status;
}

ss_status session_load_system(session *s, const char *path, const text_list *set, ss_error *error) {
  ss_parameter *parameters = NULL;
  char *texts = NULL;
  ss_status status = read_settings(set, &parameters, &texts, error);
  if (!status) {
    s->library = open_library(path);
    if (!s->library) status = ss_fail(error, SS_ERROR_IO, "cannot load '%s': %s", path, dlerror());
  }
  ss_system system;
  if (!status) status = define(s->library, path, parameters, set->n, &system, error);
  if (!status) {
    status = ss_model_create_system(&system, &s->model, error);
    if (status && system.release) system.release(system.user);
    if (!status) s->simulation = *ss_model_simulation(s->model);
  }
  free(parameters);
  free(texts);
  return status;
}

void session_unload_system(session *s) {
  if (s->library) (void)dlclose(s->library);
}
