import threading, time

def _watch(thread):
    while True:
        time.sleep(0.02)
        _expire(thread)

threading.Thread(target=_watch, args=(threading.get_ident(),), daemon=True).start()
