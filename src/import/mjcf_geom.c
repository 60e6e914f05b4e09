/* Geoms of MJCF: shapes and their masses. */
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

static const double DENSITY = 1000; /* MuJoCo's */

typedef struct geom {
  ss_shape_def shape; /* in the body's frame */
  bool mesh;          /* or a height field: its shape is read only where it can touch, its mass is unknown */
} geom;

/* The two ends of a long geom; false: they are not given. */
static bool read_fromto(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, geom *g, double *length,
                        ss_status *status) {
  double x[6];
  if (ss_mjcf_numbers(m, e, class, "fromto", x, 6, status) != 6) return false;
  const ss_vec3 a = v3(x[0], x[1], x[2]), b = v3(x[3], x[4], x[5]), along = v3_sub(b, a);
  *length = v3_norm(along);
  if (!(*length > 0)) return false;
  /* Along z, as without ends; the solids are symmetric, so that the sense does not matter. */
  g->shape.pose = (ss_pose){v3_scale(0.5, v3_add(a, b)), ss_quat_between(v3(0, 0, 1), v3_scale(-1 / *length, along))};
  return true;
}

/* Our capsules and cylinders lie along x, MuJoCo's along z. */
static void lay_along_x(geom *g) {
  const ss_quat turn = ss_quat_from_axis(v3(0, 1, 0), -acos(-1) / 2); /* x to z */
  g->shape.pose.orientation = quat_multiply(g->shape.pose.orientation, turn);
}

static ss_status read_shape(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, geom *g) {
  const char *word = ss_mjcf_text(e, class, "type"), *type = word ? word : "sphere";
  ss_status status = SS_OK;
  double size[3] = {0}, length = 0;
  const bool mesh = ss_mjcf_text(e, class, "mesh") != NULL;
  const int n = ss_mjcf_numbers(m, e, class, "size", size, 3, &status);
  g->shape = ss_shape_default(SS_SHAPE_SPHERE);
  g->shape.pose = ss_mjcf_pose(m, e, class, &status);
  const bool ends = read_fromto(m, e, class, g, &length, &status);
  g->shape.radius = size[0];
  if (status) return status;
  if (mesh || strcmp(type, "mesh") == 0 || strcmp(type, "hfield") == 0 || strcmp(type, "sdf") == 0) {
    g->mesh = true;
    return SS_OK;
  }
  if (strcmp(type, "plane") == 0) {
    g->shape.type = SS_SHAPE_HALF_SPACE;
    return SS_OK;
  }
  const int needed = strcmp(type, "sphere") == 0 || ends                          ? 1
                     : strcmp(type, "box") == 0 || strcmp(type, "ellipsoid") == 0 ? 3
                                                                                  : 2;
  if (n < needed)
    return SS_IMPORT_FAIL(m->import, e, "a %s needs %d sizes, not %d", ss_printable(type).text, needed, n);
  if (strcmp(type, "capsule") == 0 || strcmp(type, "cylinder") == 0) {
    g->shape.type = strcmp(type, "cylinder") == 0 ? SS_SHAPE_CYLINDER : SS_SHAPE_CAPSULE;
    g->shape.length = ends ? length : 2 * size[1];
    lay_along_x(g);
  } else if (strcmp(type, "box") == 0 || strcmp(type, "ellipsoid") == 0) {
    const ss_vec3 half = ends ? v3(size[0], n > 1 ? size[1] : size[0], length / 2) : v3(size[0], size[1], size[2]);
    g->shape.type = strcmp(type, "box") == 0 ? SS_SHAPE_BOX : SS_SHAPE_ELLIPSOID;
    g->shape.size = v3_scale(2, half);
    g->shape.semi_axes = half;
  } else if (strcmp(type, "sphere") != 0) {
    return SS_IMPORT_FAIL(m->import, e, "unknown type of geom '%s'", ss_printable(type).text);
  }
  return SS_OK;
}

static ss_status add_mass(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, const geom *g,
                          ss_import_mass *sum) {
  ss_status status = SS_OK;
  double given = NAN, density = DENSITY;
  (void)ss_mjcf_numbers(m, e, class, "mass", &given, 1, &status);
  (void)ss_mjcf_numbers(m, e, class, "density", &density, 1, &status);
  if (status || g->shape.type == SS_SHAPE_HALF_SPACE) return status;
  if (g->mesh) {
    if (given == 0 || density == 0) return SS_OK;
    sum->mass = NAN; /* unknown; only wrong where it is asked for */
    return SS_OK;
  }
  const double mass = isnan(given) ? density * ss_solid_volume(&g->shape) : given;
  const ss_import_mass own = ss_solid_mass(&g->shape, mass);
  ss_mass_add(sum, &own, &g->shape.pose);
  return SS_OK;
}

static ss_status add_shape(ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, geom *g, ss_import_part *part) {
  ss_status status = SS_OK;
  double contype = 1, conaffinity = 1, friction[3] = {1}, condim = 3;
  (void)ss_mjcf_numbers(m, e, class, "contype", &contype, 1, &status);
  (void)ss_mjcf_numbers(m, e, class, "conaffinity", &conaffinity, 1, &status);
  (void)ss_mjcf_numbers(m, e, class, "friction", friction, 3, &status);
  (void)ss_mjcf_numbers(m, e, class, "condim", &condim, 1, &status);
  if (status || m->no_contact || (contype == 0 && conaffinity == 0)) return status;
  if (g->mesh && !ss_mjcf_asset(m, e, class, &g->shape, &status)) return status;
  part->contype |= (unsigned)contype;
  part->conaffinity |= (unsigned)conaffinity;
  if (condim == 6 || condim == 4) ss_import_note(m->import, "torsional and rolling friction of a geom: left out");
  for (const char *const *a = (const char *const[]){"margin", "gap", NULL}; *a; a++) ss_mjcf_left_out(m, e, class, *a);
  if (ss_mjcf_text(e, class, "solref") || ss_mjcf_text(e, class, "solimp"))
    ss_import_note(m->import, "softness of contacts (solref, solimp): left out, contacts are rigid");
  g->shape.material = ss_import_material(m->import, condim == 1 ? 0 : friction[0]);
  if (!g->shape.material) return ss_fail(m->import->error, SS_ERROR_MEMORY, "out of memory");
  return ss_import_add_shape(m->import, part, &g->shape);
}

ss_status ss_mjcf_geom(ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *around, ss_import_part *part,
                       ss_import_mass *mass) {
  const ss_mjcf_class *class = ss_mjcf_class_of(m, e, around);
  geom g = {0};
  SS_TRY(read_shape(m, e, class, &g));
  SS_TRY(add_mass(m, e, class, &g, mass));
  return add_shape(m, e, class, &g, part);
}
