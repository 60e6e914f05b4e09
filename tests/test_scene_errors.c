/* Wrong scenes: each is refused at the offending place, with a message that says what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <stickslip/io.h>

#define SIM  "simulation: {step: 0.1, duration: 1}\n"
#define BALL "bodies: [{name: a, mass: 1, inertia: [1, 1, 1]}]\n"
#define PAIR                                                                                                           \
  "bodies: [{name: ann, mass: 1, inertia: [1, 1, 1]}, "                                                                \
  "{name: bert, mass: 1, inertia: [1, 1, 1]}]\n"
#define BODY(keys)       "bodies: [{name: a, mass: 1, " keys "}]\n" SIM
#define SHAPE(keys)      "bodies: [{name: a, mass: 1, shapes: [{" keys "}]}]\n" SIM
#define PLANAR           "planar: xy\n"
#define JOINT(keys)      PAIR SIM "joints: [{" keys "}]\n"
#define FORCE(keys)      PAIR SIM "forces: [{" keys "}]\n"
#define SIMULATION(keys) BALL "simulation: {step: 0.1, " keys "}\n"

typedef struct row {
  const char *text;
  ss_status status;
  int line, column;
  const char *message;
} row;

#define BAD   SS_ERROR_INPUT
#define LATER SS_ERROR_UNSUPPORTED

static const row document_rows[] = {
    {"", BAD, 1, 1, "the file is empty"},
    {"# nothing\n", BAD, 1, 1, "the file is empty"},
    {"---\n", BAD, 2, 1, "expected a mapping with the keys of a scene (name, source, planar"},
    {"hello", BAD, 1, 1, "not a single value"},
    {"- 1\n", BAD, 1, 1, "not a list"},
    {BALL SIM "---\n" BALL, BAD, 3, 1, "second document"},
    {BALL SIM "name: [", BAD, 4, 1, "YAML: while parsing a flow node"},
    {BALL SIM "name: 'x", BAD, 3, 9, "YAML: while scanning a quoted scalar"},
    {"\tbodies: 1", BAD, 1, 1, "YAML: a tab cannot indent; use spaces"},
    {"name: a\nname: b\n", BAD, 2, 1, "the key 'name' is given twice (first in line 1)"},
    {"name: a\xFF\n", BAD, 1, 8, "not a text file in UTF-8"},
    {"name: \xC3\xA4 \xC3(\n", BAD, 1, 10, "not a text file in UTF-8"},
    {"name: a\x01\n", BAD, 1, 8, "not a text file in UTF-8"},
    {"name: \"a\\0b\"\n", BAD, 1, 7, "NUL"},
    {"name: \"a\\eb\"\n", BAD, 1, 7, "control character (U+001B)"},
    {"name: \"a\\x9Bb\"\n", BAD, 1, 7, "control character (U+009B)"},
    {"bodies: [{name: \"a\\nb\", mass: 1}]\n" SIM, BAD, 1, 17, "'name' must be on one line"},
    {"parameters: {a: b*2, b: 3}\n" BALL SIM, BAD, 1, 17, "parameter 'a' uses 'b', which is declared after it"},
    {"parameters: {a: a + 1}\n" BALL SIM, BAD, 1, 17, "parameter 'a' uses 'a', which is itself"},
    {BODY("orientation: {axis: x, angle: 90}"), BAD, 1, 59,
     "'angle' is 90 radians, more than a full turn: write 90 deg"},
    {BODY("orientation: {rpy: [0, 45, 0]}"), BAD, 1, 52, "'rpy' is 45 radians, more than a full turn"},
    {PLANAR BODY("orientation: -30"), BAD, 2, 42, "'orientation' is -30 radians"},
    {PLANAR BODY("position: [0, 0, 5]"), BAD, 2, 39, "'position' is off the scene's plane: z must be 0, not 5"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, limits: [-45, 45]"), BAD, 3, 82,
     "'limits' is -45 radians, more than a full turn: write -45 deg, or -45 rad"},
    {FORCE("type: applied, on: ann, force: [if(t < 1, 5, 0), 0, 0]"), BAD, 3, 42,
     "'force' must be a list of 3 numbers, not 5 (an expression that contains a comma must be quoted"},
    {"? [a]\n: b\n", BAD, 1, 3, "a key must be a word, not a list"},
    {"name: !!str a\n", BAD, 1, 7, "tags such as 'tag:yaml.org,2002:str' are not used"},
    {"name: *a\n", BAD, 1, 7, "the alias '*a' has no anchor before it"},
    {"name: &a [*a]\n", BAD, 1, 11, "the alias '*a' has no anchor before it"},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", BAD, 1, 33, "nested more than 32 levels"},
};

static const row top_rows[] = {
    {SIM, BAD, 1, 1, "the scene lacks the key 'bodies'"},
    {BALL, BAD, 1, 1, "the scene lacks the key 'simulation'"},
    {BALL SIM "jionts: []\n", BAD, 3, 1, "unknown key 'jionts'; did you mean 'joints'? (keys of a scene: name"},
    {BALL SIM "zzz: 1\n", BAD, 3, 1, "unknown key 'zzz' (keys of a scene: name, source, planar"},
    {BALL SIM "<<: 1\n", BAD, 3, 1, "unknown key '<<'"},
    {BALL SIM "compliance: {young: 1e10}\n", BAD, 3, 13, "the compliance lacks the key 'spacing'"},
    {BALL SIM "compliance: {young: 1, spacing: 1, elements: 1.5}\n", BAD, 3, 46, "a whole number from 1 to 64"},
    {BALL SIM "compliance: {young: 1, spacing: 1, poisson: 0.6}\n", BAD, 3, 45, "above -1 and at most 0.5"},
    {BALL SIM "compliance: {young: 1, spacing: 1, stiffness: [1, 1]}\n", BAD, 3, 21, "either 'young' or 'stiffness'"},
    {BALL SIM "compliance: {elements: 1, stiffness: [1, 2, 3]}\n", BAD, 3, 38, "two numbers (normal, tangential)"},
    {BALL SIM "compliance: {young: 1, spacing: 1, damping: none}\n", BAD, 3, 45, "unknown damping law 'none'"},
    {BALL SIM "boundary: []\n", BAD, 3, 11, "at least one condition"},
    {BALL SIM "boundary: [final(a.x)]\n", BAD, 3, 12, "expected an equation"},
    {BALL SIM "boundary: [final(a.x)^2 = 1]\n", BAD, 3, 12, "must be linear"},
    {BALL SIM "boundary: [final(b.x) = 1]\n", BAD, 3, 12, "no body is named 'b'"},
    {BALL SIM "boundary: [final(a.q) = 1]\n", BAD, 3, 12, "has no coordinate 'q'"},
    {BALL SIM "boundary: [initial(a.x) = 1]\n", BAD, 3, 12, "the initial positions are given"},
    {BALL SIM "boundary: [1 = 1]\n", BAD, 3, 12, "mentions neither"},
    {BALL SIM "boundary: [final(a.x) = 1]\n", BAD, 3, 11, "6 unknown velocities need at least as many"},
    {BALL SIM "boundary: {conditions: [final(a.x) = 1], continuation: {parameter: k, from: 1}}\n", BAD, 3, 68,
     "no parameter 'k'"},
    {BALL SIM "boundary: [abs(final(a.x)) = 1]\n", BAD, 3, 12, "must be linear"},
    {BALL SIM "boundary: [final(a.x) = 1/0]\n", BAD, 3, 12, "it has a value that is not finite"},
    {BALL SIM "boundary: {unknown: [], conditions: [final(a.x) = 1]}\n", BAD, 3, 21, "at least one unknown"},
    {BALL SIM "boundary: {unknown: [a.vx, a.vx], conditions: [final(a.x) = 1]}\n", BAD, 3, 28,
     "'a.vx' is listed twice"},
    {BALL SIM "boundary: {conditions: [final(a.x) = 1], segments: 0}\n", BAD, 3, 52,
     "'segments' must be a whole number"},
    {BALL SIM "boundary: {conditions: [final(a.x) = 1], sensitivities: good}\n", BAD, 3, 57,
     "unknown sensitivities 'good' (one of differences, exact)"},
    {BALL SIM "start: [{body: world}]\n", BAD, 3, 9, "the world does not move"},
    {BALL SIM "name: [1]\n", BAD, 3, 7, "'name' must be a text, not a list"},
    {BALL SIM "planar: xq\n", BAD, 3, 9, "unknown plane 'xq'"},
    {BALL SIM "planar: [x, y]\n", BAD, 3, 9, "expected a plane (one of xy, xz, yz), not a list"},
    {BALL SIM "gravity: 9.81\n", BAD, 3, 10, "'gravity' must be a list of 3 numbers, not a single value"},
    {BALL SIM "gravity: [0, -9.81]\n", BAD, 3, 10, "'gravity' must be a list of 3 numbers, not 2"},
    {BALL SIM "gravity: [0, 0, .inf]\n", BAD, 3, 17, "expected a finite number"},
    {BALL SIM "gravity: [0, 0, x]\n", BAD, 3, 17, "unknown name 'x' (no parameters are declared)"},
    {BALL SIM "gravity: [0, 0, atan2(1, 2)]\n", BAD, 3, 10, "must be a list of 3 numbers, not 4"},
    {BALL SIM "gravity: [0, atan2(1, 2)]\n", BAD, 3, 19, "must be quoted"},
    {BALL SIM "gravity: [0, 0, 'atan2(1, q)']\n", BAD, 3, 27, "unknown name 'q'"},
    {BALL SIM "gravity: [0, 0, {a: 1}]\n", BAD, 3, 17, "'gravity' must be a number, not a mapping"},
    {BALL SIM "gravity: [0, 0, ~]\n", BAD, 3, 17, "expected a number"},
    {BALL SIM "gravity: [0, 0, '']\n", BAD, 3, 17, "'gravity' must be a number, not empty"},
    {BALL SIM "gravity: [0, 0, 1/0]\n", BAD, 3, 17, "not finite"},
    {BALL SIM "parameters: [1]\n", BAD, 3, 13, "'parameters' must be a mapping of names and numbers"},
    {BALL SIM "parameters: {a: 1, b: 2*c}\n", BAD, 3, 25, "unknown name 'c' (declared parameters: a)"},
    {BALL SIM "parameters: {b: a, a: 1}\n", BAD, 3, 17, "parameter 'b' uses 'a', which is declared after it"},
    {BALL SIM "parameters: {2a: 1}\n", BAD, 3, 14, "must consist of letters"},
    {BALL SIM "parameters: {sin: 1}\n", BAD, 3, 14, "'sin' has a meaning in expressions"},
    {BALL SIM "parameters: {a: [1]}\n", BAD, 3, 17, "'a' must be a number, not a list"},
    {BALL SIM "world: []\n", BAD, 3, 8, "expected a mapping with the keys of a world (shapes)"},
    {BALL SIM "world: {shapes: {}}\n", BAD, 3, 17, "'shapes' must be a list of shapes"},
};

static const row material_rows[] = {
    {BALL SIM "materials: {}\n", BAD, 3, 12, "'materials' must be a list of materials, not a mapping"},
    {BALL SIM "materials: [ice]\n", BAD, 3, 13, "expected a mapping with the keys of a material"},
    {BALL SIM "materials: [{friction: 1}]\n", BAD, 3, 13, "the material lacks the key 'name'"},
    {BALL SIM "materials: [{name: ''}]\n", BAD, 3, 20, "'name' must not be empty"},
    {BALL SIM "materials:\n  - name: ice\n    frictoin: 1\n", BAD, 5, 5,
     "unknown key 'frictoin'; did you mean 'friction'?"},
    {BALL SIM "materials: [{name: ice, friction: -0.1}]\n", BAD, 3, 35, "'friction' must not be negative, but is -0.1"},
    {BALL SIM "materials: [{name: ice, restitution: 1.5}]\n", BAD, 3, 38, "'restitution' must be between 0 and 1"},
    {BALL SIM "materials: [{name: ice, restitution: -1}]\n", BAD, 3, 38, "'restitution' must be between 0 and 1"},
    {BALL SIM "materials: [{name: ice}, {name: ice}]\n", BAD, 3, 33, "the material 'ice' is defined twice"},
    {BALL SIM "materials: [{name: default}, {name: default}]\n", BAD, 3, 37, "the material 'default' is defined twice"},
    {BALL SIM "materials: [{name: ice, compliance: {poisson: 0}}]\n", BAD, 3, 37, "lacks the key 'young'"},
    {BALL SIM "materials: [{name: ice, compliance: {young: 1, stiffness: [1, 1]}}]\n", BAD, 3, 45, "either 'young' or"},
    {BALL SIM "materials: [{name: ice, compliance: {stiffness: [1, 0]}}]\n", BAD, 3, 53, "must be positive"},
    {BALL SIM "materials: [{name: ice, compliance: {stiffness: [1, 1, 1]}}]\n", BAD, 3, 49, "two numbers (normal"},
    {BALL SIM "materials: [{name: ice, compliance: {stiffness: [1, 1], poisson: 0}}]\n", BAD, 3, 66, "needs 'young'"},
    {BALL SIM "contacts: [{between: [a, world], compliance: {}}]\n", BAD, 3, 46, "says nothing"},
    {BALL SIM "contacts: [{between: [a, world], compliance: {stifness: [1, 1]}}]\n", BAD, 3, 47,
     "did you mean 'stiffness'"},
    {BALL SIM "contacts: [{between: [a, world], compliance: {stiffness: [[1, 0], [0, 1]]}}]\n", BAD, 3, 58,
     "a matrix of 3 rows, not 2"},
    {BALL SIM "contacts: [{between: [a, world], compliance: {elements: 3, damping: [1, -1]}}]\n", BAD, 3, 73,
     "must not be negative"},
    {BALL SIM "contacts: [{between: [a, ice], friction: 1}]\n", BAD, 3, 26, "'ice' is neither a body nor a material"},
    {BALL SIM "contacts: [{between: [a], friction: 1}]\n", BAD, 3, 22, "two names"},
    {BALL SIM "contacts: [{between: a, friction: 1}]\n", BAD, 3, 22, "'between' must be a list"},
    {BALL SIM "contacts: [{between: [a, a], friction: 1}]\n", BAD, 3, 26, "the same body twice"},
    {BALL SIM "contacts: [{between: [a, world]}]\n", BAD, 3, 12, "says nothing"},
    {BALL SIM "contacts: [{between: [a, world], friction: 1, axis: x}]\n", BAD, 3, 53, "'axis' needs 'friction'"},
    {BALL SIM "contacts: [{between: [a, world], friction_across: 1, axis: x}]\n", BAD, 3, 60,
     "'axis' needs 'friction'"},
    {BALL SIM "contacts: [{between: [a, world], friction: 1, friction_across: 1}]\n", BAD, 3, 64, "needs 'axis'"},
    {BALL SIM "contacts: [{between: [a, world], friction: 1, polygon: turning, axis: x}]\n", BAD, 3, 71,
     "or 'polygon: fixed'"},
    {BALL SIM "contacts: [{between: [a, world], polygon: fixd}]\n", BAD, 3, 43, "did you mean 'fixed'?"},
    {BALL SIM "contacts: [{between: [default, default], friction: 1, friction_across: 1, axis: x}]\n", BAD, 3, 81,
     "must differ from the second"},
    {BALL SIM "contacts: [{between: [a, world], friction: {}}]\n", BAD, 3, 44, "lacks the key 'generators'"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generators: 1}}]\n", BAD, 3, 57, "a list of generators"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generators: []}}]\n", BAD, 3, 57, "1 to 1000 generators"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generators: [1]}}]\n", BAD, 3, 58, "a list of numbers"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generators: [[1], []]}}]\n", BAD, 3, 63,
     "one to five numbers"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generators: [[1, x]]}}]\n", BAD, 3, 62, "x"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generators: [[0, 0, 0]]}}]\n", BAD, 3, 58,
     "must not be zero"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generators: [[1]]}, torsion: 1}]\n", BAD, 3, 74,
     "'torsion' has no place beside generators"},
    {BALL SIM "contacts: [{between: [a, world], friction: {generator: [[1]]}}]\n", BAD, 3, 45,
     "did you mean 'generators'?"},
    {"planar: xy\n" BALL SIM "contacts: [{between: [a, world], friction: {generators: [[1, 1]]}}]\n", BAD, 4, 62,
     "planar scenes have the tangent d1"},
    {BALL SIM "contacts: [{between: [a, world], rolling: -1}]\n", BAD, 3, 43, "'rolling' must not be negative"},
    {"planar: xy\n" BALL SIM "contacts: [{between: [a, world], friction: 1, friction_across: 1, axis: x}]\n", BAD, 4,
     73, "'axis' is for spatial scenes"},
    {BALL SIM "contacts: [{between: [a, world], collide: maybe}]\n", BAD, 3, 43, "'collide' must be true or false"},
    {BALL SIM "materials: [{name: a}]\ncontacts: [{between: [a, world], friction: 0}]\n", BAD, 4, 23,
     "both a body and a material"},
};

/* Words of other programs point to ours. */
static const row foreign_rows[] = {
    {JOINT("type: hinge, between: [ann, bert], at: [0, 0, 0], axis: z"), BAD, 3, 17, "'hinge': write 'revolute'"},
    {JOINT("type: slider, between: [ann, bert], axis: z"), BAD, 3, 17, "'slider': write 'prismatic'"},
    {JOINT("type: fixed, between: [ground, bert], at: [0, 0, 0]"), BAD, 3, 34, "'ground': write 'world'"},
    {JOINT("type: fixed, between: [static, bert], at: [0, 0, 0]"), BAD, 3, 34, "'static': write 'world'"},
    {JOINT("type: fixed, parent: ann, child: bert"), BAD, 3, 24, "'parent': write 'between': [parent, child]"},
    {SHAPE("type: plane"), BAD, 1, 45, "'plane': write 'half-space'"},
    {SHAPE("type: cube"), BAD, 1, 45, "'cube': write 'box'"},
    {FORCE("type: force, on: ann"), BAD, 3, 17, "'force': write 'applied'"},
    {"bodies: [{name: a, mass: 1, static: true}]\n" SIM, BAD, 1, 29, "what does not move is no body"},
    {BALL SIM "ground: 0\n", BAD, 3, 1, "'ground': write world: {shapes:"},
    {"<robot name=\"arm\"/>\n", BAD, 1, 1, "this is XML, not a scene; stickslip import"},
    {BALL "simulation: {dt: 0.1, duration: 1}\n", BAD, 2, 14, "'dt': write 'step'"},
    {SHAPE("type: sphere, diameter: 1"), BAD, 1, 53, "'diameter': write 'radius'"},
    {SHAPE("type: box, half_extents: [1, 1, 1]"), BAD, 1, 50, "'half_extents': write 'size': full edge lengths"},
    {BALL SIM "name: x\nsource y\nplanar: xy\n", BAD, 5, 1, "a simple key that begins in line 4, could not find"},
    {BALL SIM "forces: [{type: applied, on: a, force: [0, 0, 0], at: [-10*a.x, 0, 0]}]\n", BAD, 3, 60,
     "'a.x' is part of the state, which only applied forces and torques, motors and outputs can use"},
    {"bodies: [{name: a, mass: 1, position: [t, 0, 0]}]\n" SIM, BAD, 1, 40, "'t' (time) can only be used in applied"},
    {BALL "simulation: {scheme: rk4, step: 0.1, duration: 1}\n", BAD, 2, 22,
     "unknown scheme 'rk4': write 'trapezoidal'"},
    {BALL "simulation: {solver: pgs, step: 0.1, duration: 1}\n", BAD, 2, 22, "unknown solver 'pgs': write 'nsgs'"},
    {BALL "simulation: {steps: 100, step: 0.1, duration: 1}\n", BAD, 2, 14, "'steps': write 'duration'"},
    {BALL SIM "plane: 0\n", BAD, 3, 1, "'plane': write world: {shapes:"},
    {BALL SIM "step: 0.1\n", BAD, 3, 1, "'step': write 'simulation': {step: ...}"},
    {BALL SIM "dimension: 2\n", BAD, 3, 1, "'dimension': write 'planar': xy"},
    {"bodies: [{name: a, mass: 1, linear_velocity: [1, 0, 0]}]\n" SIM, BAD, 1, 29, "write 'velocity'"},
    {"bodies: [{name: a, mass: 1, friction: 0.3}]\n" SIM, BAD, 1, 29, "write it in a material"},
    {FORCE("type: motor, on: ann"), BAD, 3, 17, "'motor': write the key 'motor' of a joint"},
    {SHAPE("type: pill"), BAD, 1, 45, "'pill': write 'capsule'"},
    {JOINT("type: rotary, between: [ann, bert]"), BAD, 3, 17, "'rotary': write 'revolute'"},
    {FORCE("type: applied, on: ann, force: [ann, 0, 0]"), BAD, 3, 43, "'ann' is a body: write ann.x or another of x y"},
    {FORCE("type: applied, on: ann, force: [time, 0, 0]"), BAD, 3, 43, "time is 't'"},
    {BALL SIM "inputs: {grip: 1}\nforces: [{type: applied, on: a, force: [gripp, 0, 0]}]\n", BAD, 4, 41,
     "unknown name 'gripp'; did you mean 'grip'?"},
};

