"""The scripts of the EARL chapter run, and the chapter shows what they make."""
import os
import pathlib
import subprocess
import sys

import pytest

REFERENCE = pathlib.Path(os.environ["KOJAK_REFERENCE"])
DOCS = REFERENCE.parent.parent / "docs"


def run(script, *arguments):
    return subprocess.run([sys.executable, DOCS / "earl" / script, *arguments], check=True,
                          capture_output=True, text=True, timeout=100).stdout


def test_timelines_are_those_of_the_chapter(tmp_path):
    run("timelines.py", REFERENCE, tmp_path)
    pictures = sorted(p.name for p in tmp_path.iterdir())
    assert pictures == ["earl-epochs.svg", "earl-fence.svg", "earl-locks.svg", "earl-messages.svg",
                        "earl-pointers.svg", "earl-stack.svg"]
    chapter = (DOCS / "earl.md").read_text()
    for name in pictures:
        assert f"images/{name}" in chapter
        assert (tmp_path / name).read_text() == (DOCS / "images" / name).read_text()


def test_the_example_finds_the_late_post_that_was_injected(tmp_path):
    pytest.importorskip("matplotlib")
    output = run("late_post.py", REFERENCE / "gats.elg", tmp_path)
    assert output in (DOCS / "earl.md").read_text().replace("\n    ", "\n")
    assert {p.name for p in tmp_path.iterdir()} == {"earl-timeline.svg", "earl-bytes.svg"}
