"""200 clients that keep connections open: how long a page takes for each of them.

Every client has ten connections that were used once and wait, and one on which it asks for the
first page and the history in turn, every two seconds.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time

from research.benchmarks.row import Row, free_port, percentile, resident_megabytes
from settings import CHECKOUT

CLIENTS = 200
IDLE_CONNECTIONS = 10
REQUESTS = 15
PAUSE_SECONDS = 2.0
PATHS = ("/", "/claims")
START_SECONDS = 30.0
# A client that waits for longer counts as not served.
LONGEST_WAIT_SECONDS = 30.0


def measure() -> list[Row]:
    """Start the web server with an empty home, and let all clients visit it at once."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "ESOTERIC_HOME": home, "PORT": str(port), "HOST": "127.0.0.1"}
        web = subprocess.Popen(
            [sys.executable, "-m", "app"],
            cwd=CHECKOUT,
            env=environment,
            stderr=subprocess.DEVNULL,
        )
        try:
            visits = asyncio.run(_all_visits(port))
            megabytes = resident_megabytes(web.pid)
        finally:
            web.terminate()
            web.wait(10)
    seconds = [one for visit in visits if visit is not None for one in visit]
    served = sum(visit is not None for visit in visits)
    connections = CLIENTS * (IDLE_CONNECTIONS + 1)
    return [
        Row(f"clients served, of {CLIENTS} with {connections} connections", str(served), "200"),
        Row("a page for one of them, p50", f"{percentile(seconds, 50) * 1000:.0f} ms"),
        Row("a page for one of them, p95", f"{percentile(seconds, 95) * 1000:.0f} ms", "300 ms"),
        Row("web process with these connections, resident", f"{megabytes:.0f} MB", "150 MB"),
    ]


async def _all_visits(port: int) -> list[list[float] | None]:
    """Return the seconds of each request, for each client; None for one that was not served."""
    await _started(port)
    return await asyncio.gather(*(_visit(port, number) for number in range(CLIENTS)))


async def _visit(port: int, number: int) -> list[float] | None:
    # The clients come one after the other, and stay.
    await asyncio.sleep(number * PAUSE_SECONDS / CLIENTS)
    writers = []
    seconds = []
    try:
        for _ in range(IDLE_CONNECTIONS):
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writers.append(writer)
                await _get(reader, writer, "/healthz")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        for request in range(REQUESTS):
            asked = time.perf_counter()
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                await _get(reader, writer, PATHS[request % len(PATHS)])
            seconds.append(time.perf_counter() - asked)
            await asyncio.sleep(PAUSE_SECONDS)
    except (OSError, EOFError, TimeoutError):
        return None
    finally:
        for writer in writers:
            writer.close()
    return seconds


async def _get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    """Ask for a page and read it.

    Raises:
        OSError: it is not answered with 200.
        EOFError: the server has closed the connection.
    """
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if not head.startswith("http/1.1 200"):
        raise OSError(head.splitlines()[0])
    length = next(line for line in head.splitlines() if line.startswith("content-length:"))
    await reader.readexactly(int(length.partition(":")[2]))


async def _started(port: int) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return
