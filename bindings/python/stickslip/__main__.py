"""python -m stickslip: the command line, which is part of the wheel."""

import os
import sys

program = os.environ.get("STICKSLIP_PROGRAM") or os.path.join(os.path.dirname(__file__), "bin", "stickslip")
os.execv(program, [program, *sys.argv[1:]])
