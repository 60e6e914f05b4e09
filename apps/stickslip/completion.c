/* stickslip completion: what a shell needs to complete command lines, from the tables that the parser reads. */
#include "commands.h"
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* What may stand where a value is expected. */
typedef enum value_kind { VALUE_FREE, VALUE_FILE, VALUE_SCHEME, VALUE_SOLVER, VALUE_WORDS } value_kind;

static bool ends_with(const char *text, const char *end) {
  const size_t a = strlen(text), b = strlen(end);
  return a >= b && strcmp(text + a - b, end) == 0;
}

static value_kind kind_of_option(const option *o) {
  if (ends_with(o->name, "scheme") || ends_with(o->name, "schemes")) return VALUE_SCHEME;
  if (strcmp(o->name, "solver") == 0) return VALUE_SOLVER;
  if (o->argument[0] >= 'a' && o->argument[0] <= 'z' && strchr(o->argument, '|')) return VALUE_WORDS;
  static const char *const files[] = {"FILE", "OUT", "SCENE"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (strcmp(o->argument, files[i]) == 0) return VALUE_FILE;
  return strchr(o->argument, '.') ? VALUE_FILE : VALUE_FREE;
}

/* "[a|b]" and "a|b" are words to choose from; SCENE, RESULT... are files. */
static value_kind kind_of_positional(const usage *u) {
  const char *text = u->positional + (u->positional[0] == '[');
  if (u->max_positionals == 0) return VALUE_FREE;
  return text[0] >= 'a' && text[0] <= 'z' ? VALUE_WORDS : VALUE_FILE;
}

static void put_words(const char *positional) {
  for (const char *c = positional; *c; c++)
    if (*c != '[' && *c != ']') (void)putchar(*c == '|' ? ' ' : *c);
}

static void put_names(const ss_table_row *rows) {
  for (const ss_table_row *row = rows; row->name; row++) (void)printf("%s%s", row == rows ? "" : " ", row->name);
}

static const ss_table_row *rows_of(value_kind kind) {
  return kind == VALUE_SCHEME ? ss_table_schemes() : ss_cp_solvers();
}

/* ---- bash ---- */

static void bash_values(value_kind kind, const char *positional) {
  if (kind == VALUE_FILE) (void)printf("COMPREPLY=($(compgen -f -- \"$word\")); compopt -o filenames 2>/dev/null");
  if (kind == VALUE_FREE) (void)printf("COMPREPLY=()");
  if (kind != VALUE_SCHEME && kind != VALUE_SOLVER && kind != VALUE_WORDS) return;
  (void)printf("COMPREPLY=($(compgen -W \"");
  if (kind == VALUE_WORDS)
    put_words(positional);
  else
    put_names(rows_of(kind));
  (void)printf("\" -- \"$word\"))");
}

static void bash_command(const usage *u, void *user) {
  (void)user;
  (void)printf("    %s)\n      case $before in\n", u->command);
  for (const option *o = u->options; o->name; o++) {
    if (!option_takes_value(o)) continue;
    (void)printf("        %s%s) ", option_dashes(o), o->name);
    bash_values(kind_of_option(o), o->argument);
    (void)printf("; return ;;\n");
  }
  (void)printf("      esac\n      if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W \"");
  for (const option *o = u->options; o->name; o++)
    if (o->kind != OPTION_REFUSED) (void)printf("%s%s ", option_dashes(o), o->name);
  (void)printf("--help\" -- \"$word\"))\n      else\n        ");
  bash_values(kind_of_positional(u), u->positional);
  (void)printf("\n      fi ;;\n");
}

static void print_bash(void) {
  (void)printf("# Completion of stickslip for bash: source <(stickslip completion bash)\n"
               "_stickslip() {\n"
               "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
               "  if ((COMP_CWORD == 1)); then\n"
               "    COMPREPLY=($(compgen -W \"");
  for (const command *c = command_table(); c->name; c++) (void)printf("%s ", c->name);
  (void)printf("--help --version\" -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
  for (const command *c = command_table(); c->name; c++) visit_usage(c, bash_command, NULL);
  (void)printf("  esac\n}\ncomplete -F _stickslip stickslip\n");
}

/* ---- zsh ---- */

/* Text inside '...' of an _arguments specification, where brackets and colons have a meaning. */
static void zsh_text(const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      (void)fputs("'\\''", stdout);
    else if (strchr("[]:\\", *text))
      (void)printf("\\%c", *text);
    else
      (void)putchar(*text);
  }
}

static void zsh_values(value_kind kind, const char *positional) {
  if (kind == VALUE_FILE) (void)printf("_files");
  if (kind == VALUE_SCHEME || kind == VALUE_SOLVER || kind == VALUE_WORDS) {
    (void)printf("(");
    if (kind == VALUE_WORDS)
      put_words(positional);
    else
      put_names(rows_of(kind));
    (void)printf(")");
  }
}

static void zsh_command(const usage *u, void *user) {
  (void)user;
  (void)printf("    %s)\n      _arguments \\\n", u->command);
  for (const option *o = u->options; o->name; o++) {
    if (o->kind == OPTION_REFUSED) continue;
    (void)printf("        '%s%s%s[", o->kind == OPTION_LIST ? "*" : "", option_dashes(o), o->name);
    zsh_text(o->summary);
    (void)printf("]");
    if (option_takes_value(o)) {
      (void)printf(":");
      zsh_text(o->argument);
      (void)printf(":");
      zsh_values(kind_of_option(o), o->argument);
    }
    (void)printf("' \\\n");
  }
  (void)printf("        '--help[this text]'");
  if (u->max_positionals > 0) {
    (void)printf(" \\\n        '%s:", u->max_positionals > 1 ? "*" : "");
    zsh_text(u->positional);
    (void)printf(":");
    zsh_values(kind_of_positional(u), u->positional);
    (void)printf("'");
  }
  (void)printf(" ;;\n");
}

static void print_zsh(void) {
  (void)printf("#compdef stickslip\n"
               "# Completion of stickslip for zsh: save as _stickslip in a directory of $fpath,\n"
               "# or: source <(stickslip completion zsh)\n"
               "_stickslip() {\n  local -a commands\n  if ((CURRENT == 2)); then\n    commands=(\n");
  for (const command *c = command_table(); c->name; c++) {
    (void)printf("      '%s:", c->name);
    zsh_text(c->summary);
    (void)printf("'\n");
  }
  (void)printf("    )\n    _describe command commands\n    return\n  fi\n"
               "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n");
  for (const command *c = command_table(); c->name; c++) visit_usage(c, zsh_command, NULL);
  (void)printf("  esac\n}\n"
               "if [[ $funcstack[1] == _stickslip ]]; then _stickslip \"$@\"; else compdef _stickslip stickslip; fi\n");
}

int command_completion(int argc, char **argv) {
  const option options[] = {{0}};
  const usage command_line = {
      "completion",
      "bash|zsh",
      1,
      1,
      "Prints a script that completes commands, options, names of schemes and solvers, and files. It is made from the\n"
      "tables that the parser reads; `cmake --install` puts it where the shells look for it.",
      options,
      "  source <(stickslip completion bash)\n"
      "  stickslip completion zsh > ~/.zsh/completions/_stickslip\n"};
  const char *shell = NULL;
  const int parsed = parse_options(&command_line, argc, argv, &shell);
  if (parsed != PARSE_GO_ON) return parsed;
  if (strcmp(shell, "bash") == 0)
    print_bash();
  else if (strcmp(shell, "zsh") == 0)
    print_zsh();
  else
    return usage_error("completion: unknown shell '%s'; there are bash and zsh", shell);
  return EXIT_DONE;
}
