#!/usr/bin/env python3
"""How a batch of 256 double pendulums with a wall gains from threads.

On a machine that others use wall time says little; the kernel counts, for every thread, the time on a processor and the time it
waited for one. Where both add up to the wall time no thread waited for another, and the processor time of the busiest thread is what the wall
time would be on idle processors.

usage: bench/batch.py [COPIES [STEPS]]        needs the Python package; `chrt -r 5` before it (as root) takes precedence over others
"""
import os
import pathlib
import sys
import threading
import time

import stickslip

SCENE = pathlib.Path(__file__).parent.parent / "scenes" / "double-pendulum-wall.yaml"


def on_and_off(task):
    on, waited, _ = pathlib.Path(f"/proc/self/task/{task}/schedstat").read_text().split()
    return int(on) * 1e-9, int(waited) * 1e-9


def watch(times, ended):
    """Threads end with the call of step: they are looked at while it runs."""
    own = threading.get_native_id()
    while not ended.is_set():
        for task in os.listdir("/proc/self/task"):
            try:
                times[int(task)] = on_and_off(task)
            except OSError:
                continue
        times.pop(own, None)
        time.sleep(0.002)


def run(scene, copies, steps, threads):
    batch = stickslip.batch(scene, copies, threads=threads)
    batch.step(20)
    main, times, ended = threading.get_native_id(), {}, threading.Event()
    others = {int(task) for task in os.listdir("/proc/self/task")}  # numpy's
    before = on_and_off(main)
    watcher = threading.Thread(target=watch, args=(times, ended))
    watcher.start()
    start = time.perf_counter()
    batch.step(steps)
    wall = time.perf_counter() - start
    ended.set()
    watcher.join()
    times = {task: numbers for task, numbers in times.items() if task not in others}
    times[main] = tuple(now - then for now, then in zip(on_and_off(main), before))
    return wall, list(times.values()), batch.q.copy()


copies, steps = (int(a) for a in (sys.argv[1:] + ["256", "800"][len(sys.argv) - 1 :]))
scene = stickslip.Scene.load(SCENE)
first = None
for _ in range(4):
    line, busiest = [], []
    for threads in (1, 2):
        wall, times, q = run(scene, copies, steps, threads)
        first = q if first is None else first
        assert (q == first).all(), "the number of threads matters"
        busiest.append(max(on for on, _ in times))
        each = " ".join(f"{on:.3f}+{waited:.3f}" for on, waited in times)
        line.append(f"{threads} threads: {wall:.3f} s wall, {each} s on+waiting")
    print("; ".join(line), f"; busiest {busiest[0] / busiest[1]:.2f} times faster")
