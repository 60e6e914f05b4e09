#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *dashes(const option *o) { return o->name[1] ? "--" : "-"; }
static bool takes_value(const option *o) { return o->argument != NULL; }

static void print_help(const usage *u) {
  (void)printf("usage: stickslip %s %s%s\n\n%s\n\n", u->command, u->positional, u->options[0].name ? " [OPTIONS]" : "",
               u->description);
  for (const option *o = u->options; o->name; o++) {
    char left[64];
    (void)snprintf(left, sizeof left, "%s%s%s%s", dashes(o), o->name, o->argument ? " " : "",
                   o->argument ? o->argument : "");
    (void)printf("  %-26s %s%s\n", left, o->kind == OPTION_REFUSED ? "(not in this version) " : "", o->summary);
  }
  (void)printf("  %-26s %s\n", "--help", "this text");
  if (u->examples) (void)printf("\nexamples:\n%s", u->examples);
}

static int store_count(const option *o, const char *value) {
  char *end;
  errno = 0;
  const long count = strtol(value, &end, 10);
  if (end == value || *end || errno || count < 0)
    return usage_error("%s%s: expected a whole number, got '%s'", dashes(o), o->name, value);
  *(long *)o->target = count;
  return PARSE_GO_ON;
}

static int store_number(const option *o, const char *value) {
  ss_error error = {0};
  if (ss_expression_constant(value, NULL, 0, o->target, &error))
    return usage_error("%s%s '%s': %s", dashes(o), o->name, value, error.message);
  return PARSE_GO_ON;
}

static int store_item(const option *o, const char *value, int capacity) {
  text_list *list = o->target;
  if (!list->items) list->items = calloc((size_t)capacity, sizeof *list->items);
  if (!list->items) return usage_error("out of memory");
  list->items[list->n++] = value;
  return PARSE_GO_ON;
}

static int store(const option *o, const char *value, int argc) {
  switch (o->kind) {
  case OPTION_FLAG:
    *(bool *)o->target = true;
    return PARSE_GO_ON;
  case OPTION_TEXT:
    *(const char **)o->target = value;
    return PARSE_GO_ON;
  case OPTION_NUMBER:
    return store_number(o, value);
  case OPTION_COUNT:
    return store_count(o, value);
  case OPTION_LIST:
    return store_item(o, value, argc);
  case OPTION_REFUSED:
    break;
  }
  return usage_error("%s%s is not available in this version", dashes(o), o->name);
}

/* The row for --name, --name=value (then *value is set), -n or --n; NULL if there is none. */
static const option *find_option(const usage *u, const char *argument, const char **value) {
  const bool is_long = argument[1] == '-';
  const char *name = argument + (is_long ? 2 : 1);
  const char *equals = is_long ? strchr(name, '=') : NULL;
  const size_t length = equals ? (size_t)(equals - name) : strlen(name);
  *value = equals ? equals + 1 : NULL;
  for (const option *o = u->options; o->name; o++)
    if ((is_long || !o->name[1]) && strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
  return NULL;
}

static int unknown_option(const usage *u, const char *argument) {
  const char *near = nearest_name(argument + strspn(argument, "-"), u->options, sizeof(option));
  if (near) return usage_error("%s: unknown option %s; did you mean --%s?", u->command, argument, near);
  return usage_error("%s: unknown option %s; see stickslip %s --help", u->command, argument, u->command);
}

/* Handles the option at argv[*i] and moves *i past its value. */
static int parse_option(const usage *u, int argc, char **argv, int *i) {
  const char *value;
  const option *o = find_option(u, argv[*i], &value);
  if (!o) return unknown_option(u, argv[*i]);
  if (o->kind == OPTION_REFUSED) return store(o, NULL, argc);
  if (!takes_value(o) && value) return usage_error("--%s takes no value", o->name);
  if (takes_value(o) && !value) {
    if (*i + 1 >= argc) return usage_error("%s%s needs a value: %s", dashes(o), o->name, o->argument);
    value = argv[++*i];
  }
  return store(o, value, argc);
}

int parse_options(const usage *u, int argc, char **argv, const char **positionals) {
  int n = 0;
  bool options_end = false;
  for (int i = 1; i < argc; i++) {
    const char *argument = argv[i];
    if (!options_end && strcmp(argument, "--") == 0) {
      options_end = true;
    } else if (!options_end && (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)) {
      print_help(u);
      return EXIT_DONE;
    } else if (!options_end && argument[0] == '-' && argument[1]) {
      const int result = parse_option(u, argc, argv, &i);
      if (result != PARSE_GO_ON) return result;
    } else if (n == u->max_positionals) {
      return usage_error("%s: unexpected argument '%s'; see stickslip %s --help", u->command, argument, u->command);
    } else {
      positionals[n++] = argument;
    }
  }
  if (n < u->min_positionals)
    return usage_error("%s: %s is missing; see stickslip %s --help", u->command, u->positional, u->command);
  return PARSE_GO_ON;
}
