"""Which language model gives the verdict, and where it runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from retrieval.llm_judge.local_weights import QWEN

Provider: TypeAlias = Literal["mistral", "openai", "local"]
MISTRAL_URL = "https://api.mistral.ai"
_PRICE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)/(\d{1,6}(?:\.\d{1,6})?)")


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
        provider: which client is used: Mistral's, or that of OpenAI-compatible servers; or
            ``local`` if the model runs in this process.
        model: its name at the server.
        url: the address of its server, such as ``http://localhost:11434/v1``; "" where the
            model runs in this process.
        key: sent only to that address; "" where the server needs none.
        decides: whether the model gives the verdict (in this process: both judges together);
            otherwise the verifier gives it.
        seconds: time limit for a claim.
        price: of its tokens, if the settings name it.
    """

    provider: Provider
    model: str
    url: str
    key: str = field(repr=False)
    decides: bool = True
    seconds: int = 20
    price: Price | None = None

    @property
    def host(self) -> str:
        """Host and port that claims and evidence are sent to; "" if nothing is sent."""
        return urlsplit(self.url).netloc

    @property
    def is_local(self) -> bool:
        """Whether the model runs in the process that checks the claim."""
        return self.provider == "local"

    @property
    def lacks_key(self) -> bool:
        """Whether the server is Mistral's own, which requires a key, and the key is missing."""
        return self.url == MISTRAL_URL and not self.key

    @property
    def name(self) -> str:
        """The name of this judge in verdicts."""
        return name_of(self.model, self.host)

    @property
    def receiver(self) -> str:
        """The model that claims and evidence are sent to; "" if they stay in this process."""
        return self.name if self.host else ""

    def decider(self, verifier: str) -> str:
        """Return the name of the deciding judge in verdicts; ``verifier``: the verifier's name."""
        if not self.decides:
            return verifier
        return f"{verifier} with {self.name}" if self.is_local else self.name

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

        ``name``: PROVIDER:MODEL, or ``local``. ``mistral_key`` is used only for Mistral's own
        address, and ``url_key`` for the address in ``url``.

        Raises:
            ValueError: the settings do not fit together; the text says how to fix it.
        """
        if name == "local":
            return cls("local", QWEN.name, "", "", decides, seconds)
        provider, _, model = name.partition(":")
        if not model or model != model.strip() or not model.isprintable():
            raise ValueError("name the model too, as in mistral:mistral-small-latest")
        if provider == "mistral":
            address = url.removesuffix("/v1") or MISTRAL_URL
            key = mistral_key if address == MISTRAL_URL else url_key
            return cls("mistral", model, address, key, decides, seconds, prices.get(model))
        if provider == "openai":
            if not url:
                raise ValueError(
                    "set ESOTERIC_LLM_URL to the address of its server, such as"
                    " http://localhost:11434/v1 for Ollama"
                )
            return cls("openai", model, url, url_key, decides, seconds, prices.get(model))
        raise ValueError(
            "set it to local, or begin with mistral: or openai:, and then the name of the model"
        )


def name_of(model: str, host: str) -> str:
    """Return the name of a language model in verdicts; ``host``: "" if it runs in the worker."""
    return f"{model} at {host}" if host else f"{model} (local)"


def memory_of(choice: LanguageModelChoice | None) -> int:
    """Return the memory of the language model in each process that checks claims, in bytes."""
    return QWEN.memory if choice is not None and choice.is_local else 0
