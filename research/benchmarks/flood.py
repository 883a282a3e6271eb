"""Many clients at once, one of whom asks for everything: do the others notice?

python -m research.benchmarks.flood [--minutes N] [--queue folder|redis]

Two measurements of a service with a home of its own, an invented corpus and the models of
ESOTERIC_HOME:

* One client submits 500 claims to the API, then another one types a claim into the page. How many
  of the 500 are started between?
* For some minutes, 200 clients look at pages every two seconds, and each types one claim.
  Meanwhile another client submits claims as fast as it can.

Every client has an address of its own in 127.0.0.0/8 (Linux only).
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click

from research.benchmarks import processor
from research.benchmarks.faults.corpus import RECIPE, claim
from research.benchmarks.faults.service import Service
from research.benchmarks.row import Row, percentile, resident_megabytes

MANY = 500
CLIENTS = 200
PER_MINUTE = 600
PAUSE_SECONDS = 2.0
LOOK_SECONDS = 0.5
LOOKS = 6
LONGEST_SECONDS = 120.0
FIRST, SECOND, FLOODER = "127.0.0.2", "127.0.0.3", "127.0.0.4"
_PAGES = ("/", "/claims", "/claims/{}", "/api/v1/claims/{}/progress")
_ENDED = ("done", "failed", "cancelled")


@dataclass
class Seen:
    """What the clients of the second measurement saw."""

    seconds: list[float] = field(default_factory=list)
    """Of each request of the 200."""
    statuses: Counter[int] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    """Seconds from a claim to its verdict, of the 200."""
    unfinished: int = 0
    megabytes: list[float] = field(default_factory=list)
    """Resident memory of the web process, at equal distances of time."""
    flood: Counter[int] = field(default_factory=Counter)
    """Answers to the one that submits as fast as it can."""


class Client:
    """A client with an address of its own; each request has its own connection."""

    def __init__(self, port: int, address: str) -> None:
        self._port = port
        self._address = address

    async def ask(
        self, method: str, path: str, body: str = "", kind: str = "text/plain"
    ) -> tuple[int, str, bytes]:
        """Return status, Location and body; status 0: no answer."""
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: 127.0.0.1",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        )
        try:
            async with asyncio.timeout(30):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", self._port, local_addr=(self._address, 0)
                )
                writer.write("\r\n".join((*lines, "", body)).encode())
                answer = await reader.read()
                writer.close()
        except (OSError, TimeoutError):
            return 0, "", b""
        head, _, content = answer.partition(b"\r\n\r\n")
        status, *headers = head.decode().split("\r\n")
        places = [one[10:] for one in headers if one.lower().startswith("location: ")]
        return int(status.split()[1]), "".join(places), content

    async def submit(self, number: int) -> tuple[int, str]:
        """Submit a claim to the API; return the status and the id."""
        body = json.dumps({"claim": claim(number), "recipe": RECIPE})
        status, place, _ = await self.ask("POST", "/api/v1/claims", body, "application/json")
        return status, place.rpartition("/")[2]

    async def type(self, number: int) -> tuple[int, str]:
        """Type a claim into the page; return the status and the id."""
        body = urlencode({"claim": claim(number), "recipe": RECIPE})
        kind = "application/x-www-form-urlencoded"
        status, place, _ = await self.ask("POST", "/claims", body, kind)
        return status, place.rpartition("/")[2]

    async def job(self, job_id: str) -> dict[str, Any]:
        """Return a claim as it is now."""
        _, _, content = await self.ask("GET", f"/api/v1/claims/{job_id}")
        found: dict[str, Any] = json.loads(content)
        return found

    async def ended(self, job_id: str) -> dict[str, Any]:
        """Return a claim once it has ended.

        Raises:
            TimeoutError: it takes too long.
        """
        async with asyncio.timeout(LONGEST_SECONDS):
            while (job := await self.job(job_id))["state"] not in _ENDED:
                await asyncio.sleep(LOOK_SECONDS)
            return job


async def turns(port: int) -> list[Row]:
    """Measure how long one claim waits behind the many of another client."""
    first, second = Client(port, FIRST), Client(port, SECOND)
    many = [(await first.submit(number))[1] for number in range(MANY)]
    _, one = await second.type(MANY)
    asked = time.perf_counter()
    ended = await second.ended(one)
    waited = time.perf_counter() - asked
    # Whoever starts between is among the first: the claims of a client are checked in order.
    between = 0
    queued = 0
    for job_id in many:
        started = (await first.job(job_id))["started_at"]
        queued += started is None
        between += started is not None and ended["created_at"] < started < ended["started_at"]
        if started is None:
            await first.ask("DELETE", f"/api/v1/claims/{job_id}")
    return [
        Row(
            f"claims of one client started before one of another, behind {MANY}", str(between), "1"
        ),
        Row("seconds to the verdict of this one", f"{waited:.1f} s"),
        Row("claims of the first client that were not started then", str(queued)),
    ]


async def crowd(port: int, minutes: float, web: int) -> Seen:
    """Let 200 clients and one that floods use the service; ``web``: its web process."""
    seen, end = Seen(), time.monotonic() + minutes * 60
    clients = (_visit(port, number, end, seen) for number in range(CLIENTS))
    await asyncio.gather(_weigh(web, minutes, seen), _flood(port, end, seen), *clients)
    return seen


async def _weigh(web: int, minutes: float, seen: Seen) -> None:
    seen.megabytes.append(resident_megabytes(web))
    for _ in range(LOOKS):
        await asyncio.sleep(minutes * 60 / LOOKS)
        seen.megabytes.append(resident_megabytes(web))


async def _visit(port: int, number: int, end: float, seen: Seen) -> None:
    client = Client(port, f"127.0.{1 + number // 100}.{1 + number % 100}")
    await asyncio.sleep(PAUSE_SECONDS * number / CLIENTS)
    types_at = time.monotonic() + random.Random(number).random() * (end - time.monotonic()) * 0.8
    job_id, asked = "", 0.0
    for turn in range(1_000_000):
        if time.monotonic() >= end:
            break
        began = time.perf_counter()
        if not job_id and time.monotonic() >= types_at:
            status, job_id = await client.type(10_000 + number)
            asked = began
        else:
            page = _PAGES[turn % (len(_PAGES) if job_id else 2)]
            status, _, content = await client.ask("GET", page.format(job_id))
            if asked and page.endswith("progress") and json.loads(content)["state"] in _ENDED:
                seen.waits.append(time.perf_counter() - asked)
                asked = 0.0
        seen.statuses[status] += 1
        seen.seconds.append(time.perf_counter() - began)
        await asyncio.sleep(PAUSE_SECONDS)
    if asked:
        try:
            await client.ended(job_id)
            seen.waits.append(time.perf_counter() - asked)
        except TimeoutError:
            seen.unfinished += 1


async def _flood(port: int, end: float, seen: Seen) -> None:
    client = Client(port, FLOODER)
    number = 100_000
    while time.monotonic() < end:
        status, _ = await client.submit(number)
        number += 1
        seen.flood[status] += 1


@click.command()
@click.option("--minutes", type=click.FloatRange(0.1, 60), default=10.0, show_default=True)
@click.option("--queue", type=click.Choice(["folder", "redis"]), default="folder")
def main(minutes: float, queue: str) -> None:
    """Measure, and print a table."""
    settings = {"ESOTERIC_ACCESS": "open", "ESOTERIC_CLAIMS_PER_MINUTE": str(PER_MINUTE)}
    with tempfile.TemporaryDirectory(prefix="flood-") as folder:
        service = Service(Path(folder), queue, "embedded", settings, faults=False)
        try:
            service.build()
            service.start()
            if not service.wait_until_ready():
                raise click.ClickException(f"It is not ready: {service.said()[-1000:]}")
            rows = asyncio.run(turns(service.port))
            web = service.processes()["web server"]
            seen = asyncio.run(crowd(service.port, minutes, web))
        finally:
            service.end()
            service.remove_disk()
    failed = sum(
        number for status, number in seen.statuses.items() if status in (0, *range(500, 600))
    )
    rows += [
        Row(f"requests of {CLIENTS} clients in {minutes:g} minutes", str(len(seen.seconds))),
        Row("of these without an answer, or answered with 5xx", str(failed), "0"),
        Row("a request, p50", f"{percentile(seen.seconds, 50) * 1000:.0f} ms"),
        Row("a request, p95", f"{percentile(seen.seconds, 95) * 1000:.0f} ms", "300 ms"),
        Row("their claims, done", str(len(seen.waits)), str(CLIENTS)),
        Row("from claim to verdict, p95", f"{percentile(seen.waits, 95):.1f} s"),
        Row("claims of the one that floods, accepted", str(seen.flood[202])),
        Row("refused with 429", str(seen.flood[429])),
        Row(
            "web process, resident, at equal distances",
            ", ".join(f"{megabytes:.0f}" for megabytes in seen.megabytes) + " MB",
        ),
    ]
    click.echo(f"{processor.described()}; the queue: {queue}\n")
    click.echo("| measured | figure | target |\n|---|---|---|")
    for row in rows:
        click.echo(f"| {row.what} | {row.figure} | {row.target} |")


if __name__ == "__main__":
    main()
