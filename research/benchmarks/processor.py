"""Describes this processor, and limits it to the instructions of an older one.

``ESOTERIC_CPU=avx2 make bench`` measures as on an ordinary computer, also on a newer one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

VARIABLE = "ESOTERIC_CPU"
_SOURCE = Path(__file__).with_name("as_avx2.c")
_LIBRARY = "as_avx2.so"
_NAMED = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "amx_int8")


def described() -> str:
    """Return the processor's name and its instructions for matrices that programs here can use."""
    name, flags = "unknown processor", set[str]()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            name = value.strip()
        elif key.strip() == "flags":
            flags = set(value.split())
    if os.environ.get(VARIABLE) == "avx2":
        return f"{name}, limited to avx2"
    return f"{name} with {', '.join(flag for flag in _NAMED if flag in flags)}"


def limit() -> None:
    """Start this program again, limited to AVX2, if ``ESOTERIC_CPU`` is set so.

    Raises:
        SystemExit: that is not possible here; the message says why.
    """
    wanted = os.environ.get(VARIABLE)
    if not wanted or _is_limited():
        return
    if wanted != "avx2":
        raise SystemExit(f"{VARIABLE} is {wanted!r}; the only processor to choose is avx2.")
    if "cpuid_fault" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        raise SystemExit(
            "This processor cannot be limited to AVX2: it has no CPUID faulting. Run the"
            f" benchmarks on an AVX2 machine, without {VARIABLE}."
        )
    library = Path(tempfile.mkdtemp()) / _LIBRARY
    built = subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE)],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        raise SystemExit(f"{_SOURCE.name} could not be compiled by cc: {built.stderr}")
    preloaded = " ".join([str(library), *os.environ.get("LD_PRELOAD", "").split()])
    environment = {**os.environ, "LD_PRELOAD": preloaded}
    os.execve(
        sys.executable, [sys.executable, "-m", "research.benchmarks", *sys.argv[1:]], environment
    )


def _is_limited() -> bool:
    return _LIBRARY in os.environ.get("LD_PRELOAD", "")
