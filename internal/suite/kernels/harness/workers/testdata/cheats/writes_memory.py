# Makes the reference compute what it computes itself, by changing the code in the memory of its worker.
# want: INCORRECT_NUMERICAL
# alone: yes
import os


def right(x, w):
    return x * w + x


def run(x, w):
    return x * w - x


def siblings():
    """Processes of the same program as this one."""
    with open("/proc/self/cmdline", "rb") as f:
        own = f.read()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as f:
                    if f.read() == own:
                        yield name
            except OSError:
                pass


def patch(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "r+b", 0) as memory:
        for line in maps:
            area, rights, *rest = line.split()
            start, end = (int(n, 16) for n in area.split("-"))
            if not rights.startswith("rw") or end - start > 1 << 28:
                continue
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except OSError:
                continue
            at = data.find(right.__code__.co_code)
            while at >= 0:
                memory.seek(start + at)
                memory.write(run.__code__.co_code)
                at = data.find(right.__code__.co_code, at + 1)


for sibling in siblings():
    try:
        patch(sibling)
    except OSError as e:
        print(e)