static const row body_rows[] = {
    {"bodies: {}\n" SIM, BAD, 1, 9, "'bodies' must be a list of bodies, not a mapping"},
    {"bodies:\n" SIM, BAD, 1, 8, "'bodies' must be a list of bodies, not a single value"},
    {"bodies: []\n" SIM, BAD, 1, 9, "expected at least one body"},
    {"bodies: [{mass: 1}]\n" SIM, BAD, 1, 10, "the body lacks the key 'name'"},
    {"bodies: [{name: a}]\n" SIM, BAD, 1, 10, "the body 'a' lacks 'mass'"},
    {"bodies: [{name: a, mass: 0}]\n" SIM, BAD, 1, 26, "'mass' must be positive, not 0"},
    {"bodies: [{name: a, mass: -1}]\n" SIM, BAD, 1, 26, "'mass' must be positive, not -1"},
    {"bodies: [{name: a, mass: nan}]\n" SIM, BAD, 1, 26, "expected a finite number, not 'nan'"},
    {"bodies: [{name: a, mass: heavy}]\n" SIM, BAD, 1, 26, "unknown name 'heavy'"},
    {"bodies: [{name: a, mass: [1]}]\n" SIM, BAD, 1, 26, "'mass' must be a number, not a list"},
    {"bodies: [{name: a, mass: 3 kg}]\n" SIM, BAD, 1, 28, "unexpected 'kg' after the expression"},
    {"bodies: [{name: a, density: -1, shapes: []}]\n" SIM, BAD, 1, 29, "'density' must be positive"},
    {"bodies: [{name: a, density: 1, shapes: [{type: point}]}]\n" SIM, BAD, 1, 29, "shapes that have a volume"},
    {"bodies: [{name: a, density: 1}]\n" SIM, BAD, 1, 29, "shapes that have a volume"},
    {BODY("density: 1"), BAD, 1, 38, "either 'mass' or 'density', not both"},
    {"bodies: [{name: world, mass: 1}]\n" SIM, BAD, 1, 17, "cannot be named 'world'"},
    {"bodies:\n  - {name: a, mass: 1}\n  - {name: b, mass: 1}\n  - {name: a, mass: 1}\n" SIM, BAD, 4, 12,
     "the body name 'a' is given twice (first in line 2)"},
    {BODY("inertia: 1"), BAD, 1, 38, "a single number is for planar scenes"},
    {BODY("inertia: [1, 2]"), BAD, 1, 38, "[Ixx, Iyy, Izz]"},
    {BODY("inertia: [1, 2, y]"), BAD, 1, 45, "unknown name 'y'"},
    {PLANAR BODY("inertia: -1"), BAD, 2, 38, "'inertia' must be positive"},
    {BODY("freedom: x"), BAD, 1, 38, "'freedom' must be a list of x, y, z, rx, ry, rz"},
    {BODY("freedom: [x, w]"), BAD, 1, 42, "unknown freedom 'w' (one of x, y, z, rx, ry, rz)"},
    {BODY("freedom: [x, x]"), BAD, 1, 42, "listed twice"},
    {PLANAR BODY("freedom: [x, z]"), BAD, 2, 42, "the freedom 'z' leads out of the scene's plane"},
    {BODY("position: [1, 2]"), BAD, 1, 39, "'position' must be a list of 3 numbers, not 2"},
    {PLANAR BODY("position: [1]"), BAD, 2, 39, "'position' must be a list of 2 or 3 numbers, not 1"},
    {BODY("orientation: 30 deg"), BAD, 1, 42, "a single angle is for planar scenes"},
    {BODY("orientation: [1, 0, 0]"), BAD, 1, 42, "a quaternion [w, x, y, z], not 3 numbers"},
    {BODY("orientation: [0, 0, 0, 0]"), BAD, 1, 42, "zero quaternion"},
    {BODY("orientation: {axis: x}"), BAD, 1, 42, "either 'axis' and 'angle', or 'rpy'"},
    {BODY("orientation: {axis: x, angle: 1, rpy: [0, 0, 0]}"), BAD, 1, 42, "either 'axis' and 'angle', or 'rpy'"},
    {BODY("orientation: {axis: [0, 0, 0], angle: 1}"), BAD, 1, 49, "nonzero"},
    {BODY("orientation: {axes: x, angle: 1}"), BAD, 1, 43, "unknown key 'axes'; did you mean 'axis'?"},
    {PLANAR BODY("orientation: {axis: x, angle: 1}"), BAD, 2, 42, "out of the scene's plane"},
    {PLANAR BODY("velocity: [0, 0, 1]"), BAD, 2, 39, "'velocity' moves the body along z"},
    {BODY("freedom: [x], velocity: [0, 1, 0]"), BAD, 1, 53, "'velocity' moves the body along y"},
    {BODY("freedom: [x, rz], angular_velocity: [0, 1, 0]"), BAD, 1, 65, "turns the body about its y axis"},
    {BODY("angular_velocity: 4"), BAD, 1, 47, "a single one is for planar scenes"},
    {BODY("shapes: {type: point}"), BAD, 1, 37, "'shapes' must be a list of shapes"},
};

