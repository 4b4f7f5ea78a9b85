"""Predictions of distributed training: step time, memory, communication, failures and cost.

    import orrery
    step = orrery.estimate("llama-3.1-405b", on="h100-sxm:16384", plan="tp=8,pp=16,chunks=8")
    step.step_time_s, step.mfu, step.plan.dp

Arguments are named as in specifications (docs/spec.md) and answers as in the JSON documents of the
command line (docs/json-keys.md); docs/python.md has examples of every function.
"""

from orrery import _orrery
from orrery._orrery import Error, Record, Recording, Session

__all__ = [
    "Error", "Record", "Recording", "Records", "Session", "catalog", "compare", "estimate",
    "forecast", "schedule", "search", "trace",
]


def _frame(rows):
    """A pandas data frame with a row for each dictionary; keys of inner maps are joined by dots."""
    try:
        import pandas
    except ImportError as absent:
        raise Error("pandas is not installed; it makes the data frames") from absent
    return pandas.json_normalize(rows)


class Records(list):
    """The list of an answer: a list, which also makes a data frame."""

    def to_pandas(self):
        """A data frame with a row for each item."""
        rows = [one.to_dict() if isinstance(one, Record) else {"value": one} for one in self]
        return _frame(rows)


def _record_to_pandas(record):
    """A data frame with one row; keys of inner maps are joined by dots."""
    return _frame([record.to_dict()])


Record.to_pandas = _record_to_pandas
_orrery._set_records(Records)

_session = None


def _shared():
    global _session
    if _session is None:
        _session = Session()
    return _session


def estimate(model, **arguments):
    """One training step, predicted: the document of `orrery estimate`.

    model: a name of the catalog, the path of a config.json, a model or a specification, or the
    fields of a model in a dictionary.
    on: the cluster, "h100-sxm:1024". plan: "tp=8,pp=16" or a dictionary; what it leaves out has a
    default. seq, global_batch, precision and the other fields of training; software, workload,
    adapters, cluster, training: as in a specification. settings: changes such as "network=2x".
    explain, sensitivity, traffic: True adds the key of that name. tokens ("15T") and price add
    `run`: days, GPU-hours, dollars and energy if nothing fails. kernels: a function, or the path of
    a file that defines kernel_time, which gives the seconds of a kernel.
    """
    return _shared().estimate(model, **arguments)


def compare(model, **arguments):
    """Predictions side by side: the document of `orrery compare`.

    The model and every argument of a specification may be a list; all combinations are predicted.
    tokens and price as of estimate().
    """
    return _shared().compare(model, **arguments)


def search(model, **arguments):
    """The best plans: the document of `orrery search`.

    Arguments as of estimate(); what a plan states is kept. top: how many plans. schedules: names.
    axes: fields of the plan that are searched as well, ["gradient_code", "local_steps=1,100"].
    all_axes, threads, time_limit (0.001 to 1e6 seconds). objective: "goodput", "time-to-train" or
    "cost" rank by what a run delivers, which the arguments of forecast() and gpus (sizes of the
    run) describe.
    """
    return _shared().search(model, **arguments)


def forecast(model, **arguments):
    """A whole run with failures, or without tokens and steps the distribution of its step.

    Arguments as of estimate(), and the fields of the section `forecast` of a specification: tokens
    or steps, failures, restart, checkpoint, spares, within, budget, runs, seed, ...
    """
    return _shared().forecast(model, **arguments)


def schedule(name, **arguments):
    """A pipeline schedule, worked out and measured; "compare" for all of them beside each other.

    stages, microbatches, chunks, group, times ("f=1,b=2" or a dictionary), memory_limit, blocking.
    """
    return _shared().schedule(name, **arguments)


def catalog(kind=None, name=None):
    """The kinds of entries with their number, the names of a kind, or one entry."""
    return _shared().catalog(kind, name)


from orrery import trace  # noqa: E402  (it needs the functions above)
