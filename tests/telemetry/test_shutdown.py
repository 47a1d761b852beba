"""Does a program that is told to end say where it stopped, send what it can, and still end as it was told?"""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from tracer.store import read
from tracer.store.engine import Store
from tracer.store.rows import SegmentRow

from .conftest import Receiver, Shop, Start, free_port, text, wait_for


def left(shop: Shop) -> SegmentRow:
    with Store.open(shop.home / "waypost.db") as store, store.reader.connect() as connection:
        return read.segments(connection, "leaver-1")[-1]


def told_to_end(start: Start, env: dict[str, str], *, after_s: float = 0.3) -> tuple[int, str, float]:
    """(exit status, its output, seconds from the signal to the end) of a leaver."""
    process = start("leaver-1", env=env, script="leaver.py", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(after_s)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    return process.returncode, first + out + err, time.monotonic() - began


@pytest.mark.parametrize("rest", ["0.01", ""], ids=["mostly idle", "always writing"])
def test_a_terminated_program_marks_its_segment_sends_everything_and_dies_of_the_signal(
    start: Start, shop: Shop, receiver: Receiver, rest: str
) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "30000", "REST": rest}
    status, said, _ = told_to_end(start, env)
    assert status == -signal.SIGTERM
    assert "Traceback" not in said
    assert left(shop).outcome == "interrupted"
    assert wait_for(lambda: set(receiver.events()) == shop.ids())
    (root,) = [span for span in receiver.snapshot() if not span.parent_span_id]
    assert text(root.attributes, "waypost.segment.outcome") == "interrupted"
    assert shop.owed() == 0


def test_a_hanging_collector_does_not_keep_a_terminated_program_alive(
    start: Start, shop: Shop, receiver: Receiver
) -> None:
    receiver.delay_s = 60.0
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "REST": "0.01"}
    status, _, took = told_to_end(start, env)
    assert status == -signal.SIGTERM
    assert took < 10
    assert left(shop).outcome == "interrupted"
    assert shop.owed() > 0


def test_a_dead_collector_does_not_keep_a_terminated_program_waiting(start: Start, shop: Shop) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}", "REST": "0.01"}
    status, said, _ = told_to_end(start, env)
    assert status == -signal.SIGTERM
    assert said.count("do not reach") == 1
    assert left(shop).outcome == "interrupted"


def test_a_handler_of_the_programs_own_is_left_alone(start: Start, shop: Shop, receiver: Receiver) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OWN_HANDLER": "1", "REST": "0.01"}
    status, said, _ = told_to_end(start, env)
    assert status == 5
    assert said.splitlines()[:2] == ["ready", "own handler"]
    assert wait_for(lambda: set(receiver.events()) == shop.ids())


def test_only_the_main_thread_takes_the_signal_and_taking_part_can_be_undone() -> None:
    script = (
        "import signal, threading\n"
        "from tracer.telemetry.shutdown import Farewell\n"
        "def free(): return signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
        "kept = Farewell(lambda: None, lambda s: print('flush', s))\n"
        "gone = Farewell(lambda: None, lambda s: print('never', s))\n"
        "thread = threading.Thread(target=lambda: print(kept.install(), free()))\n"
        "thread.start(); thread.join()\n"
        "print(gone.install(), free())\n"
        "gone.remove()\n"
        "print(free())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False True", "True False", "True", "flush 3.0"]
