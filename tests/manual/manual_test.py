"""The Python examples of the EARL manual write what it says, and nothing of the model is without one."""
import contextlib
import io
import pathlib
import re

import numpy
import pytest

import earl
from chapters import CHAPTERS, examples

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
PYTHON, CPP = examples(DOCS, "python"), examples(DOCS, "cpp")


@pytest.mark.parametrize("example", PYTHON, ids=lambda example: example.name)
def test_an_example(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = earl.from_text(example.trace)
    (tmp_path / "a.elg").write_bytes(earl.text_to_trace(example.trace))
    written = io.StringIO()
    code = compile("\n" * (example.line - 1) + example.code, DOCS / example.chapter, "exec")
    with contextlib.redirect_stdout(written):
        exec(code, {"earl": earl, "numpy": numpy, "trace": trace})
    assert [line.rstrip() for line in written.getvalue().splitlines()] == example.expected


def test_every_example_says_what_it_writes():
    assert len(PYTHON) > 30 and len(CPP) > 30
    for example in PYTHON + CPP:
        assert example.expected and example.trace, example.name


def members(path, pattern):
    found = re.findall(pattern, (ROOT / path).read_text())
    assert found, path
    return set(found)


def test_every_pointer_and_aspect_has_an_example_in_python():
    text = "\n".join(example.code for example in PYTHON)
    names = {name for name in vars(earl.Event) if name.endswith("ptr")}
    names |= {name for kind in (earl.State, earl.Trace) for name in vars(kind)
              if not name.startswith("_")}
    # What says something of the opening rather than of the trace.
    names -= {"native", "from_cache", "cache_error", "path"}
    missing = sorted(name for name in names if not re.search(rf"\.{name}\b", text))
    assert not missing


def test_every_pointer_and_aspect_has_an_example_in_cpp():
    text = "\n".join(example.code for example in CPP)
    names = members("earl/access/archive.h", r"KOJAK_EARL_POINTER\((\w+ptr)\)") | {"enterptr"}
    assert len(names) == 11
    aspects = members("earl/index/state.h", r"(?m)^  [A-Z]\w+(?:<\w+>)? (\w*[a-z]);$")
    assert len(aspects) == 17
    epochs = {"access", "exposure", "fence", "lock", "lock_all", "epoch_pair", "epoch_pairs",
              "access_transactions", "exposure_transactions", "finished"}
    queries = {"state", "state_at", "first_at", "for_each", "call_path", "call_tree", "definitions",
               "damage", "holders", "waiters", "complete", "paired", "queue", "visits", "stack"}
    missing = sorted(name for name in names | aspects | epochs | queries
                     if not re.search(rf"(\.|->|::){name}\b", text))
    assert not missing


def test_the_chapters_are_linked():
    overview = (DOCS / "earl.md").read_text()
    for chapter in CHAPTERS[:-1]:
        assert f"]({chapter})" in overview
