"""What is refused, and how: one exception with what, where and hint; Ctrl-C ends long work."""

import datetime
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import orrery


class Refused(unittest.TestCase):
    def refused(self, call, text):
        with self.assertRaises(orrery.Error) as caught:
            call()
        self.assertEqual(str(caught.exception), text)
        return caught.exception

    def test_parts_of_an_error(self):
        error = self.refused(
            lambda: orrery.estimate("llama-3.1-8b", on="h100-sxm:8", plann="tp=2"),
            "orrery.estimate: unknown argument 'plann' (did you mean 'plan'?)")
        self.assertEqual((error.what, error.where, error.hint),
                         ("unknown argument 'plann'", "orrery.estimate", "did you mean 'plan'?"))

    def test_names(self):
        self.refused(lambda: orrery.estimate("llama-3.1-8", on="h100-sxm:8"),
                     "orrery.estimate: model: no 'llama-3.1-8' among the models of the catalog "
                     "(did you mean 'llama-3.1-8b'?)")

    def test_values(self):
        self.refused(
            lambda: orrery.estimate("llama-3.1-8b", on="h100-sxm:8", plan={"tp": "two"}),
            "orrery.estimate: plan: tp: 'two' is not a whole number")
        self.refused(
            lambda: orrery.estimate("llama-3.1-8b", on="h100-sxm:8", global_batch=float("nan")),
            "global_batch: is not a finite number")
        self.refused(
            lambda: orrery.estimate("llama-3.1-8b", on="h100-sxm:8", plan=object()),
            "plan: cannot be read from a object (give text, numbers, lists and dictionaries, as in a "
            "specification)")
        self.refused(lambda: orrery.estimate("llama-3.1-8b"),
                     "orrery.estimate: no cluster is given (write on=\"h100-sxm:1024\"; "
                     "orrery.catalog(\"clusters\") lists published ones)")

    def test_nesting_has_a_limit(self):
        endless = []
        endless.append(endless)
        self.refused(lambda: orrery.estimate("llama-3.1-8b", on="h100-sxm:8", plan=endless),
                     "plan: nested too deeply")

    def test_arguments_of_another_function(self):
        self.refused(lambda: orrery.estimate("llama-3.1-8b", on="h100-sxm:8", spares=2),
                     "orrery.estimate: unknown argument 'spares' (known: on, seq, plan, settings, "
                     "kernels, cluster, software, workload, training, adapters, forecast, "
                     "sequence_length, ...)")
        self.refused(lambda: orrery.schedule("1f1b", stages=2, microbatches=4, microbatch=1),
                     "orrery.schedule: unknown argument 'microbatch' (did you mean 'microbatches'?)")
        self.refused(lambda: orrery.schedule("1f1b", microbatches=4),
                     "stages: is not given (write stages=8, microbatches=32)")
        self.refused(lambda: orrery.search("llama-3.1-8b", on="h100-sxm:8", gpus=[8]),
                     "gpus: sizes of a run, and the shortest step is searched "
                     "(write objective=\"goodput\", \"time-to-train\" or \"cost\" as well)")

    def test_axes(self):
        def search(*axes):
            return lambda: orrery.search("llama-3.1-8b", on="h100-sxm:8", plan="local_steps=4",
                                         axes=axes)
        self.refused(search("tp=1,2"),
                     "axes: 'tp' is searched anyway; state it in the plan to keep it fixed")
        self.refused(search("local_steps=1,8"),
                     "axes: local_steps: is stated by the plan as well (leave one of them out)")
        self.refused(search("shard_group"),
                     "axes: shard_group: needs values (write for example shard_group=1,8)")

    def test_time_limits(self):
        for limit, shown in ((float("inf"), "inf"), (float("nan"), "nan"), (1e10, "10000000000"),
                             (0, "0"), (-1, "-1")):
            error = self.refused(
                lambda: orrery.search("llama-3.1-8b", on="h100-sxm:8", time_limit=limit),
                f"time_limit: {shown} is not between 0.001 and 1e6 s "
                "(leave it out to search to the end)")
            self.assertEqual(error.where, "time_limit")
        found = orrery.search("llama-3.1-8b", on="h100-sxm:8", global_batch=8, time_limit=1000000)
        self.assertGreater(len(found.plans), 0)

    def test_answers_of_others(self):
        with self.assertRaises(TypeError) as caught:
            orrery.Record(datetime.datetime_CAPI)
        self.assertEqual(str(caught.exception), "only the functions of orrery make answers")

    def test_catalog(self):
        self.refused(lambda: orrery.catalog("model"),
                     "orrery.catalog: unknown kind 'model' (did you mean 'models'?)")

    def test_keys(self):
        step = orrery.estimate("llama-3.1-8b", on="h100-sxm:8")
        with self.assertRaises(AttributeError) as caught:
            step.step_time
        self.assertEqual(str(caught.exception), "no key 'step_time' (did you mean 'step_time_s'?)")
        with self.assertRaises(KeyError):
            step["step_time"]

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            file.write_text("{\"traceEvents\": [")
            with self.assertRaises(orrery.Error) as caught:
                orrery.trace.load(file)
            self.assertIn("trace.json", caught.exception.where)
        self.refused(lambda: orrery._orrery._load(orrery._shared(), [], False, False, False),
                     "orrery.trace.load: no file is given (give the traces of a run, one a rank, or "
                     "their folder)")

    def test_a_session_with_a_folder_that_is_none(self):
        with self.assertRaises(orrery.Error):
            orrery.Session(catalog="/nonexistent")


class LongCalls(unittest.TestCase):
    SEARCH = ("import orrery, sys; print('begun', flush=True)\n"
              "orrery.search('llama-3.1-405b', on='h100-sxm:16384', global_batch=2048, threads=1,\n"
              "              schedules=['all'], all_axes=True, top=100)\n")

    def test_control_c_ends_a_search(self):
        process = subprocess.Popen([sys.executable, "-c", self.SEARCH], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "begun\n")
        time.sleep(1)
        self.assertIsNone(process.poll(), "the search is over before it could be interrupted")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", said)

    def test_other_threads_run_meanwhile(self):
        counted = 0
        done = threading.Event()

        def count():
            nonlocal counted
            while not done.is_set():
                counted += 1
                time.sleep(0.001)

        counting = threading.Thread(target=count)
        counting.start()
        begin = counted
        orrery.search("llama-3.1-8b", on="h100-sxm:64", top=20, time_limit=0.5)
        end = counted
        done.set()
        counting.join()
        self.assertGreater(end - begin, 20)


if __name__ == "__main__":
    unittest.main()
