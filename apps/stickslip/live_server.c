/* The server behind `stickslip view --live`: one thread, on the loopback only.
 *
 *     GET  /                 the viewer with the present frame
 *     GET  /state?after=N    the state as soon as its sequence is beyond N (long polling; after two seconds in any case)
 *     POST /command          {"action": ...}, see live.h
 *
 * Simulation and server take turns in one loop, so that nothing needs a lock. Pages of other sites cannot reach it: the
 * Host must be the loopback's own (which stops names that resolve to it), an Origin must be this server's, and commands
 * must be JSON, which browsers do not send elsewhere without asking.
 *
 * A client that sends half a request holds a connection, and there are only so many. Every client of the loopback has the
 * same address, so the limits are those of a connection: a request must be complete within a few seconds, and where most
 * connections are taken the ones that have not said what they want make room at once. */
#include "live.h"

#ifdef STICKSLIP_LIVE

#include "interrupt.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { CONNECTIONS = 64, CROWDED = 48, MOST_WAITING = 16, MOST_BODY = 4096, REFRESH = 2 /* seconds */ };

/* Seconds. A request, from the connection or the answer before to its last byte; where it is crowded; an answer. */
static const double REQUEST_TIME = 5, CROWDED_TIME = 0.1, ANSWER_TIME = 30;

typedef enum stage { READING, WAITING, ANSWERING } stage; /* WAITING: suspended, for a new state */

/* A connection from its opening to its closing. */
typedef struct client {
  struct MHD_Connection *connection; /* NULL: the place is free */
  stage stage;
  double since; /* wall clock of the last change of its stage */
} client;

typedef struct request {
  bool waited, too_long;
  size_t n;
  char body[MOST_BODY];
} request;

typedef struct server {
  live live;
  struct MHD_Daemon *daemon;
  unsigned port;
  client clients[CONNECTIONS];
  int n_clients;
  long shown;       /* sequence when the waiting ones were answered last */
  double refreshed; /* wall clock */
  bool closing;     /* nobody is kept waiting any more: the server cannot end while connections are suspended */
} server;

/* ---- connections ---- */

static client *client_of(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

static void enter(struct MHD_Connection *c, stage next) {
  client *own = client_of(c);
  if (!own) return;
  own->stage = next;
  own->since = wall_clock();
}

static int n_waiting(const server *s) {
  int n = 0;
  for (int i = 0; i < CONNECTIONS; i++) n += s->clients[i].connection && s->clients[i].stage == WAITING;
  return n;
}

static void opened_or_closed(void *user, struct MHD_Connection *c, void **slot,
                             enum MHD_ConnectionNotificationCode code) {
  server *s = user;
  client *own = *slot;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED && own) {
    own->connection = NULL;
    s->n_clients--;
  }
  if (code != MHD_CONNECTION_NOTIFY_STARTED) return;
  for (int i = 0; i < CONNECTIONS && !*slot; i++)
    if (!s->clients[i].connection) {
      s->clients[i] = (client){c, READING, wall_clock()};
      s->n_clients++;
      *slot = &s->clients[i];
    }
}

/* Closes the connections whose time is up: libmicrohttpd's own limit counts from the last byte, and would let a client that
 * sends one now and then stay for ever. */
static void close_overdue(server *s, double now) {
  const double patience = s->n_clients >= CROWDED ? CROWDED_TIME : REQUEST_TIME;
  for (int i = 0; i < CONNECTIONS; i++) {
    client *own = &s->clients[i];
    if (!own->connection || own->stage == WAITING) continue;
    if (now - own->since <= (own->stage == READING ? patience : ANSWER_TIME)) continue;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(own->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info) (void)shutdown(info->connect_fd, SHUT_RDWR); /* libmicrohttpd sees its end, and frees it */
    own->since = now;
  }
}

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
  enter(c, ANSWERING);
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
  if (after && !s->closing && !r->waited && strtol(after, NULL, 10) >= s->live.sequence &&
      n_waiting(s) < MOST_WAITING) {
    r->waited = true;
    enter(c, WAITING);
    MHD_suspend_connection(c);
    return MHD_YES;
  }
  size_t size = 0;
  char *text = live_state(&s->live, &size);
  return answer(c, MHD_HTTP_OK, "application/json", text, size);
}

static void wake(server *s) {
  for (int i = 0; i < CONNECTIONS; i++) {
    client *own = &s->clients[i];
    if (!own->connection || own->stage != WAITING) continue;
    own->stage = ANSWERING;
    own->since = wall_clock();
    MHD_resume_connection(own->connection);
  }
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
  (void)code;
  enter(c, READING); /* the next request */
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
    close_overdue(s, now);
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
                               completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, opened_or_closed, s, MHD_OPTION_END);
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
