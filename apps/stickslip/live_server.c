/* The server behind `stickslip view --live`: one thread, on the loopback only.
 *
 *     GET  /                 the viewer with the present frame
 *     GET  /state?after=N    the state as soon as its sequence is beyond N (long polling; after two seconds in any case)
 *     POST /command          {"action": ...}, see live.h
 *
 * Simulation and server take turns in one loop, so that nothing needs a lock. Pages of other sites cannot reach it: the
 * Host must be the loopback's own (which stops names that resolve to it), an Origin must be this server's, and commands
 * must be JSON, which browsers do not send elsewhere without asking. */
#include "live.h"

#ifdef STICKSLIP_LIVE

#include "interrupt.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS = 16, MOST_BODY = 4096, REFRESH = 2 /* seconds */ };

typedef struct request {
  bool waited, too_long;
  size_t n;
  char body[MOST_BODY];
} request;

typedef struct server {
  live live;
  struct MHD_Daemon *daemon;
  unsigned port;
  struct MHD_Connection *waiting[CONNECTIONS];
  int n_waiting;
  long shown;       /* sequence when the waiting ones were answered last */
  double refreshed; /* wall clock */
  bool closing;     /* nobody is kept waiting any more: the server cannot end while connections are suspended */
} server;

/* ---- answers ---- */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned code, const char *type, char *text, size_t size) {
  if (!text) return MHD_NO;
  struct MHD_Response *r = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
  if (!r) {
    free(text);
    return MHD_NO;
  }
  (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  (void)MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
  const enum MHD_Result result = MHD_queue_response(c, code, r);
  MHD_destroy_response(r);
  return result;
}

static enum MHD_Result answer_json(struct MHD_Connection *c, unsigned code, bool done, const char *message) {
  json_t *object = json_pack("{s:b, s:o}", "ok", done, "message", json_text(message));
  char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  return answer(c, code, "application/json", text, text ? strlen(text) : 0);
}

/* ---- who may ask ---- */

static bool own_host(const server *s, const char *host) {
  char number[32], name[32];
  (void)snprintf(number, sizeof number, "127.0.0.1:%u", s->port);
  (void)snprintf(name, sizeof name, "localhost:%u", s->port);
  return host && (strcmp(host, number) == 0 || strcmp(host, name) == 0);
}

static bool allowed(const server *s, struct MHD_Connection *c) {
  const char *origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);
  if (!own_host(s, MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST))) return false;
  return !origin || (strncmp(origin, "http://", 7) == 0 && own_host(s, origin + 7));
}

/* ---- requests ---- */

static enum MHD_Result get_state(server *s, struct MHD_Connection *c, request *r) {
  const char *after = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "after");
  if (after && !s->closing && !r->waited && strtol(after, NULL, 10) >= s->live.sequence && s->n_waiting < CONNECTIONS) {
    r->waited = true;
    s->waiting[s->n_waiting++] = c;
    MHD_suspend_connection(c);
    return MHD_YES;
  }
  size_t size = 0;
  char *text = live_state(&s->live, &size);
  return answer(c, MHD_HTTP_OK, "application/json", text, size);
}

static void wake(server *s) {
  for (int i = 0; i < s->n_waiting; i++) MHD_resume_connection(s->waiting[i]);
  s->n_waiting = 0;
  s->shown = s->live.sequence;
  s->refreshed = wall_clock();
}

static enum MHD_Result post_command(server *s, struct MHD_Connection *c, request *r, const char *data, size_t *size) {
  if (*size > 0) {
    if (r->n + *size > sizeof r->body)
      r->too_long = true;
    else {
      memcpy(r->body + r->n, data, *size);
      r->n += *size;
    }
    *size = 0;
    return MHD_YES;
  }
  const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
  if (r->too_long || !type || strncmp(type, "application/json", 16) != 0)
    return answer_json(c, MHD_HTTP_BAD_REQUEST, false, "a command is JSON of at most 4096 bytes");
  json_error_t problem;
  json_t *order = json_loadb(r->body, r->n, 0, &problem);
  if (!order) return answer_json(c, MHD_HTTP_BAD_REQUEST, false, problem.text);
  const bool done = live_command(&s->live, order);
  json_decref(order);
  return answer_json(c, done ? MHD_HTTP_OK : MHD_HTTP_BAD_REQUEST, done, s->live.message);
}

