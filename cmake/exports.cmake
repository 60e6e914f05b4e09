# What the libraries export: the functions that the public headers declare. ${version_script} says so to the linker of the shared
# library, ${kept_symbols} to objcopy for the static one.
file(GLOB public_headers CONFIGURE_DEPENDS include/stickslip/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_headers})
foreach(header ${public_headers})
  file(STRINGS ${header} lines REGEX "ss_[a-z0-9_]+\\(")
  string(REGEX MATCHALL "ss_[a-z0-9_]+\\(" names "${lines}")
  list(APPEND public_names ${names})
endforeach()
list(TRANSFORM public_names REPLACE "\\(" "")
list(REMOVE_DUPLICATES public_names)
list(SORT public_names)

set(version_script ${CMAKE_BINARY_DIR}/exported/exports.map)
list(JOIN public_names "; " exported_names)
file(CONFIGURE OUTPUT ${version_script} CONTENT "{\n  global: @exported_names@;\n  local: *;\n};\n" @ONLY)
set(kept_symbols ${CMAKE_BINARY_DIR}/exported/symbols.txt)
list(JOIN public_names "\n" exported_names)
file(CONFIGURE OUTPUT ${kept_symbols} CONTENT "@exported_names@\n" @ONLY)
