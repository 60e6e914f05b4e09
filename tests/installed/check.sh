#!/bin/sh
# check.sh SOURCE_DIR BUILD_DIR: installs to a folder of its own, and builds and runs an example against what is there, by
# pkg-config and by CMake's find_package.
set -eu
source=$1 build=$2 prefix=$2/installed
example=$source/examples/complementarity.c
rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name stickslip.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # the flags are words
cc "$example" -o "$prefix/by-pkg-config" $(pkg-config --cflags --libs stickslip)
"$prefix/by-pkg-config"
cmake -S "$source/tests/installed" -B "$prefix/cmake" -DEXAMPLE="$example" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$prefix/cmake" >/dev/null
"$prefix/cmake/user"
"$prefix/bin/stickslip" --version
rm -rf "$prefix"
