"""Packs what scripts/gpu.sh made, without UUIDs and serial numbers, for a host from which few files can be taken.

    python3 archive.py FOLDER ARCHIVE.tar.gz

Each UUID becomes a number that stands for it everywhere, so that files still agree with each other. Of text files above
1 MiB the end is kept; what is no text, or lies in dataset, builds and cached folders, is left out.
"""

import io
import os
import pathlib
import re
import sys
import tarfile

folder, archive = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
LIMIT, TOTAL = 1 << 20, 60 << 20
LEFT_OUT = {"dataset", "builds", "__pycache__"}
uuids = {}


def numbered(found):
    kind = found[1]
    uuid = uuids.setdefault(found[0].lower(), len(uuids) + 1)
    return f"{kind}-00000000-0000-0000-0000-{uuid:012d}"


def redacted(text):
    text = re.sub(r"\b(GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", numbered, text, flags=re.IGNORECASE)
    text = re.sub(r"(<(?:serial|board_serial|gsp_firmware_serial|chassis_serial_number)>)[^<]*", r"\g<1>0", text)
    return re.sub(r"(<(?:pdi|host_id|module_id|cluster_uuid|tray_index)>)[^<]*", r"\g<1>0", text)


def files():
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in LEFT_OUT)
        for name in sorted(names):
            path = pathlib.Path(base, name)
            if path.is_file() and not path.is_symlink():
                yield path


total = 0
with tarfile.open(f"{archive}.new", "w:gz", compresslevel=6) as tar:
    for path in files():
        data = path.read_bytes()
        if b"\0" in data[:4096] or total > TOTAL:
            continue
        text = redacted(data[-LIMIT:].decode(errors="replace")).encode()
        total += len(text)
        entry = tarfile.TarInfo(redacted(str(path.relative_to(folder))))
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
os.replace(f"{archive}.new", archive)
