/* `stickslip view --live` from the outside, with a plain socket: the page, the state, parameters, pulling, who may ask,
 * and how it ends. Loopback only; every wait is bounded. */
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#include "cli_runner.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

static const char scene_text[] = "name: Pendulum\n"
                                 "parameters: {g: 9.81, L: 1}\n"
                                 "planar: xy\n"
                                 "gravity: [0, -g]\n"
                                 "inputs: {push: 0}\n"
                                 "bodies:\n"
                                 "  - {name: bob, mass: 1, freedom: [x, y], position: [0, -L],\n"
                                 "     shapes: [{type: sphere, radius: 0.1}]}\n"
                                 "joints: [{type: distance, between: [world, bob], length: L}]\n"
                                 "forces: [{type: applied, on: bob, force: [push, 0]}]\n"
                                 "outputs: [{name: lever, value: 2*push}]\n"
                                 "simulation: {scheme: trapezoidal, step: 2^-8, duration: 10}\n";

enum { PATIENCE = 20 }; /* seconds until a test gives up */

static pid_t server;
static unsigned port;

/* ---- the server's process ---- */

static bool start_server(void) {
  int out[2];
  assert_int_equal(pipe(out), 0);
  server = fork();
  assert_true(server >= 0);
  if (server == 0) {
    (void)dup2(out[1], STDOUT_FILENO);
    (void)freopen("err", "w", stderr);
    (void)alarm(4 * PATIENCE); /* whatever happens to the test */
    (void)execl(BINARY_DIR "/stickslip", "stickslip", "view", "--live", "scene.yaml", (char *)NULL);
    _exit(127);
  }
  (void)close(out[1]);
  char line[128] = "";
  struct pollfd ready = {.fd = out[0], .events = POLLIN};
  assert_int_equal(poll(&ready, 1, 1000 * PATIENCE), 1);
  const ssize_t n = read(out[0], line, sizeof line - 1);
  (void)close(out[0]);
  return n > 0 && sscanf(line, "http://127.0.0.1:%u/", &port) == 1; // NOLINT(cert-err34-c)
}

