"""Recorded runs: traces of the PyTorch profiler and the other formats of `orrery trace`."""

import os

import orrery
from orrery import _orrery


def load(path, *more, partial=False, stacks=False, recorded_clocks=False, session=None):
    """Reads the traces of a run: one file a rank, or their folder.

    partial: use what is whole of files that end in the middle. stacks: keep the functions of Python.
    recorded_clocks: keep the clocks of the ranks, even where they contradict each other.
    """
    files = [os.fspath(one) for one in (path, *more)]
    return _orrery._load(session or orrery._shared(), files, partial, stacks, recorded_clocks)