static const row shape_rows[] = {
    {SHAPE("radius: 1"), BAD, 1, 38, "the shape lacks the key 'type' (one of point, sphere"},
    {SHAPE("type: shpere, radius: 1"), BAD, 1, 45, "unknown shape type 'shpere'; did you mean 'sphere'?"},
    {SHAPE("type: sphere"), BAD, 1, 38, "the sphere shape lacks the key 'radius'"},
    {SHAPE("type: sphere, radius: -1"), BAD, 1, 61, "'radius' must be positive, not -1"},
    {SHAPE("type: sphere, radius: 1, size: [1, 1, 1]"), BAD, 1, 64, "'size' does not belong to a sphere shape"},
    {SHAPE("type: sphere, radios: 1"), BAD, 1, 53, "unknown key 'radios'; did you mean 'radius'?"},
    {SHAPE("type: box, size: 1"), BAD, 1, 56, "'size' must be a list of 3 numbers"},
    {SHAPE("type: box, size: [1, 0, 1]"), BAD, 1, 60, "'size' must be positive, not 0"},
    {SHAPE("type: capsule, radius: 1"), BAD, 1, 38, "the capsule shape lacks the key 'length'"},
    {SHAPE("type: capsule, radius: 1, length: 1, axis: w"), BAD, 1, 82, "unknown axis 'w' (one of x, y, z)"},
    {SHAPE("type: half-space, offset: 1"), BAD, 1, 38, "the half-space shape lacks the key 'normal'"},
    {SHAPE("type: half-space, normal: [0, 0, 0]"), BAD, 1, 65, "'normal' must be a direction"},
    {SHAPE("type: point, material: ice"), BAD, 1, 62, "unknown material 'ice' (defined: default)"},
    {SHAPE("type: point, material: defualt"), BAD, 1, 62, "did you mean 'default'?"},
    {SHAPE("type: ellipsoid, semi_axes: [1, 1, 1], radius: 1"), BAD, 1, 78, "does not belong to an ellipsoid shape"},
    {SHAPE("type: ellipsoid"), BAD, 1, 38, "lacks the key 'semi_axes'"},
    {SHAPE("type: ellipse, semi_axes: [1, 2]"), BAD, 1, 65, "belongs to planar scenes"},
    {SHAPE("type: cylinder, radius: 1"), BAD, 1, 38, "lacks the key 'length'"},
    {SHAPE("type: convex"), BAD, 1, 38, "a convex shape needs 'points' or 'file'"},
    {SHAPE("type: convex, file: none.obj"), BAD, 1, 59, "'none.obj': cannot read the file: No such file"},
    {SHAPE("type: convex, file: none.png"), BAD, 1, 59, "'none.png': mesh files end in .obj or .stl"},
    {SHAPE("type: convex, points: [[0, 0, 0]], corners: 2.5"), BAD, 1, 61, "at least 4 points"},
    {SHAPE("type: convex, file: x.obj, corners: 2.5"), BAD, 1, 75, "a whole number from 8 to 200, not 2.5"},
    {SHAPE("type: convex, file: x.obj, scale: 0"), BAD, 1, 73, "'scale' must not be zero"},
    {SHAPE("type: convex, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]"), BAD, 1, 61, "at least 4 points, not 3"},
    {SHAPE("type: convex, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, x]]"), BAD, 1, 102, "'x'"},
    {SHAPE("type: height-field"), BAD, 1, 38, "lacks the key 'spacing'"},
    {SHAPE("type: height-field, spacing: 1"), BAD, 1, 38, "needs 'heights' or 'file'"},
    {SHAPE("type: height-field, spacing: 0, heights: [[0, 0], [0, 0]]"), BAD, 1, 68, "'spacing' must be positive"},
    {SHAPE("type: height-field, spacing: 1, heights: [[0, 0], [0]]"), BAD, 1, 89, "this row has 1 numbers"},
    {SHAPE("type: mesh"), BAD, 1, 38, "needs 'vertices' and 'triangles', or 'file'"},
    {SHAPE("type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]"), BAD, 1, 38, "belong together"},
    {SHAPE("type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles: [[0, 1, 3]]"), BAD, 1, 108, "not 3"},
    {SHAPE("type: mesh, file: x.obj, heights: [[1]]"), BAD, 1, 64, "'heights' does not belong to a mesh shape"},
    {SHAPE("type: [box]"), BAD, 1, 45, "expected a shape type"},
};