/* The exit code, once it has ended by itself. */
static int wait_for_end(void) {
  for (int i = 0; i < 100 * PATIENCE; i++) {
    int status;
    if (waitpid(server, &status, WNOHANG) == server) {
      server = 0;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
  }
  return -2;
}

/* ---- a plain client ---- */

/* The whole answer, headers and all, to be freed; *code is its status. */
static char *exchange(const char *text, int *code) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const struct timeval patience = {PATIENCE, 0};
  assert_int_equal(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  assert_int_equal(connect(s, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(send(s, text, strlen(text), MSG_NOSIGNAL), strlen(text));
  enum { SIZE = 1 << 22 };
  char *answer = calloc(1, SIZE);
  assert_non_null(answer);
  size_t n = 0;
  for (ssize_t got; n + 1 < SIZE && (got = recv(s, answer + n, SIZE - 1 - n, 0)) > 0;) n += (size_t)got;
  (void)close(s);
  *code = 0;
  assert_int_equal(sscanf(answer, "HTTP/1.1 %d", code), 1); // NOLINT(cert-err34-c)
  return answer;
}

static char *get(const char *path, const char *host, int *code) {
  char text[512];
  (void)snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s:%u\r\nConnection: close\r\n\r\n", path, host, port);
  return exchange(text, code);
}

static json_t *body_of(char *answer) {
  const char *body = strstr(answer, "\r\n\r\n");
  assert_non_null(body);
  json_error_t error;
  json_t *root = json_loads(body + 4, 0, &error);
  if (!root) fail_msg("not JSON: %s", error.text);
  free(answer);
  return root;
}

static json_t *post(const char *order, const char *headers, int *code) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "POST /command HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%sContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                 port, headers, strlen(order), order);
  return body_of(exchange(text, code));
}

static void tell(const char *order, const char *message) {
  int code;
  json_t *reply = post(order, "Content-Type: application/json\r\n", &code);
  const char *said = json_string_value(json_object_get(reply, "message"));
  if (code != 200) fail_msg("%s: %d %s", order, code, said);
  if (message && !strstr(said, message)) fail_msg("%s: '%s'", order, said);
  json_decref(reply);
}

static void expect_refusal(const char *order, const char *message) {
  int code;
  json_t *reply = post(order, "Content-Type: application/json\r\n", &code);
  assert_int_equal(code, 400);
  assert_non_null(strstr(json_string_value(json_object_get(reply, "message")), message));
  json_decref(reply);
}

typedef struct view {
  long sequence, generation, steps;
  bool running;
  double energy_work, g;
} view;

static view look(long after) {
  char path[64];
  int code;
  (void)snprintf(path, sizeof path, "/state?after=%ld", after);
  json_t *root = body_of(get(path, "127.0.0.1", &code));
  assert_int_equal(code, 200);
  const json_t *frame = json_object_get(root, "frame");
  assert_int_equal(json_integer_value(json_object_get(json_object_get(frame, "frames"), "count")), 1);
  const view v = {(long)number(root, "sequence"),
                  (long)number(root, "generation"),
                  (long)number(root, "steps"),
                  json_is_true(json_object_get(root, "running")),
                  number(json_object_get(frame, "ledger"), "work"),
                  number(json_object_get(root, "parameters"), "g")};
  json_decref(root);
  return v;
}

/* ---- what it does ---- */

static void test_page(void **state) {
  (void)state;
  int code;
  char *page = get("/", "127.0.0.1", &code);
  assert_int_equal(code, 200);
  assert_non_null(strstr(page, "text/html"));
  assert_non_null(strstr(page, "\"layout\":\"live\""));
  assert_non_null(strstr(page, "connect-src 'self'"));
  assert_non_null(strstr(page, "\"name\":\"Pendulum\""));
  free(page);
  free(get("/nothing", "localhost", &code));
  assert_int_equal(code, 404);
}

static void test_step_start_pause_reset(void **state) {
  (void)state;
  assert_int_equal(look(-1).steps, 0);
  tell("{\"action\": \"step\"}", NULL);
  tell("{\"action\": \"step\"}", NULL);
  view v = look(-1);
  assert_int_equal(v.steps, 2);
  assert_false(v.running);
  tell("{\"action\": \"speed\", \"value\": 10}", NULL);
  tell("{\"action\": \"start\"}", NULL);
  for (int i = 0; i < 1000 && v.steps < 100; i++) {
    const view next = look(v.sequence); /* waits for it */
    assert_true(next.sequence > v.sequence);
    v = next;
  }
  assert_true(v.running && v.steps >= 100);
  tell("{\"action\": \"pause\"}", NULL);
  v = look(-1);
  assert_int_equal(look(-1).steps, v.steps);
  tell("{\"action\": \"reset\"}", "reset");
  v = look(-1);
  assert_int_equal(v.steps, 0);
  assert_int_equal(v.generation, 0);
}

/* The pendulum hangs at rest; only the hand moves it. */
static void test_pull(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) tell("{\"action\": \"step\"}", NULL);
  assert_true(fabs(look(-1).energy_work) < 1e-12);
  tell("{\"action\": \"pull\", \"body\": 0, \"point\": [0, 0, 0], \"target\": [1, -1, 0]}", NULL);
  for (int i = 0; i < 20; i++) tell("{\"action\": \"step\"}", NULL);
  const double work = look(-1).energy_work;
  assert_true(work > 1e-3);
  tell("{\"action\": \"release\"}", NULL);
  for (int i = 0; i < 5; i++) tell("{\"action\": \"step\"}", NULL);
  assert_true(look(-1).energy_work == work);
  expect_refusal("{\"action\": \"pull\", \"body\": 1, \"point\": [0, 0, 0], \"target\": [1, 0, 0]}", "no such body");
  expect_refusal("{\"action\": \"pull\", \"body\": 0, \"point\": [0, 0], \"target\": [1, 0, 0]}", "three numbers");
}

static void test_parameters(void **state) {
  (void)state;
  const view before_change = look(-1);
  assert_true(before_change.steps > 0);
  tell("{\"action\": \"input\", \"name\": \"push\", \"value\": 0.25}", ""); /* at once, without compiling */
  expect_refusal("{\"action\": \"input\", \"name\": \"pull\", \"value\": 1}", "no input 'pull'");
  int code;
  json_t *root = body_of(get("/state?after=-1", "127.0.0.1", &code));
  assert_true(number(json_object_get(root, "inputs"), "push") == 0.25);
  assert_non_null(json_object_get(json_object_get(root, "frame"), "signals"));
  json_decref(root);
  tell("{\"action\": \"set\", \"name\": \"g\", \"value\": 1.5}", "the motion goes on");
  view v = look(-1);
  assert_true(v.g == 1.5);
  assert_int_equal(v.steps, before_change.steps);
  assert_int_equal(v.generation, before_change.generation + 1);
  tell("{\"action\": \"set\", \"name\": \"L\", \"value\": \"3/2\"}", "restarted, because the joints would not hold");
  v = look(-1);
  assert_true(v.g == 1.5); /* earlier changes stay */
  assert_int_equal(v.steps, 0);
  expect_refusal("{\"action\": \"set\", \"name\": \"M\", \"value\": 1}", "no such parameter");
  expect_refusal("{\"action\": \"set\", \"name\": \"g\", \"value\": \"1 +\"}", "g=1 +");
  expect_refusal("{\"action\": \"speed\", \"value\": 0}", "positive");
  expect_refusal("{\"action\": \"dance\"}", "unknown action");
  expect_refusal("{\"action\"", "expected");
  assert_int_equal(look(-1).generation, v.generation);
}

/* Other sites' pages, and names that lead here, are turned away. */
static void test_strangers(void **state) {
  (void)state;
  int code;
  free(get("/state", "example.org", &code));
  assert_int_equal(code, 403);
  json_decref(
      post("{\"action\": \"stop\"}", "Content-Type: application/json\r\nOrigin: http://example.org\r\n", &code));
  assert_int_equal(code, 403);
  json_decref(post("{\"action\": \"stop\"}", "Content-Type: text/plain\r\n", &code));
  assert_int_equal(code, 400);
  (void)look(-1); /* still there */
}

/* Clients that send half a request and wait do not keep others out. */
static void test_half_sent_requests(void **state) {
  (void)state;
  enum { HALF = 200 };
  static const char half[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1";
  static int sockets[HALF];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < HALF; i++) {
    sockets[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_true(sockets[i] >= 0);
    (void)connect(sockets[i], (struct sockaddr *)&address, sizeof address);
    (void)send(sockets[i], half, sizeof half - 1, MSG_NOSIGNAL);
  }
  struct timespec start, end;
  (void)clock_gettime(CLOCK_MONOTONIC, &start);
  (void)look(-1);
  (void)clock_gettime(CLOCK_MONOTONIC, &end);
  assert_true((double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec) < 5);
  for (int i = 0; i < HALF; i++) (void)close(sockets[i]);
  (void)look(-1);
}

static void test_ends_when_asked(void **state) {
  (void)state;
  tell("{\"action\": \"stop\"}", NULL);
  assert_int_equal(wait_for_end(), 0);
  assert_true(start_server());
  (void)look(-1);
  assert_int_equal(kill(server, SIGINT), 0);
  assert_int_equal(wait_for_end(), 0);
}

/* A page that waits for the next state, and asks again as soon as it has it, does not keep the server from ending. */
static void test_ends_while_watched(void **state) {
  (void)state;
  assert_true(start_server());
  const pid_t watcher = fork();
  assert_true(watcher >= 0);
  if (watcher == 0) {
    (void)alarm(PATIENCE);
    for (;;) {
      const int s = socket(AF_INET, SOCK_STREAM, 0);
      struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      char text[128], answer[4096];
      (void)snprintf(text, sizeof text, "GET /state?after=1000000 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", port);
      if (connect(s, (struct sockaddr *)&address, sizeof address)) _exit(0);
      if (send(s, text, strlen(text), MSG_NOSIGNAL) > 0) (void)recv(s, answer, sizeof answer, 0);
      (void)close(s);
    }
  }
  for (int i = 0; i < 5; i++) tell("{\"action\": \"step\"}", NULL);
  tell("{\"action\": \"stop\"}", NULL);
  assert_int_equal(wait_for_end(), 0);
  assert_int_equal(waitpid(watcher, NULL, 0), watcher);
}

static int prepare(void **state) {
  (void)state;
  if (enter_empty_directory()) return -1;
  write_text("scene.yaml", scene_text);
  if (start_server()) return 0;
  (void)wait_for_end();
  char *said = read_text("err");
  const bool not_built = strstr(said, "built without") != NULL;
  print_message("no live view: %s", said);
  free(said);
  if (not_built) exit(remove_directory(NULL) ? 1 : 77); /* ctest: skipped */
  return -1;
}

static int finish(void **state) {
  if (server > 0) {
    (void)kill(server, SIGKILL);
    (void)waitpid(server, NULL, 0);
  }
  return remove_directory(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_page),
      cmocka_unit_test(test_step_start_pause_reset),
      cmocka_unit_test(test_pull),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_strangers),
      cmocka_unit_test(test_half_sent_requests),
      cmocka_unit_test(test_ends_when_asked),
      cmocka_unit_test(test_ends_while_watched),
  };
  return cmocka_run_group_tests(tests, prepare, finish);
}
