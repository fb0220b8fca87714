"""The queue as Python sees it: waiting, events, processes and the end of a program."""

import os
import subprocess
import sys
import threading

import pytest

import enceladus
from enceladus import _core


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def test_reading_waits_for_pending_work():
    enceladus.manual_seed(0)
    tensors = [enceladus.rand(1 << 20) for _ in range(8)]
    assert all(abs(tensor.numpy().mean() - 0.5) < 0.01 for tensor in tensors)


def test_memory_of_a_dropped_tensor_outlives_its_launch():
    for _ in range(200):
        enceladus.randn(1 << 14)  # dropped while it is being filled
    enceladus.synchronize()


def test_events_time_the_work_between_them():
    before, after = _core.Event(), _core.Event()
    before.record()
    enceladus.randn(1 << 18)
    after.record()
    enceladus.randn(1 << 18)
    first = before.elapsed_ms(after)
    after.record()
    assert 0 < first < before.elapsed_ms(after)
    with pytest.raises(ValueError, match="not been recorded"):
        before.elapsed_ms(_core.Event())


def test_evicting_the_caches_is_work_in_the_queue():
    before, after = _core.Event(), _core.Event()
    before.record()
    _core.evict_caches()
    after.record()
    assert before.elapsed_ms(after) > 0.1  # 96 MiB in less would be a terabyte a second


def test_threads_use_the_queue_at_once():
    failures = []

    def work():
        try:
            for _ in range(50):
                assert abs(enceladus.rand(1000).numpy().mean() - 0.5) < 0.1
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_computes_and_leaves_the_parent_alone():
    enceladus.manual_seed(5)
    pending = enceladus.rand(1 << 20)
    child = os.fork()
    if child == 0:
        means = [float(enceladus.rand(1 << 18).numpy().mean()) for _ in range(3)]
        inherited = float(pending.numpy().mean())
        os._exit(0 if all(abs(mean - 0.5) < 0.01 for mean in [*means, inherited]) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert abs(enceladus.rand(1 << 20).numpy().mean() - 0.5) < 0.01


def test_a_program_may_end_with_work_pending():
    result = run("import enceladus; keep = [enceladus.randn(1 << 20) for _ in range(4)]")
    assert (result.returncode, result.stderr) == (0, "")


def test_the_number_of_threads_comes_from_the_environment():
    code = "from enceladus import _core; print(_core.thread_count())"
    assert run(code, ENCELADUS_NUM_THREADS="3").stdout == "3\n"
    result = run(code, ENCELADUS_NUM_THREADS="none")
    assert "ENCELADUS_NUM_THREADS=none is no number of threads" in result.stderr
