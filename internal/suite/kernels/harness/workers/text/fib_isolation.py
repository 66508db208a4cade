"""What keeps a worker from the memory of others of the same user, and others from its own. Linux only.

The numbers are those of <linux/prctl.h> and <linux/capability.h>.
"""

import ctypes
import sys

PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER = 4, 24, 47, 3
CAP_SYS_PTRACE, CAP_PERFMON = 19, 38
VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3: two words of 32 bits, each three times


def renounce():
    """Gives up what lets root write the memory of other processes."""
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets) != 0:
        return
    for capability in (CAP_SYS_PTRACE, CAP_PERFMON):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # refused to whoever has none to give up
        libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, capability, 0, 0)
        for kind in range(3):  # effective, permitted, inheritable
            sets[capability // 32 * 3 + kind] &= ~(1 << capability % 32) & 0xFFFFFFFF
    libc.capset(header, sets)


def conceal():
    """Closes this process's memory to processes that have renounced, and to those of a user who is not root."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
