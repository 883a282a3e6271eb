"""Which language model gives the verdict, and where it runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

Provider: TypeAlias = Literal["mistral", "openai"]
MISTRAL_URL = "https://api.mistral.ai/v1"
# What ``local`` stands for: Ollama on this computer, and the model that was measured.
LOCAL_URL, LOCAL_MODEL = "http://localhost:11434/v1", "qwen2.5-coder:1.5b"
_PRICE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)/(\d{1,6}(?:\.\d{1,6})?)")


def is_local(name: str) -> bool:
    """Return whether a setting means a model of Ollama on this computer."""
    return name == "local" or (name.startswith("local:") and name != "local:")


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens, in any currency."""

    prompt: float
    answer: float


def read_prices(text: str) -> dict[str, Price]:
    """Return the prices by the names of the models.

    Raises:
        ValueError: an entry cannot be read; the text says how to write it.
    """
    prices = {}
    for entry in filter(None, (entry.strip() for entry in text.split(","))):
        model, _, price = entry.rpartition("=")
        numbers = _PRICE.fullmatch(price.strip())
        if not model.strip() or numbers is None:
            raise ValueError(
                f"contains {entry!r}; write MODEL=READ/WRITTEN, such as"
                " mistral-small-latest=0.1/0.3."
            )
        prices[model.strip()] = Price(float(numbers[1]), float(numbers[2]))
    return prices


@dataclass(frozen=True, slots=True)
class LanguageModelChoice:
    """A language model, as the settings name it.

    Attributes:
        model: its name at the server.
        url: the address of its server, such as ``http://localhost:11434/v1``.
        key: sent only to that address; "" where the server needs none.
        decides: whether the model gives the verdict; otherwise the verifier gives it.
        seconds: time limit for a claim.
        price: of its tokens, if the settings name it.
        provider: whose SDK calls it: Mistral's, or OpenAI's for all other servers.
    """

    model: str
    url: str
    key: str = field(repr=False)
    decides: bool = True
    seconds: int = 20
    price: Price | None = None
    provider: Provider = "openai"

    @property
    def host(self) -> str:
        """Host and port that claims and evidence are sent to."""
        return urlsplit(self.url).netloc

    @property
    def lacks_key(self) -> bool:
        """Whether the server is Mistral's own, which requires a key, and the key is missing."""
        return self.url == MISTRAL_URL and not self.key

    @property
    def name(self) -> str:
        """The name of this judge in verdicts, and what users read of where claims are sent."""
        return name_of(self.model, self.host)

    @classmethod
    def read(
        cls,
        name: str,
        url: str,
        mistral_key: str,
        url_key: str,
        decides: bool,
        seconds: int,
        prices: Mapping[str, Price],
    ) -> LanguageModelChoice:
        """Return the choice of the settings; a setting that is not set is "".

        ``name``: PROVIDER:MODEL, ``local``, or ``local:MODEL``. ``mistral_key`` is used only for
        Mistral's own address, and ``url_key`` for the address in ``url``.

        Raises:
            ValueError: the settings do not fit together; the text says how to fix it.
        """
        if is_local(name):
            name, url = f"openai:{name[len('local:') :] or LOCAL_MODEL}", url or LOCAL_URL
        provider, _, model = name.partition(":")
        if not model or model != model.strip() or not model.isprintable():
            raise ValueError("name the model too, as in mistral:mistral-small-latest")
        if provider == "mistral":
            url = f"{url.removesuffix('/v1')}/v1" if url else MISTRAL_URL
        elif provider != "openai":
            raise ValueError(
                "set it to local, or begin with mistral: or openai:, and then the name of the model"
            )
        elif not url:
            raise ValueError(
                "set ESOTERIC_LLM_URL to the address of its server, such as"
                " http://localhost:11434/v1 for Ollama"
            )
        key = mistral_key if provider == "mistral" and url == MISTRAL_URL else url_key
        sdk: Provider = "mistral" if provider == "mistral" else "openai"
        return cls(model, url, key, decides, seconds, prices.get(model), sdk)


def name_of(model: str, host: str) -> str:
    """Return the name of a language model in verdicts."""
    return f"{model} at {host}"
