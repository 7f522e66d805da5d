#!/usr/bin/env python3
"""check_needs.py LIBRARY...: what libelg_shmem.so is linked with; it must load where there is neither SHMEM nor MPI."""

import re
import subprocess
import sys

for path in sys.argv[1:]:
    told = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    needs = re.findall(r"\(NEEDED\).*\[(.+)\]", told)
    other = [name for name in needs if not re.match(r"lib(c|m|dl|pthread|rt|gcc_s)\.so|ld-linux|libclang_rt|lib[aut]san|libubsan", name)]
    if not needs or other:
        sys.exit(f"{path} needs {other or 'nothing: readelf is not understood'}")
