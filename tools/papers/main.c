/* papers SCENES OUTPUT: writes all pages and their index; exit code 1 where a number is outside its band. */
#include "papers.h"

typedef struct entry {
  page (*make)(const char *directory);
  const char *shows;
} entry;

static const entry entries[] = {
    {double_pendulum, "Table 10.1, Figure 2: second order through impacts and joints"},
    {stiff_damper, "Figure 4: stable for every damping"},
    {stiff_spring, "Figure 5: stable for every stiffness"},
    {applications, "Figure 6: a rover on rough ground, a pawl pushed into a hole"},
    {single_joint, "natural and weighted velocity sequences"},
    {stick_slip, "Figure 9.1; event times and final position against the exact solution"},
    {falling_rod, "Figures 4 to 6: no chattering"},
    {four_balls, "Table 1, Figures 7 and 8: first order in 3D with friction"},
    {painleve, "an impulse where no classical solution exists"},
    {friction_sets, "friction by generators: break-away, second order across the borders of the set"},
    {rolling_ellipse, "Figures 4 and 5: forces over a patch, microslip, the rigid limit"},
    {boundary_problems, "initial and final deformations, K(q), boundary-value problems against the continuous ones"},
    {benchmarks, "IFToMM A02, SimBenchmark, a rotating ball: exact solutions, beside other programs"},
    {trajectories, "IFToMM A01 and A02, examples of Siconos: followed row by row"},
    {energy, "every scene and scheme with e = 0: what is created is rounding, or falls with the step"},
    {automatic, "errors proportional to the tolerance; problems beside those of halves and of a fixed step"},
    {orders, "second order through collision, stick-slip, take-off and facets; all schemes"},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static const char introduction[] =
    "# Verification\n\n"
    "Written by `./dev papers`, which runs the examples of the papers, compares them with the printed numbers "
    "and "
    "with exact solutions, and fails where a number leaves its band. Do not edit by hand.\n\n"
    "- **ST**: D. E. Stewart, J. C. Trinkle, *Dynamics, friction, and complementarity problems*\n"
    "- **LIT**: F. A. Potra, M. Anitescu, B. Gavrea, J. C. Trinkle, *A linearly implicit trapezoidal method for "
    "integrating "
    "stiff multibody dynamics with contact, joints, and friction*\n"
    "- **MDI**: B. Gavrea, M. Anitescu, F. A. Potra, *Convergence of a class of semi-implicit time-stepping schemes "
    "for "
    "nonsmooth rigid multibody dynamics*\n"
    "- **DCC**: P. Song, J.-S. Pang, V. Kumar, *A semi-implicit time-stepping model for frictional compliant contact "
    "problems*\n"
    "- **BVP**: J.-S. Pang, V. Kumar, P. Song, *Convergence of time-stepping method for initial and boundary-value "
    "frictional compliant contact problems*\n\n"
    "| page | shows | numbers in their bands |\n|---|---|---|\n";

int main(int argc, char **argv) {
  if (argc != 3) die("usage: papers SCENES OUTPUT");
  char path[1024];
  int failed = 0;
  scene_directory = argv[1];
  (void)snprintf(path, sizeof path, "%s/README.md", argv[2]);
  FILE *index = fopen(path, "w");
  if (!index) die("cannot write %s", path);
  (void)fputs(introduction, index);
  for (int i = 0; i < ENTRIES; i++) {
    const page p = entries[i].make(argv[2]);
    if (p.n_checks == 0) continue; /* it could not be made, and there is no older one */
    (void)fprintf(index, "| [%s](%s.md) | %s | %d of %d |\n", p.title, p.name, entries[i].shows,
                  p.n_checks - p.n_failed, p.n_checks);
    failed += p.n_failed;
  }
  if (fclose(index)) die("cannot write %s", path);
  return failed ? 1 : 0;
}
