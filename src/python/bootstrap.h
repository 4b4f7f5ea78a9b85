// What every interpreter runs first: Record, and the function that evaluates. `_key(name)` is given
// by the program: the JSON text of a key, or None.
#pragma once

namespace orrery {

inline constexpr const char* kBootstrap = R"python(
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
)python";

// Watches over the time of evaluations in an interpreter that is a thread. Its waking up is also
// what lets the other thread notice that it is to be ended.
inline constexpr const char* kWatch = R"python(
import threading, time

def _watch(thread):
    while True:
        time.sleep(0.02)
        _expire(thread)

threading.Thread(target=_watch, args=(threading.get_ident(),), daemon=True).start()
)python";

// The main loop of an interpreter that is a process of its own. Lines of JSON go both ways: a
// request is [source, file, bytes of memory] at first and then [function]; the answer a line; in
// between, "key NAME" asks for a key. They go through a descriptor that nobody else knows: what the
// functions and their children write to standard output goes to standard error, and there is
// nothing to read from standard input.
inline constexpr const char* kProcessLoop = R"python(
import _thread, fcntl, os, resource

_socket = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
os.dup2(os.open(os.devnull, os.O_RDWR), 0)
os.dup2(2, 1)
_in = open(_socket, encoding="utf-8", errors="surrogateescape")
_out = open(_socket, "w", encoding="utf-8", closefd=False)
_turn = _thread.allocate_lock()  # the functions may start threads

def _ask(line):
    with _turn:
        _out.write(line + "\n")
        _out.flush()
        return _in.readline()

def _key(name):
    return json.loads(_ask("key " + json.dumps(name)))  # the text of the value, or None

_source, _file, _memory = json.loads(_in.readline())
_line = _ask(_load(_source, _file))
with open("/proc/self/statm") as f:
    _used = int(f.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (_used + _memory, _used + _memory))
while _line:
    _line = _ask(_call(json.loads(_line)[0], _file))
)python";

}  // namespace orrery
