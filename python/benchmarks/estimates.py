"""What a call costs: estimates a second with prices kept, one key read of each, and the import.

PYTHONPATH=build/release/python /usr/bin/python3 python/benchmarks/estimates.py
"""

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


def show(what, model, **arguments):
    taken = per_call(lambda: orrery.estimate(model, **arguments).step_time_s)
    print(f"{what}: {1e6 * taken:.0f} us a call, {1 / taken:,.0f} a second")


show("405B on 16,384 GPUs", "llama-3.1-405b", on="h100-sxm:16384", plan="tp=8,pp=16,chunks=8",
     seq=8192, global_batch=2048)
show("8B on 8 GPUs", "llama-3.1-8b", on="h100-sxm:8", plan="tp=1", seq=8192, global_batch=8)
step = orrery.estimate("llama-3.1-8b", on="h100-sxm:8")
print(f"one key of an answer: {1e6 * per_call(lambda: step.step_time_s, 0.5):.2f} us")

CODE = "import time; b = time.process_time(); import orrery; print(time.process_time() - b)"
times = [float(subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True).stdout)
         for _ in range(10)]
print(f"import: {1e3 * min(times):.0f} ms")
