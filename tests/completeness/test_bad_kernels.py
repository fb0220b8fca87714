"""Every diagnostic of the frontend is shown by a kernel, at the line that is wrong."""

import re
from pathlib import Path

import pytest
from bad_kernels import BAD

from enceladus import CompilationError, _core

DIAGNOSTICS = Path(__file__).parents[2] / "src" / "support" / "diagnostics.def"
FRONTEND = DIAGNOSTICS.parents[1] / "frontend"
ARGUMENTS = [
    ("x_ptr", "pointer", "float32", True),
    ("i_ptr", "pointer", "int32", True),
    ("n", "scalar", "int32", False, False),
]


def refusal(kernel):
    """The error that a kernel gives."""
    with pytest.raises(CompilationError) as caught:
        _core.frontend_ir(kernel, ARGUMENTS, {})
    return caught.value


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.kernel.__name__)
def test_bad_kernel_is_refused_at_its_line(case):
    error = refusal(case.kernel)
    first = error.diagnostics[0]
    assert first.name == case.diagnostic, str(error)
    assert case.words in first.text
    assert first.file == case.kernel.filename
    lines = case.kernel.source.splitlines()
    marked = [i for i, line in enumerate(lines) if line.endswith("# here")]
    if marked:
        assert first.line == case.kernel.first_line + marked[0], first.text
        assert lines[marked[0]].strip() in first.text
    assert str(error).startswith(f"{first.file}:{first.line}:{first.column}: error: ")
    assert "^" in first.text


def frontend_records():
    """The names of the records that the frontend raises."""
    source = "".join(path.read_text() for path in FRONTEND.glob("*.cpp"))
    names = re.findall(r"^DIAGNOSTIC\((\w+),", DIAGNOSTICS.read_text(), re.M)
    return [name for name in names if re.search(rf"DiagnosticId::k{name}\b", source)]


def test_every_record_of_the_frontend_has_a_bad_kernel():
    shown = {case.diagnostic for case in BAD}
    assert [name for name in frontend_records() if name not in shown] == []


def test_bad_kernels_name_known_records():
    known = set(re.findall(r"^DIAGNOSTIC\((\w+),", DIAGNOSTICS.read_text(), re.M))
    assert {case.diagnostic for case in BAD} <= known
