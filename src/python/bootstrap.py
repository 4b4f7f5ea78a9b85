import json, sys, traceback

sys.stdout = sys.stderr


class Record:
    """A map of an answer. Its keys are attributes, and items too."""

    def __init__(self, members):
        self.__dict__.update(members)

    def __getitem__(self, key):
        return getattr(self, key)


class _Answer:
    """The same, whose keys are asked for when they are read, while its evaluation lasts."""

    def __init__(self, evaluation):
        self._evaluation = evaluation

    def __getattr__(self, key):
        if key.startswith("_"):
            raise AttributeError(f"no key '{key}'")
        text = _key(key) if self._evaluation == _evaluation else None
        if self._evaluation != _evaluation:
            raise AttributeError(f"key '{key}' of a step whose evaluation is over")
        if text is None:
            raise AttributeError(f"no key '{key}'")
        value = json.loads(text, object_hook=Record)
        setattr(self, key, value)
        return value

    def __getitem__(self, key):
        return getattr(self, key)


class _TimeLimit(BaseException):
    def __str__(self):
        return f"takes longer than {_seconds} s"


_user = {}
_seconds = 0
_evaluation = 0  # odd while one lasts


def _reason(file):
    kind, error, trace = sys.exc_info()
    frames = [f for f in traceback.extract_tb(trace) if f.filename == file]
    lines = [f"{f.filename}:{f.lineno}: in {f.name}" for f in frames]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines.append(f"{file}:{error.lineno}")
    said = str(error)
    name = "TimeLimit" if kind is _TimeLimit else kind.__name__
    return "error " + json.dumps([f"{name}: {said}" if said else name, "; ".join(lines)])


def _load(source, file):
    global _user
    _user = {"__name__": "orrery_functions", "__file__": file}
    try:
        import os
        sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
        exec(compile(source, file, "exec"), _user)
        return "functions " + json.dumps([k for k, v in _user.items() if callable(v)])
    except BaseException:
        return _reason(file)


def _call(function, file):
    global _evaluation
    _evaluation += 1
    try:
        value = _user[function](_Answer(_evaluation))
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"{function} returned {type(value).__name__}, not a number")
        value = float(value)
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{function} returned {value}, not a finite number")
        return "value " + repr(value)
    except BaseException:
        return _reason(file)
    finally:
        _evaluation += 1
