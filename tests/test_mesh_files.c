/* Mesh files and tables of heights: what is read, and what is refused with which place. */
#include "scene_runner.h"

#include "io/mesh_file.h"

#include <unistd.h>

static char folder[] = "/tmp/stickslip-mesh-XXXXXX";

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

static const char *write_file(const char *name, const void *bytes, size_t n) {
  static char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
  return path;
}

typedef struct mesh_case {
  const char *name, *text;
  int line;
  const char *message; /* NULL: it is good */
} mesh_case;

static const mesh_case cases[] = {
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 0, NULL},
    {"a.OBJ", "# c\n\nv 0 0 0 1\r\nv 1 0 0\r\nv 0 1 0\r\nvn 0 0 1\r\nf 1//1 2//1 3//1\r\n", 0, NULL},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3/1/1 -2 -1", 0, NULL},
    {"a.obj", "v 0 0\n", 1, "three finite numbers"},
    {"a.obj", "v 0 0 0\nv 1 0 nan\n", 2, "three finite numbers"},
    {"a.obj", "v 0 0 1x\n", 1, "three finite numbers"},
    {"a.obj", "v 0 0 0\n\nf 1 2 3\n", 3, "there is no point 2: 1 have been given"},
    {"a.obj", "v 0 0 0\nf 1 1\n", 2, "three corners at least, not 2"},
    {"a.obj", "v 0 0 0\nf 1 x 1\n", 2, "not 'x'"},
    {"a.obj", "\x01\x02 1\n", 1, "unknown statement '\?\?'"},
    {"a.obj", "v 0 0 0\n", 0, "no triangles"},
    {"a.obj", "", 0, "no triangles"},
    {"a.ply", "ply\n", 0, "end in .obj or .stl"},
    {"a.stl",
     "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid",
     0, NULL},
    {"a.stl", "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", 6,
     "three corners, not 2"},
    {"a.stl", "solid s\nouter loop\nvertex 0 0 0\n", 4, "ends inside a facet"},
    {"a.stl", "solid s\nvertex 0 0 inf\n", 2, "three finite numbers"},
    {"a.stl", "solid s\nfoo\n", 2, "unknown statement 'foo'"},
    {"a.stl", "nothing\n", 0, "84 bytes at least, not 8"},
};

static void text_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = write_file(cases[i].name, cases[i].text, strlen(cases[i].text));
    ss_arena *arena = ss_arena_create();
    assert_non_null(arena);
    ss_mesh_data data;
    ss_error error = {0};
    const ss_status status = ss_mesh_file_read(path, arena, &data, &error);
    if (!cases[i].message) {
      run_require(status, &error, cases[i].text);
      assert_int_equal(data.n_triangles, 1);
      assert_int_equal(data.n_points, 3);
      for (int k = 0; k < 3; k++) assert_int_equal(data.triangles[k], k);
      assert_true(data.points[1].x == 1 && data.points[2].y == 1);
    } else {
      assert_int_equal(status, SS_ERROR_INPUT);
      if (!strstr(error.message, cases[i].message) || error.line != cases[i].line)
        print_error("%s: line %d: %s\n", cases[i].text, error.line, error.message);
      assert_non_null(strstr(error.message, cases[i].message));
      assert_int_equal(error.line, cases[i].line);
      assert_string_equal(error.file, path);
    }
    ss_arena_destroy(arena);
    assert_int_equal(remove(path), 0);
  }
}

