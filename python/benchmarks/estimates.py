"""What a call costs: estimates a second with prices kept, one key read of each, and the import.

PYTHONPATH=build/release/python /usr/bin/python3 python/benchmarks/estimates.py [estimate_benchmark]

With the C++ benchmark (build/release/bin/estimate_benchmark), the same predictions by the library alone are
measured in turn with those from Python, and the difference is that of the two in the same round. They keep as
much freed memory as the module does: else giving it back to the system would count.
"""

import csv
import io
import os
import statistics
import subprocess
import sys
import time

import orrery


def per_call(call, seconds=2.0):
    call()
    begin, count = time.process_time(), 0
    while time.process_time() - begin < seconds:
        call()
        count += 1
    return (time.process_time() - begin) / count


KEPT = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
        "MALLOC_TOP_PAD_": str(16 << 20)}


def by_the_library(name):
    said = subprocess.run([sys.argv[1], f"--benchmark_filter=^{name}$", "--benchmark_format=csv",
                           "--benchmark_min_time=0.2"],
                          capture_output=True, text=True, check=True, env={**os.environ, **KEPT})
    table = said.stdout[said.stdout.index("name,"):]
    return 1e-6 * float(next(csv.DictReader(io.StringIO(table)))["cpu_time"])


def show(what, name, model, **arguments):
    def call():
        return orrery.estimate(model, **arguments).step_time_s
    if not sys.argv[1:]:
        taken = per_call(call)
        print(f"{what}: {1e6 * taken:.0f} us a call, {1 / taken:,.0f} a second")
        return
    rounds = [(by_the_library(name), per_call(call, 0.2)) for _ in range(25)]
    library, taken = (statistics.median(one) for one in zip(*rounds))
    more = sorted(1e6 * (t - l) for l, t in rounds)
    print(f"{what}: {1e6 * taken:.0f} us a call, {1 / taken:,.0f} a second; by the library alone "
          f"{1e6 * library:.0f} us; difference of 25 rounds: median {statistics.median(more):.1f} us, "
          f"half of them {more[6]:.1f} to {more[18]:.1f} us")


show("405B on 16,384 GPUs", "evaluate_405b_warm", "llama-3.1-405b", on="h100-sxm:16384",
     plan="tp=8,pp=16,chunks=8", seq=8192, global_batch=2048)
show("8B on 8 GPUs", "evaluate_8b_warm", "llama-3.1-8b", on="h100-sxm:8", plan="tp=1", seq=8192,
     global_batch=8)
step = orrery.estimate("llama-3.1-8b", on="h100-sxm:8")
print(f"one key of an answer: {1e6 * per_call(lambda: step.step_time_s, 0.5):.2f} us")

CODE = "import time; b = time.process_time(); import orrery; print(time.process_time() - b)"
times = [float(subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True).stdout)
         for _ in range(10)]
print(f"import: {1e3 * min(times):.0f} ms")
