"""A pytest plugin for GPU tests on several workers: ends a worker whose CUDA context is lost.

Nothing runs in such a process any more, so each later test would fail for the first one's sake.
pytest-xdist then blames the test that lost the context and starts another worker. The error goes
to the file that ENCELADUS_LOST_CONTEXTS names.
"""

import os

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Looks at each failure."""
    yield
    if call.excinfo is None or "context of this process is lost" not in str(call.excinfo.value):
        return
    path = os.environ.get("ENCELADUS_LOST_CONTEXTS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}: {call.excinfo.value}\n")
    if "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(1)
