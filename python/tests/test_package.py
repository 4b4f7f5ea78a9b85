"""The package: its stubs describe the classes that exist, and its example runs."""

import ast
import json
import pathlib
import subprocess
import sys
import unittest

import orrery

ROOT = pathlib.Path(__file__).parents[2]


class Stubs(unittest.TestCase):
    def test_answers(self):
        from orrery import answers
        stubs = ast.parse((ROOT / "python/orrery/answers.pyi").read_text())
        classes = {c.name: c for c in stubs.body if isinstance(c, ast.ClassDef)}
        self.assertEqual(sorted(classes), answers.__all__)
        names = set(classes) | {"Record", "Records", "Any", "Literal", "str", "int", "float", "bool",
                                "None"}
        for one in classes.values():
            for field in one.body:
                if isinstance(field, ast.AnnAssign):
                    used = {n.id for n in ast.walk(field.annotation) if isinstance(n, ast.Name)}
                    self.assertLessEqual(used, names, f"{one.name}.{field.target.id}")

    def test_functions(self):
        stubs = ast.parse((ROOT / "python/orrery/__init__.pyi").read_text())
        functions = {f.name for f in stubs.body if isinstance(f, ast.FunctionDef)}
        self.assertEqual(functions, {"catalog", "compare", "estimate", "forecast", "schedule", "search"})


class Notebook(unittest.TestCase):
    """Runs the cells in order, in one namespace, as a notebook does."""

    def test_the_example(self):
        notebook = json.loads((ROOT / "examples/orrery.ipynb").read_text())
        scope = {"__name__": "__main__"}
        cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
        self.assertGreater(len(cells), 4)
        for number, cell in enumerate(cells):
            body = ast.parse("".join(cell["source"])).body
            last = body.pop() if isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), f"cell {number}", "exec"), scope)
            if last is None:
                continue
            shown = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), scope)
            expected = cell["metadata"].get("shows")
            if expected == "html":
                self.assertTrue(shown._repr_html_(), f"cell {number}")
            elif expected is not None:
                self.assertEqual(repr(shown), expected, f"cell {number}")


class Import(unittest.TestCase):
    def test_nothing_heavy_is_imported(self):
        check = ("import sys; before = set(sys.modules); import orrery\n"
                 "print(sorted(m for m in set(sys.modules) - before if not m.startswith('orrery')))")
        said = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
        self.assertEqual(said.stdout.strip(), "[]", said.stderr)


if __name__ == "__main__":
    unittest.main()
