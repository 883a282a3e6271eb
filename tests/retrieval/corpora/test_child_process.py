from __future__ import annotations

import pytest

from retrieval.corpora.child_process import ChildProcess, ChildTooSlow
from tests.retrieval.corpora import half_answer


@pytest.mark.server
def test_a_process_that_stops_in_the_middle_of_an_answer_is_ended_in_time() -> None:
    with ChildProcess(half_answer.__name__) as process:
        process.send("anything")
        with pytest.raises(ChildTooSlow):
            process.receive(0.2)
        assert process.pid is None
