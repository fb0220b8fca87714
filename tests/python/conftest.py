"""For every Python test: caches of their own, so that nothing of the user's is read or written."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_caches(tmp_path_factory):
    before = os.environ.get("ENCELADUS_CACHE_DIR")
    os.environ["ENCELADUS_CACHE_DIR"] = str(tmp_path_factory.mktemp("enceladus-cache"))
    yield
    if before is None:
        del os.environ["ENCELADUS_CACHE_DIR"]
    else:
        os.environ["ENCELADUS_CACHE_DIR"] = before
