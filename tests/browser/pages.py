"""What the browser tests share: pages made by the tools, and the numbers that must stand on them, read
from CUBE files and classic listings with other parsers than the tools'.

Each test program is called with the binary directory and the folder of reference files.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from chromium import Browser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent import compare, words  # noqa: E402

BINARY = pathlib.Path(sys.argv[1])
REFERENCE = pathlib.Path(sys.argv[2])
METRICS, CALLS, SYSTEM = (f".pane:nth-of-type({n})" for n in (1, 2, 3))
FRAME = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))"


def check_report(path):
    """CUBE takes this report (tests/support/cube_grammar.h)."""
    subprocess.run([BINARY / "tests" / "check_cube", path], check=True)


class Cube:
    """A report's numbers, read with another parser than the tools'."""

    def __init__(self, path):
        check_report(path)
        root = xml.etree.ElementTree.parse(path).getroot()
        self.names = {m.findtext("uniq_name"): m.get("id") for m in root.iter("metric")}
        self.titles = {m.findtext("uniq_name"): m.findtext("disp_name") for m in root.iter("metric")}
        self.children = {m.get("id"): [c.get("id") for c in m.findall("metric")]
                         for m in root.iter("metric")}
        regions = {r.get("id"): r.findtext("name") for r in root.iter("region")}
        self.calls = {c.get("id"): regions[c.get("calleeId")] for c in root.iter("cnode")}
        self.rows = {}
        for matrix in root.iter("matrix"):
            for row in matrix.iter("row"):
                self.rows[matrix.get("metricId"), row.get("cnodeId")] = [
                    float(word) for word in row.text.split()]

    def row(self, name, call):
        return self.rows.get((self.names[name], call), [0.0])

    def total(self, name):
        return sum(sum(values) for (metric, _), values in self.rows.items()
                   if metric == self.names[name])

    def own(self, name):
        inside = {unique for unique, number in self.names.items()
                  if number in self.children[self.names[name]]}
        return self.total(name) - sum(self.total(child) for child in inside)


def analyse(cube, trace, *options, status=0):
    """Makes the report of a trace; the independent analysis must agree with it."""
    causes = [] if "--causes" in options else ["--causes=never"]
    ended = subprocess.run([BINARY / "bin" / "expert", "-q", *causes, "-o", cube, *options, trace], check=False)
    if ended.returncode != status:
        raise AssertionError(f"expert ended with {ended.returncode}")
    check_report(cube)
    compare.check(trace, cube, BINARY / "bin" / "elg_print")
    if causes == [] and status == 0:
        words.check(BINARY / "bin" / "expert", trace, cube.with_suffix(".causes.cube"))


def number(text):
    return float(text.replace("\u2212", "-").replace("\u202f", "").replace("+", ""))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="kojak-pages-")
        cls.browser = Browser()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.browser.close)

    def timeline(self):
        """Goes to the timeline of self.page."""
        self.page.click("#tab-timeline")
        self.page.until("document.querySelector('.timeline-canvas').dataset.to !== undefined")

    def seen(self):
        """What the canvas says of itself, when it rests: range in nanoseconds, boxes, arrows, height of a row."""
        self.page.evaluate(FRAME)
        self.page.until("document.querySelector('.timeline-canvas').dataset.coarse !== '1'")
        data = self.page.evaluate("({...document.querySelector('.timeline-canvas').dataset})")
        return {key: float(value) for key, value in data.items()}

    def make(self, report, *options, name=None):
        check_report(report)
        page = pathlib.Path(self.folder.name) / ((name or pathlib.Path(report).stem) + ".html")
        command = [BINARY / "bin" / "kojak", "html", *options, "-o", page, report]
        subprocess.run(command, check=True, capture_output=True)
        return page

    def open(self, path, **options):
        page = self.browser.open(path, **options)
        self.addCleanup(page.close)
        self.addCleanup(lambda: self.assertEqual(page.problems, []))
        return page

    @staticmethod
    def open_victims(page):
        """All rows of the table of those who wait."""
        page.evaluate("document.querySelectorAll('.victim button[aria-expanded=false]').forEach(b => b.click())")

    def row(self, page, pane, label):
        """Selector of the tree row with this label."""
        node = page.evaluate(
            f"[...document.querySelectorAll('{pane} .tree:not([hidden]) .row')]"
            f".find(r => r.querySelector('.name').textContent === {label!r})?.dataset.node ?? null")
        self.assertIsNotNone(node, f"no row {label}; rows: {page.texts(pane + ' .name')}")
        return f"{pane} .tree:not([hidden]) .row[data-node='{node}']"

    def pixel_of(self, page, x, y):
        """Red, green and blue on the timeline."""
        return page.evaluate(
            "(() => { const c = document.querySelector('.timeline-canvas'), s = devicePixelRatio,"
            " o = new OffscreenCanvas(1, 1), g = o.getContext('2d', {willReadFrequently: true});"
            f" g.drawImage(c, {x} * s, {y} * s, 1, 1, 0, 0, 1, 1);"
            " return [...g.getImageData(0, 0, 1, 1).data].slice(0, 3); })()")

    def value(self, page, pane, label):
        return number(page.text(self.row(page, pane, label) + " .value"))


class Listing:
    """Calls and transfers of a classic trace, from the listing that the classic tools printed."""

    def __init__(self, path):
        self.calls, self.transfers, self.bytes = [], 0, 0
        open_calls = {}
        names = {}
        for line in path.read_text().splitlines():
            kind = re.search(r"<(\w+)>", line).group(1) if "<" in line else ""
            fields = {key: value for key, value in re.findall(r"(\w+)\s*:\s*([^,]*)", line)}
            if kind == "STRING":
                names[fields["strid"].strip()] = fields["str"].strip()
            elif kind == "REGION":
                names["region " + fields["rid"].strip()] = names[fields["rnid"].strip()]
            elif kind == "ENTER":
                open_calls.setdefault(fields["lid"], []).append(
                    (names["region " + fields["rid"].strip()], float(fields["time"])))
            elif kind.endswith("EXIT"):
                name, enter = open_calls[fields["lid"]].pop()
                self.calls.append((name, int(fields["lid"]), enter, float(fields["time"])))
            elif kind in ("MPI_PUT_1TS", "MPI_GET_1TS"):
                self.transfers += 1
                self.bytes += int(fields["nbytes"])


def main():
    del sys.argv[1:3]
    unittest.main("__main__", verbosity=2)
