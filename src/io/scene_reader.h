/* From YAML nodes to scene structs. A section of the scene file is a table of keys; each row names the function that
 * reads the value and the field that receives it. Adding a key is one row here and one in schema/scene.schema.json. */
#ifndef SS_IO_SCENE_READER_H
#define SS_IO_SCENE_READER_H

#include "core/words.h"
#include "io/yaml_tree.h"
#include "model/body_names.h"
#include "model/scene_signals.h"

#include <stickslip/scene.h>

typedef struct ss_reader {
  ss_scene *scene;
  const char *file;
  ss_parameter *parameters;
  int n_parameters;
  const char *const *settings; /* "name=value" */
  int n_settings;
  ss_body_names names; /* of all bodies */
  const ss_yaml *root;
  const char **joint_names; /* [n_joints] of all joints, also of those that are not read yet; NULL: not yet listed */
  int n_joints;
  const char *key;   /* the one whose value is being read: for messages */
  ss_arena *scratch; /* lives as long as the reading */
  ss_error *error;   /* never NULL */
} ss_reader;

#define SS_READ_FAIL(reader, node, ...)                                                                                \
  ss_fail_place((reader)->error, SS_ERROR_INPUT, (reader)->file, (node)->mark, __VA_ARGS__)

/* ---- sections ---- */

typedef ss_status (*ss_read)(ss_reader *reader, const ss_yaml *node, void *field);

typedef struct ss_key {
  const char *name;
  ss_read read;  /* NULL: a key of the contract that this version refuses by name */
  size_t offset; /* of the field in the section's struct */
  bool required;
  unsigned types; /* bits 1 << type: only such joints, forces, shapes have it; 0: all */
} ss_key;

typedef struct ss_section {
  const char *name;   /* "material": also its name in the schema */
  const ss_key *keys; /* ended by a row without a name; values are read in this order */
} ss_section;

/* Checks all keys of the map (unknown, foreign to the type, refused, missing) and reads them into *object. `type` is -1
 * for sections without types; otherwise type_name is the word for it. */
ss_status ss_read_section(ss_reader *reader, const ss_yaml *map, const ss_section *section, int type,
                          const char *type_name, void *object);

/* Checks that the node is a list / a map; `what` continues "expected a list of ...". */
ss_status ss_expect_list(ss_reader *reader, const ss_yaml *node, const char *what);
ss_status ss_expect_map(ss_reader *reader, const ss_yaml *node, const char *what);

/* ---- words ---- */

typedef struct ss_word {
  const char *name;
  int value;
  bool later; /* a word of the contract that this version refuses by name */
} ss_word;

typedef struct ss_words {
  const char *name; /* "joint_type": its name in the schema, and with blanks in messages */
  const ss_word *rows;
} ss_words;

/* What to write instead of a word of other programs ("hinge"), where it stands for a row of a table of words, a body, or a key of a
 * section ("key joint"); NULL: it is none that is known. */
const char *ss_our_word(const char *where, const char *theirs);

ss_status ss_read_word(ss_reader *reader, const ss_yaml *node, const ss_words *words, int *value);
/* Reads the key `type` of a map; *name is the word. */
ss_status ss_read_type(ss_reader *reader, const ss_yaml *map, const ss_section *section, const ss_words *words,
                       int *value, const char **name);
ss_status ss_read_type_done(ss_reader *reader, const ss_yaml *node, void *field); /* the row of `type` itself */

/* ---- values: all have the type ss_read ---- */

ss_status ss_read_number(ss_reader *reader, const ss_yaml *node, void *number);
ss_status ss_read_positive(ss_reader *reader, const ss_yaml *node, void *number);
ss_status ss_read_nonnegative(ss_reader *reader, const ss_yaml *node, void *number);
ss_status ss_read_fraction(ss_reader *reader, const ss_yaml *node, void *number); /* [0, 1] */
ss_status ss_read_boolean(ss_reader *reader, const ss_yaml *node, void *boolean);
ss_status ss_read_text(ss_reader *reader, const ss_yaml *node, void *text); /* const char *, in scratch */
ss_status ss_read_name(ss_reader *reader, const ss_yaml *node, void *text); /* the same, not empty */
/* const char *: a name of the library's tables, which outlives everything */
ss_status ss_read_scheme(ss_reader *reader, const ss_yaml *node, void *text);
ss_status ss_read_solver(ss_reader *reader, const ss_yaml *node, void *text);

