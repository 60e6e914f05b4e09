#!/bin/sh
# check.sh SOURCE_DIR BUILD_DIR: installs to a folder of its own, and builds and runs users against what is there: in C by pkg-config,
# shared and static; in C alone and in C++ alone by CMake's find_package; a Python package with a compiled extension. Headers must be
# clean by themselves, and the libraries must export nothing but ss_*.
set -eu
source=$1 build=$2 prefix=$2/installed here=$1/tests/installed
example=$source/examples/complementarity.c
rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name stickslip.pc)")
export PKG_CONFIG_PATH
libraries=$(dirname "$(find "$prefix" -name libstickslip.so)")

for library in "-D $libraries/libstickslip.so" "-g $libraries/libstickslip.a"; do
  # shellcheck disable=SC2086 # an option and a file
  for name in $(nm --defined-only $library | awk 'NF == 3 {print $3}'); do
    case $name in ss_*) ;; *) echo "exported, but not ss_*: $name"; exit 1 ;; esac
    grep -qw "$name" "$prefix"/include/stickslip/*.h || { echo "exported, but in no header: $name"; exit 1; }
  done
done
readelf -d "$libraries/libstickslip.so" | grep -q 'SONAME.*libstickslip\.so\.[0-9]'

for header in "$prefix"/include/stickslip/*.h; do
  for standard in c11 c17; do
    cc -std=$standard -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$prefix/include" -x c "$header"
  done
  ! command -v c++ >/dev/null || c++ -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$prefix/include" -x c++ "$header"
done

# shellcheck disable=SC2046 # the flags are words
cc "$example" -o "$prefix/shared" $(pkg-config --cflags --libs stickslip) -Wl,-rpath,"$libraries"
"$prefix/shared"
# shellcheck disable=SC2046
cc "$example" -o "$prefix/static" $(pkg-config --cflags stickslip) "$libraries/libstickslip.a" $(pkg-config --libs --static stickslip | sed 's/-lstickslip//')
"$prefix/static" >/dev/null
! readelf -d "$prefix/static" | grep -q 'NEEDED.*libstickslip'

by_cmake() { # name language source components
  cmake -S "$here" -B "$prefix/$1" -DUSER_LANGUAGE="$2" -DUSER_SOURCE="$3" -DUSER_COMPONENTS="$4" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$prefix/$1" >/dev/null
  "$prefix/$1/user"
}
by_cmake cmake-c C "$example" ""
by_cmake cmake-static C "$example" static >/dev/null
if command -v c++ >/dev/null; then by_cmake cmake-cxx CXX "$here/user.cpp" ""; else echo "no c++: the user in C++ is skipped"; fi

python=${PYTHON:-python3}
if include=$("$python" -c 'import os, sysconfig; p = sysconfig.get_paths()["include"]; print(p); assert os.path.exists(p + "/Python.h")' 2>/dev/null); then
  mkdir "$prefix/user_package"
  cp "$here/python_package/__init__.py" "$prefix/user_package"
  # shellcheck disable=SC2046
  cc -shared -fPIC -I"$include" "$here/python_package/native.c" -o "$prefix/user_package/native.so" \
    $(pkg-config --cflags --libs stickslip) -Wl,-rpath,"$libraries"
  PYTHONPATH=$prefix "$python" -c '
import user_package
text = "bodies: [{name: a, mass: 1, freedom: [z], position: [0, 0, 1]}]\nsimulation: {scheme: trapezoidal, step: 0.125, duration: 1}\n"
height = user_package.run(text)
assert abs(height - (1 - 9.81 / 2)) < 1e-12, height
try:
    user_package.run("bodies: 3")
except ValueError as error:
    print("Python:", height, "-", error)
else:
    raise SystemExit("a mistake was accepted")
'
else
  echo "no headers of $python: the Python package is skipped"
fi
"$prefix/bin/stickslip" --version
rm -rf "$prefix"
