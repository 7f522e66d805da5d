"""The traces and examples of the EARL manual, read out of its Markdown.

A fenced block `trace NAME` is a trace as text; it is the trace of the blocks below it, and
`<!-- trace: NAME -->` makes an earlier one, also of a chapter before, that again. What an example writes stands
behind `#>` (python) or `//>` (cpp), one line each.
"""
import dataclasses
import pathlib
import re

CHAPTERS = ("earl/by_example.md", "earl/epochs.md", "earl/uses.md", "earl.md")


@dataclasses.dataclass
class Example:
    chapter: str
    line: int  # of the first line of code, from 1
    language: str
    code: str
    trace: str
    expected: list

    @property
    def name(self):
        return f"{pathlib.Path(self.chapter).stem}_{self.line}"


def expected_lines(code, language):
    mark = {"python": "#>", "cpp": "//>"}[language]
    return [line.split(mark, 1)[1].strip() for line in code.splitlines() if mark in line]


def examples(docs, language):
    """All examples of the chapters in one language."""
    found, traces = [], {}
    for chapter in CHAPTERS:
        current, block = "", None
        for number, line in enumerate((docs / chapter).read_text().splitlines(), 1):
            again = re.fullmatch(r"<!-- trace: (\w+) -->", line)
            if again:
                current = traces[again[1]]
            elif block is None and line.startswith("```") and line != "```":
                block = (line[3:].split(), number + 1, [])
            elif block is not None and line == "```":
                words, first, code = block
                text = "\n".join(code) + "\n"
                if words[0] == "trace":
                    assert words[1] not in traces, f"{chapter}: there are two traces {words[1]}"
                    traces[words[1]] = current = text
                elif words[0] == language:
                    found.append(Example(chapter, first, language, text, current,
                                         expected_lines(text, language)))
                block = None
            elif block is not None:
                block[2].append(line)
        assert block is None, f"{chapter}: a block is not closed"
    return found