static enum MHD_Result handle(void *user, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **slot) {
  (void)version;
  server *s = user;
  request *r = *slot;
  if (!r) { /* the headers only: the answer comes with the next call */
    *slot = calloc(1, sizeof *r);
    return *slot ? MHD_YES : MHD_NO;
  }
  const bool welcome = allowed(s, c);
  if (welcome && strcmp(method, "POST") == 0 && strcmp(url, "/command") == 0) return post_command(s, c, r, data, size);
  if (*size > 0) { /* what nobody asked for is read to its end, and dropped */
    *size = 0;
    return MHD_YES;
  }
  if (!welcome) return answer_json(c, MHD_HTTP_FORBIDDEN, false, "this page is for this machine only");
  if (strcmp(method, "GET") == 0 && strcmp(url, "/state") == 0) return get_state(s, c, r);
  if (strcmp(method, "GET") == 0 && strcmp(url, "/") == 0) {
    size_t length = 0;
    char *text = live_page(&s->live, &length);
    return answer(c, MHD_HTTP_OK, "text/html; charset=utf-8", text, length);
  }
  return answer_json(c, MHD_HTTP_NOT_FOUND, false, "there are /, /state and /command");
}

static void completed(void *user, struct MHD_Connection *c, void **slot, enum MHD_RequestTerminationCode code) {
  (void)user;
  (void)c;
  (void)code;
  free(*slot);
  *slot = NULL;
}

/* ---- the loop ---- */

static void serve(server *s) {
  double last = wall_clock();
  while (!s->live.stopped && !interrupt_signal()) {
    (void)MHD_run_wait(s->daemon, s->live.running ? 2 : 100);
    const double now = wall_clock();
    live_advance(&s->live, now - last);
    last = now;
    if (s->live.sequence != s->shown || now - s->refreshed > REFRESH) wake(s);
  }
  s->closing = true;
  wake(s);
  for (int i = 0; i < 10; i++) (void)MHD_run_wait(s->daemon, 10); /* the last answers leave */
}

static bool listen_on(server *s, long port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  s->daemon = MHD_start_daemon(MHD_USE_AUTO | MHD_ALLOW_SUSPEND_RESUME, (uint16_t)port, NULL, NULL, handle, s,
                               MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT,
                               (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, 30U, MHD_OPTION_NOTIFY_COMPLETED,
                               completed, NULL, MHD_OPTION_END);
  if (!s->daemon) return false;
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
  s->port = info ? info->port : (unsigned)port;
  return true;
}

int live_serve(const char *path, const overrides *o, long port) {
  if (port > 65535) return usage_error("--port must be at most 65535; 0 takes any free one");
  server s = {.shown = -1};
  ss_error error = {0};
  int code = EXIT_DONE;
  if (live_open(&s.live, path, o, &error)) {
    code = report_error(&error);
  } else if (!listen_on(&s, port)) {
    code = usage_error("cannot listen on 127.0.0.1:%ld; choose another --port, or none", port);
  } else {
    interrupt_catch();
    (void)printf("http://127.0.0.1:%u/\n", s.port);
    (void)fflush(stdout);
    (void)fputs("open it in a browser; Ctrl-C ends it\n", stderr);
    serve(&s);
    MHD_stop_daemon(s.daemon);
  }
  live_close(&s.live);
  return code;
}

#else

int live_serve(const char *path, const overrides *o, long port) {
  (void)path;
  (void)o;
  (void)port;
  return usage_error("this stickslip was built without libmicrohttpd, which view --live needs; install "
                     "libmicrohttpd-dev and build again");
}

#endif
