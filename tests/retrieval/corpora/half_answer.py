"""What a process of ``child_process`` serves that stops in the middle of its answer."""

import os
import struct
import time
from multiprocessing.connection import Connection


def serve(connection: Connection) -> None:
    """Send the length of an answer of 100 bytes and one byte of it, and then nothing."""
    connection.recv()
    os.write(connection.fileno(), struct.pack("!i", 100) + b"a")
    time.sleep(60)
