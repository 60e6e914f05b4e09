# Writes OUTPUT, which says which sources, compiler and options a library was built from: a checkpoint belongs to one build.
# Called with SOURCE_DIR, COMPILER, FLAGS.
file(GLOB_RECURSE sources ${SOURCE_DIR}/src/*.c ${SOURCE_DIR}/src/*.h ${SOURCE_DIR}/include/*.h)
list(SORT sources)
set(all "${COMPILER} ${FLAGS}")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 16 id)
file(WRITE ${OUTPUT} "extern const char ss_build_id[];\nconst char ss_build_id[] = \"${id}\";\n")