static const row joint_rows[] = {
    {PAIR SIM "joints: 1\n", BAD, 3, 9, "'joints' must be a list of joints"},
    {PAIR SIM "joints: [1]\n", BAD, 3, 10, "expected a mapping that describes a joint"},
    {JOINT("type: hinge, between: [ann, bert]"), BAD, 3, 17, "unknown joint type 'hinge': write 'revolute'"},
    {JOINT("type: fixed"), BAD, 3, 10, "the fixed joint lacks the key 'between'"},
    {JOINT("type: fixed, between: ann"), BAD, 3, 33, "'between' must be a list of two names of bodies"},
    {JOINT("type: fixed, between: [ann]"), BAD, 3, 33, "two names of bodies, not 1"},
    {JOINT("type: fixed, between: [ann, brt]"), BAD, 3, 39, "unknown body 'brt'; did you mean 'bert'?"},
    {JOINT("type: fixed, between: [ann, zzzzzz]"), BAD, 3, 39, "unknown body 'zzzzzz' (bodies: world, ann, bert)"},
    {JOINT("type: fixed, between: [ann, ann]"), BAD, 3, 39, "names the same body twice"},
    {JOINT("type: fixed, between: [world, world]"), BAD, 3, 41, "names the same body twice"},
    {JOINT("type: revolute, between: [ann, bert], axis: z"), BAD, 3, 10, "the revolute joint lacks 'at'"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0]"), BAD, 3, 10, "lacks the key 'axis'"},
    {JOINT("type: prismatic, between: [ann, bert]"), BAD, 3, 10, "the prismatic joint lacks the key 'axis'"},
    {JOINT("type: spherical, between: [ann, bert], at: [0, 0, 0], anchors: [[0, 0, 0], [0, 0, 0]]"), BAD, 3, 74,
     "either 'at' or 'anchors', not both"},
    {JOINT("type: spherical, between: [ann, bert], anchors: [[0, 0, 0]]"), BAD, 3, 59,
     "two points, one per body, not 1"},
    {JOINT("type: spherical, between: [ann, bert], at: [0, 0, 0], axis: x"), BAD, 3, 65,
     "'axis' does not belong to a spherical joint"},
    {JOINT("type: distance, between: [ann, bert], at: [0, 0, 0]"), BAD, 3, 49, "'at' does not belong to a distance"},
    {JOINT("type: distance, between: [ann, bert], length: -1"), BAD, 3, 57, "'length' must be positive"},
    {PLANAR JOINT("type: revolute, between: [ann, bert], at: [0, 0], axis: x"), BAD, 4, 67, "the plane's normal"},
    {PLANAR JOINT("type: prismatic, between: [ann, bert], axis: z"), BAD, 4, 56, "must lie in the plane"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, limits: [1, -1]"), BAD, 3, 81,
     "the lower limit must be below"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, limits: 1"), BAD, 3, 81,
     "'limits' must be a list of numbers"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, limits: [1, 2, 3]"), BAD, 3, 81,
     "list of 2 numbers, not 3"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, motor: {speed: 2}"), BAD, 3, 80,
     "lacks the key 'torque'"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, motor: {torque: 2}"), BAD, 3, 80,
     "lacks the key 'speed'"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, motor: {speed: 2, force: 1}"), BAD, 3, 91,
     "'force' does not belong to a revolute motor"},
    {JOINT("type: revolute, between: [ann, bert], at: [0, 0, 0], axis: z, motor: {speed: 2, torque: -1}"), BAD, 3, 99,
     "must not be negative"},
    {JOINT("type: fixed, between: [ann, bert], limits: [0, 1]"), BAD, 3, 46, "does not belong to a fixed joint"},
    {JOINT("type: distance, between: [ann, bert], length: 1, limits: [0, 1]"), BAD, 3, 68, "either 'length' or"},
    {JOINT("type: cylindrical, between: [ann, bert], at: [0, 0, 0]"), BAD, 3, 10, "lacks the key 'axis'"},
    {JOINT("type: universal, between: [ann, bert], at: [0, 0, 0]"), BAD, 3, 10, "lacks the key 'axes'"},
    {JOINT("type: universal, between: [ann, bert], at: [0, 0, 0], axes: [x]"), BAD, 3, 71, "one per body, not 1"},
    {JOINT("type: planar, between: [ann, bert]"), BAD, 3, 10, "lacks the key 'normal'"},
    {JOINT("type: point-on-line, between: [ann, bert]"), BAD, 3, 10, "lacks the key 'axis'"},
    {JOINT("type: gear, between: [ann, bert]"), BAD, 3, 10, "either 'radii' or 'ratio'"},
    {JOINT("type: gear, between: [ann, bert], radii: [1, 1]"), BAD, 3, 10, "lacks the key 'axis'"},
    {JOINT("type: gear, between: [ann, bert], radii: [1, 1], axes: [x, y]"), BAD, 3, 66, "has one 'axis'"},
    {JOINT("type: gear, between: [ann, bert], ratio: 1, axis: x, axes: [x, y]"), BAD, 3, 70, "not both"},
    {JOINT("type: screw, between: [ann, bert], at: [0, 0, 0], axis: x"), BAD, 3, 10, "lacks the key 'pitch'"},
    {JOINT("type: rolling, between: [world, ann], radius: 1"), BAD, 3, 10, "lacks the key 'normal'"},
    {JOINT("type: rolling, between: [world, ann], normal: z"), BAD, 3, 10, "lacks the key 'radius'"},
    {JOINT("type: knife-edge, between: [world, ann], normal: z"), BAD, 3, 10, "lacks the key 'blade'"},
    {PLANAR JOINT("type: knife-edge, between: [world, ann], blade: z"), BAD, 4, 59, "must lie in the plane"},
    {PLANAR JOINT("type: rolling, between: [world, ann], radius: 1, normal: z"), BAD, 4, 68, "lie in the plane"},
};

