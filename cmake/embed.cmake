# Turns a file into a C array: cmake -DINPUT=... -DOUTPUT=... -DNAME=... -P embed.cmake. No INPUT: an empty one.
if(INPUT)
  file(READ "${INPUT}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(....................................................................................................)" "\\1\n" bytes "${bytes}")
  file(SIZE "${INPUT}" size)
else()
  set(bytes "0")
  set(size 0)
endif()
file(WRITE "${OUTPUT}" "#include <stddef.h>
extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_size;
const unsigned char ${NAME}[] = {${bytes}};
const size_t ${NAME}_size = ${size};
")