/* Vectors: three numbers, or in planar scenes the two of the plane. */
ss_status ss_read_vector(ss_reader *reader, const ss_yaml *node, void *vec3);
ss_status ss_read_direction(ss_reader *reader, const ss_yaml *node, void *vec3); /* x, y, z or a vector but zero */
ss_status ss_read_anchors(ss_reader *reader, const ss_yaml *node, void *two_vec3);
/* Radians. A bare number beyond a full turn is refused: degrees are more likely meant than radians, and either can be written. */
ss_status ss_read_angle(ss_reader *reader, const ss_yaml *node, void *number);
ss_status ss_read_orientation(ss_reader *reader, const ss_yaml *node, void *quat);
ss_status ss_read_angular_velocity(ss_reader *reader, const ss_yaml *node, void *vec3); /* planar: a number */
ss_status ss_read_numbers(ss_reader *reader, const ss_yaml *node, int count, double *numbers);
/* Checks that the node is a vector; item i belongs to axis axes[i]. */
ss_status ss_expect_vector(ss_reader *reader, const ss_yaml *node, int axes[3]);

/* An expression of t, inputs and the state (of an output: also of forces), in the scene's memory. */
ss_status ss_read_signal(ss_reader *reader, const ss_yaml *node, bool output, const ss_expression **out);

/* Turns the place of ss_expression's error into one of the file. */
ss_status ss_place_expression_error(ss_reader *reader, const ss_yaml *node, ss_status status);

/* ---- names of bodies ---- */

/* After all bodies of the list have been added; fails where a name is given twice. */
ss_status ss_index_bodies(ss_reader *reader, const ss_yaml *list);
ss_status ss_read_body(ss_reader *reader, const ss_yaml *node, void *index);          /* or the world */
ss_status ss_read_between(ss_reader *reader, const ss_yaml *node, void *two_indices); /* two different ones */

/* ---- the parts of a scene; `field` is the ss_scene ---- */

ss_status ss_read_materials(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_world(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_bodies(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_contacts(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_joints(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_forces(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_inputs(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_outputs(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_simulation(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_compliance(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_boundary(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_start(ss_reader *reader, const ss_yaml *node, void *scene);
ss_status ss_read_pair_compliance(ss_reader *reader, const ss_yaml *node, void *pointer);
ss_status ss_read_elastic(ss_reader *reader, const ss_yaml *node, void *elastic); /* compliance of a material */
ss_status ss_read_shape(ss_reader *reader, const ss_yaml *node, ss_shape_def *shape);

/* A shape while it is read: its file and scale may come in any order. The readers take the whole of it. */
typedef struct ss_shape_source {
  ss_shape_def shape; /* first, so that it is what other readers see */
  const ss_yaml *file;
  ss_vec3 scale;
} ss_shape_source;
ss_status ss_read_mesh_file(ss_reader *reader, const ss_yaml *node, void *source);
ss_status ss_read_mesh_scale(ss_reader *reader, const ss_yaml *node, void *source);
ss_status ss_read_vertices(ss_reader *reader, const ss_yaml *node, void *source);
ss_status ss_read_triangles(ss_reader *reader, const ss_yaml *node, void *source);
ss_status ss_read_heights(ss_reader *reader, const ss_yaml *node, void *source);
ss_status ss_read_spacing(ss_reader *reader, const ss_yaml *node, void *source);
ss_status ss_read_corners(ss_reader *reader, const ss_yaml *node, void *source);
/* After all keys: reads the file, checks that something is there and that nothing is there twice. */
ss_status ss_finish_mesh(ss_reader *reader, const ss_yaml *node, ss_shape_source *source);

ss_status ss_read_parameters(ss_reader *reader, const ss_yaml *node); /* node NULL: none are declared */
/* The value part of the setting for this name, the last one where there are several; NULL: none. And its value. */
const char *ss_setting_for(const ss_reader *reader, const char *name);
ss_status ss_apply_setting(ss_reader *reader, const char *name, const char *text, double *value);

extern const ss_section ss_section_scene, ss_section_material, ss_section_contact, ss_section_contact_friction,
    ss_section_world, ss_section_shape, ss_section_body, ss_section_orientation, ss_section_joint, ss_section_motor,
    ss_section_spring, ss_section_force, ss_section_output, ss_section_simulation, ss_section_friction,
    ss_section_compliance, ss_section_damping, ss_section_elastic, ss_section_boundary, ss_section_continuation,
    ss_section_start;
extern const ss_words ss_words_planar, ss_words_freedom, ss_words_axis, ss_words_shape, ss_words_joint, ss_words_force,
    ss_words_jacobian, ss_words_cone, ss_words_polygon, ss_words_restitution, ss_words_event, ss_words_stabilization,
    ss_words_estimate, ss_words_later_scheme, ss_words_damping, ss_words_influence, ss_words_sensitivities;

#endif