static const row force_rows[] = {
    {FORCE("type: sprng, between: [ann, bert]"), BAD, 3, 17, "unknown force type 'sprng'; did you mean 'spring'?"},
    {FORCE("type: spring, between: [ann, bert]"), BAD, 3, 10, "the spring force lacks the key 'stiffness'"},
    {FORCE("type: spring, between: [ann, bert], stiffness: -5"), BAD, 3, 58, "'stiffness' must not be negative"},
    {FORCE("type: spring, between: [ann, bert], stiffness: 5, rest_length: -1"), BAD, 3, 74, "must not be negative"},
    {FORCE("type: spring, between: [ann, bert], stiffness: 5, damping: 1"), BAD, 3, 61,
     "'damping' does not belong to a spring force"},
    {FORCE("type: damper, between: [ann, bert], damping: -1"), BAD, 3, 56, "'damping' must not be negative"},
    {FORCE("type: damper, between: [ann, bert], damping: t"), BAD, 3, 56, "'t' (time) can only be used in applied"},
    {FORCE("type: spring-damper, between: [ann, bert], stiffness: 1"), BAD, 3, 10, "lacks the key 'damping'"},
    {FORCE("type: spring, between: [ann, bert], stiffness: 5, jacobian: good"), BAD, 3, 71, "unknown jacobian 'good'"},
    {FORCE("type: applied, force: [1, 0, 0]"), BAD, 3, 10, "the applied force lacks the key 'on'"},
    {FORCE("type: applied, on: ann"), BAD, 3, 10, "lacks 'force' or 'torque'"},
    {FORCE("type: applied, on: world, force: [1, 0, 0]"), BAD, 3, 30, "a force on the world"},
    {FORCE("type: applied, on: ann, force: [sin(t), 2*tt, 0]"), BAD, 3, 53, "unknown name 'tt'"},
    {FORCE("type: applied, on: ann, force: [1/0, 0, 0]"), BAD, 3, 43, "not finite"},
    {FORCE("type: applied, on: ann, force: [[1], 0, 0]"), BAD, 3, 43, "must be a number or an expression, not a list"},
    {FORCE("type: applied, on: ann, force: 1"), BAD, 3, 42, "'force' must be a list of 3 numbers"},
    {FORCE("type: applied, on: ann, torque: 1"), BAD, 3, 43, "'torque' must be a list of 3"},
};

