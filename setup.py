"""Builds the Python module with CMake, in build/release, where `make python` builds it too."""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).parent.resolve()


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        interpreter = os.path.realpath(sys.executable)
        subprocess.run(["cmake", "--preset", "python", f"-DORRERY_PYTHON_EXECUTABLE={interpreter}"],
                       cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", "build/release", "-j", str(os.cpu_count()),
                        "--target", "python_module"], cwd=ROOT, check=True)
        built = next((ROOT / "build/release/python/orrery").glob("_orrery*.so"))
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built, target)


setup(
    packages=["orrery"],
    package_dir={"": "python"},
    package_data={"orrery": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("orrery._orrery", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