static void binary_stl(void **state) {
  (void)state;
  unsigned char bytes[84 + 50] = "solid, though it is binary";
  const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, infinite = INFINITY;
  bytes[80] = 1;
  memcpy(bytes + 84 + 12, corners, sizeof corners);
  for (int i = 0; i < 3; i++) {
    if (i == 2) memcpy(bytes + 84 + 24, &infinite, sizeof infinite);
    const char *path = write_file("b.stl", bytes + (i == 1), sizeof bytes - (i == 1));
    ss_arena *arena = ss_arena_create();
    assert_non_null(arena);
    ss_mesh_data data;
    ss_error error = {0};
    const ss_status status = ss_mesh_file_read(path, arena, &data, &error);
    if (i == 0) {
      run_require(status, &error, "binary");
      assert_int_equal(data.n_triangles, 1);
      assert_true(data.points[1].x == 1 && data.points[2].y == 1);
    } else {
      assert_int_equal(status, SS_ERROR_INPUT);
      assert_non_null(strstr(error.message, i == 1 ? "byte 80" : "byte 108"));
    }
    ss_arena_destroy(arena);
    assert_int_equal(remove(path), 0);
  }
}

static void height_tables(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int rows, columns, line;
  } tables[] = {{"# c\n1 2 3\n4 5 6\n", 2, 3, 0},
                {"1, 2;3\r\n\r\n4,5,6\n", 2, 3, 0},
                {"1 2\n3\n", 0, 0, 2},
                {"1 2\n3 x\n", 0, 0, 2},
                {"1 nan\n", 0, 0, 1},
                {"\n", 0, 0, 0}};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    const char *path = write_file("h.csv", tables[i].text, strlen(tables[i].text));
    ss_arena *arena = ss_arena_create();
    assert_non_null(arena);
    double *heights = NULL;
    int rows, columns;
    ss_error error = {0};
    const ss_status status = ss_height_file_read(path, arena, &heights, &rows, &columns, &error);
    assert_int_equal(status, tables[i].rows ? SS_OK : SS_ERROR_INPUT);
    assert_int_equal(error.line, tables[i].line);
    if (status == SS_OK) {
      assert_int_equal(rows, tables[i].rows);
      assert_int_equal(columns, tables[i].columns);
      for (int k = 0; k < 6; k++) assert_true(heights[k] == k + 1);
    }
    ss_arena_destroy(arena);
    assert_int_equal(remove(path), 0);
  }
}

/* Points on a sphere, of which all are corners, and many inside: 150 can be had, 250 can not, unless some are left out. */
static void hull_of_many_points(void **state) {
  (void)state;
  enum { INSIDE = 2000, MOST = 250 };
  static char text[(INSIDE + MOST) * 80 + 100];
  for (int k = 0; k < 3; k++) {
    const int outside = k == 0 ? 150 : MOST;
    uint64_t seed = 9;
    size_t used = 0;
    for (int i = 0; i < outside + INSIDE; i++) {
      const ss_vec3 v = quat_rotate(random_rotation(&seed), v3(i < outside ? 1 : 0.9 * random_next(&seed), 0, 0));
      used += (size_t)snprintf(text + used, sizeof text - used, "v %.17g %.17g %.17g\n", v.x, v.y, v.z);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "f 1 2 3\n");
    const char *path = write_file("s.obj", text, used);
    char scene[400];
    (void)snprintf(scene, sizeof scene,
                   "bodies: [{name: a, density: 1, shapes: [{type: convex, file: %s, scale: 2%s}]}]\n"
                   "simulation: {step: 0.1, duration: 1}\n",
                   path, k == 2 ? ", corners: 64" : "");
    ss_scene *read = NULL;
    ss_model *model = NULL;
    ss_error error = {0};
    run_require(ss_scene_parse(scene, strlen(scene), "text", NULL, 0, &read, &error), &error, scene);
    const ss_status status = ss_model_create(read, &model, &error);
    assert_int_equal(status, k == 1 ? SS_ERROR_INPUT : SS_OK);
    if (k == 1) assert_non_null(strstr(error.message, "more than 200 corners"));
    ss_model_destroy(model);
    ss_scene_destroy(read);
    assert_int_equal(remove(path), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_files),
      cmocka_unit_test(binary_stl),
      cmocka_unit_test(height_tables),
      cmocka_unit_test(hull_of_many_points),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
