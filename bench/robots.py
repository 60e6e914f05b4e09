#!/usr/bin/env python3
"""Imported robots beside MuJoCo: processor time per step on equal models, and where ours goes.

usage: bench/robots.py [--stickslip BUILD/stickslip] [--seconds T] [--repeat N] [NAME...]

Hopper, walker, half-cheetah and a quadruped (MJCF files of gymnasium, dm_control and mujoco_menagerie) fall for T simulated seconds
(default 2) with the model's own step. The files are looked for in $STICKSLIP_DATA/robots_mjcf, or in ../shared/data/robots_mjcf beside
the clone; without them, or without the Python package `mujoco`, that part is left out and it is said.

Equal models: what the import leaves out (damping, springs, armature, dry friction and motors of joints, margins of shapes, limits that
do not contain the initial position) is left out in MuJoCo, too. The quadruped is lifted until its feet are above the floor, and
its visual meshes are dropped. Times are the least of N (default 3) runs, taking turns; ours less those of one step. MuJoCo runs with the
model's integrator (the hopper's is RK4, with four evaluations a step) and with Euler's.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import time
import xml.etree.ElementTree as tree

ROBOTS = {"hopper": "gymnasium/hopper.xml", "walker": "dm_control/walker.xml",
          "half-cheetah": "gymnasium/half_cheetah.xml", "quadruped": "menagerie/unitree_go1/scene.xml"}
ROOT = pathlib.Path(__file__).resolve().parent.parent


def lifted_quadruped(source, folder):
    """The robot without meshes and motors, its trunk 60 cm above the floor."""
    robot = tree.parse(source.parent / "go1.xml")
    for parent in robot.getroot().iter():
        for child in list(parent):
            drawn = child.tag == "geom" and (child.get("mesh") or child.get("class") == "visual")
            if drawn or child.tag in ("mesh", "texture", "material", "actuator", "keyframe", "sensor"):
                parent.remove(child)
    for body in robot.getroot().iter("body"):
        if body.get("name") == "trunk":
            body.set("pos", "0 0 0.6")
    robot.write(folder / "go1.xml")
    (folder / "scene.xml").write_bytes(source.read_bytes())
    return folder / "scene.xml"


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return after.ru_utime - before.ru_utime, done.stdout


def equal_model(mujoco, path, euler):
    model = mujoco.MjModel.from_xml_path(str(path))
    for numbers in (model.dof_damping, model.dof_armature, model.jnt_stiffness, model.dof_frictionloss,
                    model.actuator_gainprm, model.actuator_biasprm, model.geom_margin):
        numbers[:] = 0
    for joint in range(model.njnt):
        at = model.qpos0[model.jnt_qposadr[joint]]
        low, high = model.jnt_range[joint]
        if model.jnt_limited[joint] and not low <= at <= high:
            model.jnt_limited[joint] = 0
    if euler:
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def mujoco_time(mujoco, model, seconds):
    steps = round(seconds / model.opt.timestep)
    data = mujoco.MjData(model)
    start = time.process_time()
    mujoco.mj_step(model, data, nstep=steps)
    return (time.process_time() - start) / steps


def measure(name, path, options, mujoco, folder):
    scene = folder / f"{name}.yaml"
    processor_time([options.stickslip, "import", path, "-o", scene])
    step = float(re.search(r"step: ([0-9.e-]+)", scene.read_text()).group(1))
    steps = round(options.seconds / step)
    run = [options.stickslip, "run", scene, "--events", "0"]
    models = [equal_model(mujoco, path, euler) for euler in (False, True)] if mujoco else []
    ours, theirs = [], [[] for _ in models]
    for _ in range(options.repeat):
        spent, runs = 0, 0
        while spent < 0.3:  # clocks of processes may count by milliseconds
            spent += processor_time(run + ["--duration", str(options.seconds)])[0]
            spent -= processor_time(run + ["--duration", str(step)])[0]
            runs += 1
        ours.append(spent / runs / (steps - 1))
        for model, times in zip(models, theirs):
            times.append(mujoco_time(mujoco, model, options.seconds))
    text = processor_time(run + ["--duration", str(options.seconds), "--timings"])[1]
    shares = re.search(r"timings +(.*) of", text).group(1)
    line = f"{name:13} h {step:g}  {1e6 * min(ours):7.1f} us"
    for kind, times in zip(("model's integrator", "Euler"), theirs):
        line += f"   MuJoCo, {kind}: {1e6 * min(times):6.1f} us, ratio {min(ours) / min(times):5.2f}"
    print(f"{line}\n{'':15}{shares}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stickslip", default=str(ROOT / "build" / "stickslip"))
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ROBOTS))
    options = parser.parse_args()
    data = pathlib.Path(os.environ.get("STICKSLIP_DATA", ROOT.parent / "shared" / "data")) / "robots_mjcf"
    if not data.is_dir():
        print(f"robots: no models in {data}: skipped (set STICKSLIP_DATA)")
        return
    try:
        import mujoco
    except ImportError:
        mujoco = None
        print("robots: no Python package mujoco (pip install mujoco): ours alone")
    for name in options.names or ROBOTS:
        if name not in ROBOTS:
            parser.error(f"unknown robot '{name}': one of {', '.join(ROBOTS)}")
        with tempfile.TemporaryDirectory() as folder:
            path = data / ROBOTS[name]
            if name == "quadruped":
                path = lifted_quadruped(path, pathlib.Path(folder))
            measure(name, path, options, mujoco, pathlib.Path(folder))


if __name__ == "__main__":
    main()