static const row simulation_rows[] = {
    {BALL "simulation: {step: 0.1}\n", BAD, 2, 13, "the simulation lacks the key 'duration'"},
    {BALL "simulation: {duration: 1}\n", BAD, 2, 13, "the simulation lacks the key 'step'"},
    {BALL "simulation: {duration: 1, step: 0.1, tolerance: 1e-4}\n", BAD, 2, 49, "exclude each other"},
    {BALL "simulation: {duration: 1, step: 0.1, largest_step: 0.2}\n", BAD, 2, 52, "belongs to 'tolerance'"},
    {BALL "simulation: {duration: 1, scheme: compliant, tolerance: 0.1}\n", BAD, 2, 57, "needs a fixed 'step'"},
    {BALL "simulation: {duration: 1, step: 0.1, estimate: pair}\n", BAD, 2, 48, "belongs to 'tolerance'"},
    {BALL "simulation: {duration: 1, tolerance: 0.1, estimate: thirds}\n", BAD, 2, 53, "unknown estimate 'thirds'"},
    {BALL "simulation: {duration: 1, tolerance: 0}\n", BAD, 2, 38, "'tolerance' must be positive"},
    {BALL "simulation: {duration: 1, step: 0}\n", BAD, 2, 33, "'step' must be positive, not 0"},
    {SIMULATION("duration: -1"), BAD, 2, 35, "'duration' must be positive, not -1"},
    {SIMULATION("duration: 1, scheme: trapezoid"), BAD, 2, 46,
     "unknown scheme 'trapezoid'; did you mean 'trapezoidal'? (one of stewart-trinkle"},
    {SIMULATION("duration: 1, scheme: moreau, theta: 0"), BAD, 2, 61, "'theta' belongs to the scheme"},
    {SIMULATION("duration: 1, scheme: [moreau]"), BAD, 2, 46, "'scheme' must be a text"},
    {SIMULATION("duration: 1, scheme: gavrea, gamma: 1"), BAD, 2, 13, "'gavrea' needs the key 'alpha'"},
    {SIMULATION("duration: 1, scheme: gavrea, alpha: 1"), BAD, 2, 13, "'gavrea' needs the key 'gamma'"},
    {SIMULATION("duration: 1, scheme: gavrea, alpha: 0, gamma: 1"), BAD, 2, 61,
     "'alpha' must be above 0 and at most 1"},
    {SIMULATION("duration: 1, scheme: gavrea, alpha: 1, gamma: 2"), BAD, 2, 71, "'gamma' must be between 0 and 1"},
    {SIMULATION("duration: 1, scheme: moreau, alpha: 1"), BAD, 2, 61, "'alpha' belongs to the scheme 'gavrea'"},
    {SIMULATION("duration: 1, gamma: 1"), BAD, 2, 45, "'gamma' belongs to the scheme 'gavrea', not to 'trapezoidal'"},
    {SIMULATION("duration: 1, friction: 0.5"), BAD, 2, 48, "the keys of a friction (cone, directions, polygon)"},
    {SIMULATION("duration: 1, friction: {cone: round}"), BAD, 2, 55, "unknown cone 'round' (one of polyhedral"},
    {SIMULATION("duration: 1, friction: {directions: 5}"), BAD, 2, 61, "even number from 4 to 1024, not 5"},
    {SIMULATION("duration: 1, friction: {directions: 2}"), BAD, 2, 61, "even number"},
    {SIMULATION("duration: 1, friction: {directions: 4.5}"), BAD, 2, 61, "even number"},
    {SIMULATION("duration: 1, friction: {directions: 1e300}"), BAD, 2, 61, "even number"},
    {SIMULATION("duration: 1, friction: {cone: pyramid, directions: 8}"), BAD, 2, 76, "polyhedral cone only"},
    {SIMULATION("duration: 1, friction: {cone: quadratic, polygon: fixed}"), BAD, 2, 75, "a disc has no corners"},
    {SIMULATION("duration: 1, restitution: 0.5"), BAD, 2, 51, "unknown restitution law '0.5' (one of poisson, newton)"},
    {SIMULATION("duration: 1, events: collision"), BAD, 2, 46, "'events' must be a list"},
    {SIMULATION("duration: 1, events: [colision]"), BAD, 2, 47, "did you mean 'collision'?"},
    {SIMULATION("duration: 1, stabilization: baumgarte"), BAD, 2, 53, "unknown stabilization 'baumgarte'"},
    {SIMULATION("duration: 1, solver: magic"), BAD, 2, 46, "unknown solver 'magic' (one of auto, "},
    {SIMULATION("duration: 1, tolerance: 0"), BAD, 2, 49, "'tolerance' must be positive"},
    {SIMULATION("duration: 1, max_iter: 0"), BAD, 2, 38, "unknown key 'max_iter' (keys of a simulation: scheme"},
    {BALL "simulation: []\n", BAD, 2, 13, "expected a mapping with the keys of a simulation"},
};

