"""Tables of claims, each with what belongs to it."""


def rows(text: str) -> list[tuple[str, ...]]:
    """Read pairs of lines: a claim, and below it what belongs to it, parted by bars."""
    lines = [line.strip() for line in text.strip().splitlines()]
    return [
        (claim, *told.split(" | ")) for claim, told in zip(lines[::2], lines[1::2], strict=True)
    ]
