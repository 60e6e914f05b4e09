/* ST section 3.1: friction sets by their generators, forces and moments among them. The paper has the formulas and no numbers: break-away
 * loads follow from the hull by hand, the way across its borders from an event-driven integration. */
#include "papers.h"

#include <math.h>

/* Of the first event of this kind; NAN: there was none. */
static double first(const run *r, ss_event_kind kind) {
  for (int i = 0; i < r->n_events; i++)
    if (r->events[i].kind == kind) return r->events[i].t;
  return (double)NAN;
}

/* Loads that grow with t: the disc lets go where they reach the hull. By hand: the load's ray leaves through the face whose corners are
 * named, and their weights are those of a linear system of three equations. */
static void break_away(page *p) {
  static const struct {
    const char *pull, *twist;
    double exact;
    const char *face;
  } cases[] = {
      {"pull=0", "twist=-0.3", 0.05 * 1.5 * 9.81 / 0.3, "(0, 0, 0.05)"},
      {"pull=2", "twist=0.2", 1.4715, "(-0.35, 0.05, 0), (0.05, -0.45, 0), (0.02, 0, -0.06)"},
      {"pull=1", "twist=-0.4", 1.3108189655172415, "(-0.35, 0.05, 0), (0.05, -0.45, 0), (0, 0, 0.05)"},
      {"pull=-3", "twist=0", 0.4 * 1.5 * 9.81 / 3, "(0.4, 0, 0)"},
  };
  page_text(p,
            "## Break-away\n\nScene `scenes/friction-generators.yaml` at rest, pulled and twisted by loads that grow "
            "with t, h = 2^-7.\n\n| loads | lets go at t | by hand | through |\n|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run r;
    run_open(&r, &(setup){.scene = "friction-generators",
                          .step = ldexp(1, -7),
                          .duration = 3,
                          .set = {"drive=0", "v=0", cases[i].pull, cases[i].twist}});
    run_to_end(&r);
    const double t = fmin(first(&r, SS_SLIP), first(&r, SS_SPIN_BEGIN));
    page_text(p, "| %s, %s | %.9f | %.9f | %s |\n", cases[i].pull, cases[i].twist, t, cases[i].exact, cases[i].face);
    page_check(p, fabs(t - cases[i].exact), 0, 1e-6, "break-away, %s, %s", cases[i].pull, cases[i].twist);
    run_close(&r);
  }
}

static void across_borders(page *p) {
  static const double x = 0.748013952974, y = 0.54070683306; /* event-driven integration, errors below 1e-10 */
  double before = (double)NAN;
  page_text(
      p,
      "\n## Across the borders of the set\n\nThe same disc, driven: %s\n\n"
      "| h | error of the position at t = 1.5 | order | facets, stops and starts |\n|---|---|---|---|\n",
      "5 borders (corners, edges, triangles), a stop, another start. The reference is an event-driven integration of "
      "M u' = F + N f, f in argmax -u.f over the corners. `trapezoidal`, all events located.");
  for (int k = 6; k <= 10; k++) {
    run r;
    run_open(&r, &(setup){.scene = "friction-generators", .step = ldexp(1, -k)});
    run_to_end(&r);
    const ss_vec3 at = run_position(&r, 0);
    const double error = hypot(at.x - x, at.y - y), order = log2(before / error);
    const long *n = run_report(&r)->events;
    page_text(p, "| 2^-%d | %.2e |", k, error);
    if (k > 6) page_text(p, " %.2f", order);
    page_text(p, " | %ld, %ld |\n", n[SS_FACET], n[SS_STICK] + n[SS_SLIP]);
    if (k > 6) page_check(p, order, 1.9, 2.1, "order across borders, h = 2^-%d", k);
    page_check(p, (double)(n[SS_FACET] + n[SS_STICK] + n[SS_SLIP]), 7, 7, "events, h = 2^-%d", k);
    before = error;
    run_close(&r);
  }
}

page friction_sets(const char *directory) {
  page p = page_open(directory, "st-friction-sets", "ST section 3.1: friction sets by their generators");
  break_away(&p);
  across_borders(&p);
  page_close(&p);
  return p;
}
