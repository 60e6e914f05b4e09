#!/bin/sh
# run.sh SOURCE_DIR BUILD_DIR [PYTEST OPTIONS]: the tests of the Python package against the one in the build tree. Exit code 77: skipped.
set -eu
source=$1 build=$2
shift 2
python=python3
[ ! -x "$build/venv/bin/python" ] || python=$build/venv/bin/python
[ -e "$build/python/stickslip/_core.abi3.so" ] || { echo "the Python module is not built (no headers of Python?): skipped"; exit 77; }
if [ -n "${STICKSLIP_STRICT:-}" ] && ! "$python" -c 'import numpy, pytest' 2>/dev/null; then # continuous integration
  python3 -m venv "$build/venv" && "$build/venv/bin/pip" install -q numpy scipy pytest gymnasium h5py mypy && python=$build/venv/bin/python
fi
"$python" -c 'import numpy, pytest' 2>/dev/null || { echo "$python has no numpy or no pytest: skipped"; exit 77; }
PYTHONPATH=$build/python STICKSLIP_PROGRAM=$build/stickslip exec "$python" -m pytest -q -p no:cacheprovider "$@" "$source/bindings/python/tests"
