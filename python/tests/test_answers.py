"""Answers of the module: the same as those of the command, key by key, and as Python objects."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import orrery

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = os.environ.get("ORRERY_COMMAND", ROOT / "build/release/bin/orrery")
LLAMA = dict(on="h100-sxm:64", plan="tp=4,pp=4", seq=8192, global_batch=256)
TRACES = ROOT / "validation/traces/torchrec"


def command(*arguments):
    done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, cwd=ROOT, text=True)
    return json.loads(done.stdout)


class SameAsTheCommand(unittest.TestCase):
    maxDiff = None

    def test_estimate(self):
        options = ["--on", "h100-sxm:64", "--plan", "tp=4,pp=4", "--seq", "8192", "--global-batch", "256"]
        expected = command("estimate", "llama-3.1-8b", *options, "--explain", "--sensitivity", "--traffic")
        found = orrery.estimate("llama-3.1-8b", **LLAMA, explain=True, sensitivity=True, traffic=True)
        self.assertEqual(json.loads(found.to_json()), expected)
        self.assertEqual(found.to_dict(), expected)

    def test_a_plan_that_nobody_states(self):
        expected = command("estimate", "llama-3.1-70b", "--on", "h100-sxm:64")
        found = orrery.estimate("llama-3.1-70b", on="h100-sxm:64")
        self.assertEqual(found.to_dict(), expected)
        self.assertTrue(found.fits)

    def test_a_specification(self):
        file = str(ROOT / "examples/llama-3.1-405b-published.yaml")
        expected = command("estimate", file, "--plan", "recompute=full", "--set", "network=2x")
        for plan in ("recompute=full", {"recompute": "full"}):
            found = orrery.estimate(file, plan=plan, settings=["network=2x"])
            self.assertEqual(found.to_dict(), expected)

    def test_nested_plans(self):
        options = dict(on="h100-sxm:64", seq=8192, global_batch=256)
        nested = {"tp": 4, "pp": {"degree": 4, "chunks": 2}, "dp": {"sharding": "zero-1"}}
        found = orrery.estimate("llama-3.1-8b", plan=nested, **options)
        flat = orrery.estimate("llama-3.1-8b", plan="tp=4,pp=4,chunks=2,zero=1", **options)
        self.assertEqual(found, flat)

    def test_days_and_dollars(self):
        options = ["--on", "h100-sxm:64", "--plan", "tp=4,pp=4", "--seq", "8192", "--global-batch", "256"]
        expected = command("estimate", "llama-3.1-8b", *options, "--tokens", "15T", "--price", "2.5$/h")
        found = orrery.estimate("llama-3.1-8b", **LLAMA, tokens="15T", price="2.5$/h")
        self.assertEqual(found.to_dict(), expected)
        self.assertAlmostEqual(found.run.cost_dollars, 2.5 * found.run.gpu_hours)

    def test_compare(self):
        expected = command("compare", "llama-3.1-8b", "--on", "h100-sxm:16,b200-sxm:16", "--plan", "tp=1",
                           "--plan", "tp=2", "--global-batch", "64,128", "--tokens", "1T")
        found = orrery.compare("llama-3.1-8b", on=["h100-sxm:16", "b200-sxm:16"], plan=["tp=1", "tp=2"],
                               global_batch=[64, 128], tokens="1T")
        for cell, other in zip(found.to_dict()["cells"], expected["cells"], strict=True):
            self.assertEqual(cell, other)
        self.assertEqual(len(found.cells), 8)
        self.assertIn("b200-sxm:16", found.to_html())
        chips = orrery.compare("llama-3.1-8b", on="tpu-v5p:16", global_batch=64).to_html()
        self.assertIn("tokens/s per chip", chips)
        self.assertNotIn("GPU", chips)

    def test_search(self):
        expected = command("search", "llama-3.1-8b", "--on", "h100-sxm:16", "--plan", "pp=1,cp=1",
                           "--top", "3", "--global-batch", "64")
        found = orrery.search("llama-3.1-8b", on="h100-sxm:16", plan={"pp": 1, "cp": 1}, top=3,
                              global_batch=64)
        expected["elapsed_s"] = found.elapsed_s
        self.assertEqual(found.to_dict(), expected)
        self.assertEqual(len(found.plans), 3)
        again = orrery.estimate("llama-3.1-8b", on="h100-sxm:16", plan=found.plans[0].plan,
                                global_batch=64)
        self.assertEqual(again.step_time_s, found.plans[0].step_time_s)

    def test_search_of_further_axes(self):
        axes = ["gradient_code", "gradient_bucket_mib=0,25"]
        expected = command("search", "llama-3.1-8b", "--on", "l40s:32", "--plan", "pp=1,cp=1,tp=1",
                           "--top", "3", "--global-batch", "64", "--axis", axes[0], "--axis", axes[1])
        found = orrery.search("llama-3.1-8b", on="l40s:32", plan="pp=1,cp=1,tp=1", top=3,
                              global_batch=64, axes=axes)
        plain = orrery.search("llama-3.1-8b", on="l40s:32", plan="pp=1,cp=1,tp=1", top=3,
                              global_batch=64)
        expected["elapsed_s"] = found.elapsed_s
        self.assertEqual(found.to_dict(), expected)
        self.assertLess(found.plans[0].step_time_s, plain.plans[0].step_time_s)
        self.assertNotEqual(found.plans[0].plan.gradient_code, "none")

    def test_search_for_a_run(self):
        expected = command("search", "llama-3.1-8b", "--on", "h100-sxm:16", "--plan", "pp=1,cp=1,ep=1",
                           "--global-batch", "64", "--objective", "cost", "--tokens", "10B")
        found = orrery.search("llama-3.1-8b", on="h100-sxm:16", plan="pp=1,cp=1,ep=1",
                              global_batch=64, objective="cost", tokens="10B")
        expected["elapsed_s"] = found.to_dict()["elapsed_s"]
        self.assertEqual(found.to_dict(), expected)

    def test_forecast(self):
        expected = command("forecast", "llama-3.1-8b", "--on", "h100-sxm:64", "--plan", "tp=4",
                           "--tokens", "1T", "--runs", "200", "--checkpoint", "interval=30min")
        found = orrery.forecast("llama-3.1-8b", on="h100-sxm:64", plan="tp=4", tokens="1T", runs=200,
                                checkpoint={"interval": "30min"})
        self.assertEqual(found.to_dict(), expected)
        self.assertIn("<svg", found.to_html())

    def test_the_distribution_of_a_step(self):
        expected = command("forecast", "llama-3.1-8b", "--on", "h100-sxm:64", "--plan", "tp=4",
                           "--samples", "500")
        found = orrery.forecast("llama-3.1-8b", on="h100-sxm:64", plan="tp=4", step={"samples": 500})
        self.assertEqual(found.to_dict(), expected)

    def test_schedules(self):
        counts = ["--stages", "4", "--microbatches", "8", "--times", "f=1,b=2"]
        found = orrery.schedule("1f1b", stages=4, microbatches=8, times="f=1,b=2")
        self.assertEqual(found.to_dict(), command("schedule", "1f1b", *counts))
        compared = orrery.schedule("compare", stages=4, microbatches=8, times={"f": 1, "b": 2})
        self.assertEqual(compared.to_dict(), command("schedule", "compare", *counts))

    def test_catalog(self):
        self.assertEqual(orrery.catalog(), command("catalog"))
        self.assertEqual(orrery.catalog("accelerators", "h100-sxm").to_dict()["name"], "h100-sxm")
        self.assertIn("llama-3.1-405b", orrery.catalog("models"))

    def test_recordings(self):
        folder = str(TRACES / "sst_long_a2a_optimizer_2")
        other = str(TRACES / "sst_long_a2a_optimizer_4")
        run = orrery.trace.load(folder)
        self.assertEqual(run.analyze().to_dict(), command("trace", "analyze", folder))
        self.assertEqual(run.replay().to_dict(), command("trace", "replay", folder))
        edit = "bandwidth by 2; scale class matrix_product by 50%"
        self.assertEqual(run.whatif(edit).to_dict(), command("trace", "whatif", folder, "--edit", edit))
        self.assertEqual(run.stragglers().to_dict(),
                         command("trace", "whatif", folder, "--attribute"))
        self.assertEqual(run.diff(orrery.trace.load(other)).to_dict(),
                         command("trace", "diff", folder, "--against", other))
        self.assertIn("<svg", run.analyze().to_html())

    def test_chakra_traces(self):
        folder = str(ROOT / "validation/traces/astra-sim/megatron-tp8")
        run = orrery.trace.load(folder)
        self.assertEqual(run.replay().to_dict(), command("trace", "replay", folder))


class Objects(unittest.TestCase):
    def setUp(self):
        self.step = orrery.estimate("llama-3.1-8b", **LLAMA)

    def test_types(self):
        step = self.step
        self.assertIsInstance(step.step_time_s, float)
        self.assertIsInstance(step.gpus, int)
        self.assertIsInstance(step.fits, bool)
        self.assertIsInstance(step.bottleneck, str)
        self.assertIsInstance(step.stages, orrery.Records)
        self.assertEqual(step.plan.dp, 4)
        self.assertEqual(step.stages[3].stage, 3)
        self.assertEqual(step["step_time_s"], step.step_time_s)
        self.assertIsNone(step.explain)  # an optional key that is absent

    def test_the_breakdown_adds_up(self):
        def total(lines):
            return sum(total(v) if isinstance(v, dict) else v for v in lines.values())

        self.assertAlmostEqual(total(self.step.breakdown_s.to_dict()), self.step.step_time_s, 12)

    def test_classes(self):
        from orrery import answers
        self.assertIsInstance(self.step, answers.EstimateDocument)
        self.assertIsInstance(self.step.plan, orrery.Record)
        self.assertIn("step_time_s (number): time of one training step", answers.EstimateDocument.__doc__)
        self.assertIn("step_time_s", dir(self.step))

    def test_text(self):
        text = repr(self.step)
        self.assertTrue(text.startswith("EstimateDocument(schema_version=1, model='llama-3.1-8b'"), text)
        self.assertIn("stages=[4 items]", text)

    def test_notebooks_show_the_report(self):
        self.assertTrue(self.step._repr_html_().startswith("<iframe"))
        self.assertIn("srcdoc=\"&lt;" if "&lt;" in self.step._repr_html_() else "srcdoc=\"<!doctype html>",
                      self.step._repr_html_().lower())
        self.assertTrue(self.step.to_html().lower().startswith("<!doctype html>"))
        self.assertIsNone(self.step.plan._repr_html_())

    def test_data_frames(self):
        try:
            import pandas
        except ImportError:
            with self.assertRaises(orrery.Error):
                self.step.to_pandas()
            return
        stages = self.step.stages.to_pandas()
        self.assertIsInstance(stages, pandas.DataFrame)
        self.assertEqual(list(stages["stage"]), [0, 1, 2, 3])
        self.assertEqual(max(stages["memory_bytes.peak"]), self.step.peak_memory_bytes)
        self.assertEqual(self.step.to_pandas()["plan.tp"][0], 4)

    def test_nothing_can_be_set(self):
        with self.assertRaises(AttributeError):
            self.step.step_time_s = 0

    def test_a_question_outlives_its_prices(self):
        before, self.step = self.step.to_json(), None
        for sequence in range(1024, 1024 + 20 * 64, 64):  # more scenarios than keep their prices
            orrery.estimate("llama-3.1-8b", on="h100-sxm:64", plan="tp=4", seq=sequence)
        self.assertEqual(orrery.estimate("llama-3.1-8b", **LLAMA).to_json(), before)

    def test_equal_questions_have_equal_answers(self):
        self.assertEqual(self.step, orrery.estimate("llama-3.1-8b", **LLAMA))
        other = orrery.Session(threads=1).estimate("llama-3.1-8b", **LLAMA)
        self.assertEqual(self.step.to_json(), other.to_json())


class TimesOfKernels(unittest.TestCase):
    """kernels= of an estimate: a function, or a file that defines kernel_time."""

    def test_the_times_of_the_model_change_nothing(self):
        found = orrery.estimate("llama-3.1-8b", **LLAMA, kernels=lambda kernel: kernel.predicted_s)
        self.assertEqual(found.step_time_s, orrery.estimate("llama-3.1-8b", **LLAMA).step_time_s)

    def test_what_a_kernel_is(self):
        seen = []

        def remembered(kernel):
            seen.append(kernel.to_dict())
            return kernel.predicted_s

        orrery.estimate("llama-3.1-8b", on="h100-sxm:1", plan="tp=1", seq=4096, global_batch=1,
                        kernels=remembered)
        self.assertEqual({kernel["kind"] for kernel in seen}, {"product", "attention", "memory"})
        projection = [k for k in seen if k["kind"] == "product" and (k["m"], k["n"], k["k"]) == (4096, 28672, 4096)]
        self.assertEqual(projection[0]["flops"], 2 * 4096 * 28672 * 4096)
        self.assertTrue(all(k["accelerator"] == "h100-sxm" for k in seen))
        self.assertEqual(len(seen), len({json.dumps(k) for k in seen}), "each kernel is asked for once")

    def test_slower_attention_is_booked_on_attention(self):
        def twice(kernel):
            return kernel.predicted_s * (2 if kernel.kind == "attention" else 1)

        plain = orrery.estimate("llama-3.1-8b", **LLAMA).breakdown_s.compute
        slowed = orrery.estimate("llama-3.1-8b", **LLAMA, kernels=twice).breakdown_s.compute
        self.assertAlmostEqual(slowed.attention_core, 2 * plain.attention_core, places=8)  # whole picoseconds
        self.assertEqual(slowed.feed_forward, plain.feed_forward)

    def test_a_file_answers_as_on_the_command_line(self):
        file = str(ROOT / "examples/kernel_times.py")
        expected = command("estimate", "llama-3.1-8b", "--on", "h100-sxm:64", "--plan", "tp=4,pp=4",
                           "--seq", "8192", "--global-batch", "256", "--kernels", file)
        for path in (file, pathlib.Path(file)):
            found = orrery.estimate("llama-3.1-8b", **LLAMA, kernels=path)
            self.assertEqual(found.to_dict(), expected)
        self.assertTrue(any("kernel_time" in line for line in found.assumed))

    def test_a_search_takes_them(self):
        def free_products(kernel):
            return 1e-9 if kernel.kind == "product" else kernel.predicted_s

        options = dict(on="h100-sxm:16", plan="pp=1,cp=1", top=1, global_batch=64)
        plain = orrery.search("llama-3.1-8b", **options)
        found = orrery.search("llama-3.1-8b", **options, kernels=free_products)
        self.assertLess(found.plans[0].step_time_s, plain.plans[0].step_time_s)

    def test_what_cannot_be_a_time_is_refused(self):
        for function, message in [(lambda kernel: 0, "above 0"), (lambda kernel: float("inf"), "finite"),
                                  (lambda kernel: 1 / 0, "ZeroDivisionError"),
                                  (lambda kernel: None, "returned NoneType, not a number"),
                                  (lambda kernel: kernel.depth, "depth")]:
            with self.assertRaisesRegex(orrery.Error, message) as caught:
                orrery.estimate("llama-3.1-8b", **LLAMA, kernels=function)
            self.assertIn('"kind":', str(caught.exception))
        with self.assertRaisesRegex(orrery.Error, "neither the path of a file nor a function"):
            orrery.estimate("llama-3.1-8b", **LLAMA, kernels=3)
        with self.assertRaisesRegex(orrery.Error, "cannot be given to orrery.compare"):
            orrery.compare("llama-3.1-8b", on="h100-sxm:8", kernels=lambda kernel: 1)


class ChangedFiles(unittest.TestCase):
    """A question is remembered, and the files that it names are asked about again."""

    CONFIG = dict(model_type="llama", hidden_size=1024, intermediate_size=4096, num_attention_heads=16,
                  num_key_value_heads=16, vocab_size=32000)
    CLUSTER = "name: mine\naccelerator: h100-sxm\naccelerators: {}\n"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, layers, *path):
        file = self.folder.joinpath(*path, "config.json")
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(dict(self.CONFIG, num_hidden_layers=layers)))
        return str(file)

    def time(self, model, on="h100-sxm:8"):
        return orrery.estimate(model, on=on, seq=1024, global_batch=8).step_time_s

    def test_a_model(self):
        file = self.write(4)
        before = self.time(file), self.time(str(self.folder))
        self.assertEqual((self.time(file), self.time(str(self.folder))), before)
        self.write(8)  # of the same size
        self.assertGreater(self.time(file), 1.3 * before[0])
        self.assertGreater(self.time(str(self.folder)), 1.3 * before[1])

    def test_a_cluster(self):
        file = self.folder / "cluster.yaml"
        for count in (8, 4):
            file.write_text(self.CLUSTER.format(count))
            for on in (str(file), {"name": str(file)}):
                self.assertEqual(orrery.estimate("llama-3.1-8b", on=on).gpus, count)
            self.assertEqual(orrery.estimate("llama-3.1-8b", on=f"{file}:2").gpus, 2)

    def test_a_file_of_another_folder(self):
        self.addCleanup(os.chdir, os.getcwd())
        times = []
        for name, layers in (("a", 4), ("b", 8)):
            self.write(layers, name)
            os.chdir(self.folder / name)
            times.append(self.time("config.json"))
        self.assertGreater(times[1], 1.3 * times[0])


if __name__ == "__main__":
    unittest.main()
