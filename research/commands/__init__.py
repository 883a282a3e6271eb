"""The research's commands: ``esoteric`` finds them by the entry point in ``pyproject.toml``."""

COMMANDS = {
    "evaluate": "measure recipes and baselines on annotated claims",
    "train": "train one of the models",
    "calibrate": "calibrate the confidence of your own verifier",
}
