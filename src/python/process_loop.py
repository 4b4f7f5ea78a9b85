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