static void check_rows(const row *rows, size_t count) {
  int wrong = 0;
  for (size_t i = 0; i < count; i++) {
    ss_scene *scene = NULL;
    ss_error error = {0};
    const ss_status status = ss_scene_parse(rows[i].text, strlen(rows[i].text), "scene.yaml", NULL, 0, &scene, &error);
    const bool right = status == rows[i].status && error.status == status && error.line == rows[i].line &&
                       error.column == rows[i].column && strcmp(error.file, "scene.yaml") == 0 &&
                       strstr(error.message, rows[i].message) && !scene;
    if (!right)
      print_error("%s\ngave     %d %s:%d:%d: %s\nexpected %d scene.yaml:%d:%d: %s\n\n", rows[i].text, status,
                  error.file, error.line, error.column, error.message, rows[i].status, rows[i].line, rows[i].column,
                  rows[i].message);
    wrong += !right;
    ss_scene_destroy(scene);
  }
  assert_int_equal(wrong, 0);
}

#define CHECK_ROWS(name)                                                                                               \
  static void name(void **state) {                                                                                     \
    (void)state;                                                                                                       \
    check_rows(name##_rows, sizeof name##_rows / sizeof name##_rows[0]);                                               \
  }
CHECK_ROWS(document)
CHECK_ROWS(top)
CHECK_ROWS(material)
CHECK_ROWS(foreign)
CHECK_ROWS(body)
CHECK_ROWS(shape)
CHECK_ROWS(joint)
CHECK_ROWS(force)
CHECK_ROWS(simulation)

static void settings(void **state) {
  (void)state;
  static const struct {
    const char *setting, *message;
  } rows[] = {{"L", "expected name=value"},
              {"=3", "expected name=value"},
              {"K=3", "setting 'K=3': the scene declares no such parameter (declared: L, mu)"},
              {"L=", "setting 'L=': expected a number"},
              {"L=two", "setting 'L=two': unknown name 'two'"},
              {"L=2*mu", "parameter 'L' uses 'mu', which is declared after it"},
              {"mu=1/0", "not finite"}};
  const char *text = "parameters: {L: 1, mu: 2}\n" BALL SIM;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ss_scene *scene = NULL;
    ss_error error = {0};
    assert_int_equal(ss_scene_parse(text, strlen(text), "s", &rows[i].setting, 1, &scene, &error), SS_ERROR_INPUT);
    assert_null(scene);
    if (!strstr(error.message, rows[i].message)) fail_msg("%s: %s", rows[i].setting, error.message);
  }
  ss_scene *scene = NULL;
  ss_error error = {0};
  const char *const setting = "L=1";
  assert_int_equal(ss_scene_parse(BALL SIM, strlen(BALL SIM), "s", &setting, 1, &scene, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "none are declared"));
  assert_int_equal(ss_scene_parse("x", 1, NULL, NULL, 0, &scene, NULL), SS_ERROR_INPUT); /* no error wanted */
}

