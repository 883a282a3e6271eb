"""The fitted weights of the language model and the verifier.

    python -m benchmarks.language_model --data DATA --out FILE --trained 160 --tried 24

prints them ("Fits" in docs/language-model-benchmark.md). They are fitted to 170 everyday claims
with the evidence given, not to evidence found by a search. For that, the verifier's probabilities
have their own calibration.
"""

from __future__ import annotations

from retrieval.explanation.local.pool import Pool
from retrieval.explanation.local.wordings import LETTERS, YES_NO

# In the order of the weights below.
WORDINGS = (LETTERS, YES_NO)
ALONE = Pool(weights=(0.91, 1.02), biases=(-0.25, -0.23, 0.49))
# The first weight is the verifier's.
TOGETHER = Pool(weights=(1.26, 0.18, 0.81), biases=(0.61, 0.59, -1.20))
