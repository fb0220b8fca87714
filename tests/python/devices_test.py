"""Devices by name, the default and its overrides."""

import threading

import pytest

import enceladus


def test_the_cpu_is_here_and_prints_as_its_name():
    assert enceladus.devices()[0] == "cpu"
    assert str(enceladus.current_device()) == "cpu"
    assert enceladus.devices()[0] == enceladus.Device("cpu")


HERE = [device.name for device in enceladus.devices()]
ELSEWHERE = [name for name in ("metal", "cuda:0", "metal-sim") if name not in HERE]
ABSENT = ELSEWHERE[0]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_devices_that_are_elsewhere_are_errors_that_say_what_is_here(name):
    with pytest.raises(ValueError, match="not available here; there is: cpu"):
        enceladus.set_device(name)
    with pytest.raises(ValueError, match="not available here"), enceladus.device(name):
        pass


def test_unknown_names_are_errors_that_say_how_devices_are_called():
    with pytest.raises(ValueError, match="is no device; devices are called"):
        enceladus.set_device("gpu")


def test_the_environment_is_read_at_each_use(monkeypatch):
    monkeypatch.setenv("ENCELADUS_DEVICE", ABSENT)
    with pytest.raises(ValueError, match="not available"):
        enceladus.empty(3)
    with enceladus.device("cpu"):
        assert enceladus.empty(3).device == "cpu"
    monkeypatch.delenv("ENCELADUS_DEVICE")
    assert enceladus.empty(3).device == "cpu"


def test_overrides_nest_and_belong_to_their_thread(monkeypatch):
    monkeypatch.setenv("ENCELADUS_DEVICE", ABSENT)
    failures = []

    def elsewhere():
        try:
            enceladus.current_device()
        except ValueError as error:
            failures.append(error)

    with enceladus.device("cpu"), enceladus.device(enceladus.Device("cpu")) as inner:
        assert inner == enceladus.current_device()
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert len(failures) == 1
