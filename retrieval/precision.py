"""Which arithmetic the models compute in.

bfloat16 takes about half the time of float32 where the processor multiplies it
(``benchmarks/encoders.py``) and many times as long where it is emulated. The
processor is asked instead of timed: a busy machine would now and then choose
the slower one, and an index must always be built in one precision.
"""

from __future__ import annotations

import torch


def fastest_precision() -> torch.dtype:
    """Return bfloat16 if the processor has it ("avx512_bf16", "amx_bf16" …), else float32."""
    abilities = torch.cpu.get_capabilities()
    has = any(has for name, has in abilities.items() if name.endswith("bf16"))
    return torch.bfloat16 if has else torch.float32