/* Aliases count as often as they are used: nine levels of nine would be 400 million values. */
static void alias_bombs(void **state) {
  (void)state;
  char text[2000] = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i <= 9; i++) {
    const size_t at = strlen(text);
    const int p = i - 1;
    (void)snprintf(text + at, sizeof text - at, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
                   i, p, p, p, p, p, p, p, p, p);
  }
  ss_scene *scene = NULL;
  ss_error error = {0};
  assert_int_equal(ss_scene_parse(text, strlen(text), "s", NULL, 0, &scene, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "more than 4000000 values"));
}

/* Terminal escapes in scenes are refused, and do not reach messages. */
static void messages_are_printable(void **state) {
  (void)state;
  const char *text = "\"\\e[2Jx\\x9b\": 1\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  assert_int_equal(ss_scene_parse(text, strlen(text), "s", NULL, 0, &scene, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "control character (U+001B)"));
  assert_null(strchr(error.message, 0x1B));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(document), cmocka_unit_test(top),         cmocka_unit_test(material),
      cmocka_unit_test(foreign),  cmocka_unit_test(body),        cmocka_unit_test(shape),
      cmocka_unit_test(joint),    cmocka_unit_test(force),       cmocka_unit_test(simulation),
      cmocka_unit_test(settings), cmocka_unit_test(alias_bombs), cmocka_unit_test(messages_are_printable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
