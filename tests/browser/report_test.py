#!/usr/bin/env python3
"""Looks at pages of reports in a real browser, as a person would: loads them, chooses, expands,
searches, and reads what stands there.

Usage: report_test.py BINARY_DIR REFERENCE_DIR [unittest arguments]
Needs Chromium (Debian's package chromium). Expected numbers are computed here from the CUBE files.
"""
import pathlib
import subprocess
import sys

from pages import BINARY, CALLS, FRAME, METRICS, REFERENCE, SYSTEM, Cube, Pages, main, number


class SmallReport(Pages):
    def setUp(self):
        self.cube = Cube(REFERENCE / "gats.cube")
        self.page = self.open(self.make(REFERENCE / "gats.cube"))

    def trees(self):
        self.page.click("#tab-trees")

    def choose_metric(self, name):
        self.page.evaluate(f"location.hash = 'view=trees&metric={name}&call=0'")
        self.page.until(f"document.querySelector('{METRICS} .row.chosen .name')?.textContent === "
                        f"{self.cube.titles[name]!r}")

    def test_first_screen_names_the_worst_first(self):
        self.assertEqual(self.page.evaluate("document.title"), "gats.cube: 4 processes")
        titles = self.page.texts(".finding h3 bdi")
        # By the sums in the file: barrier 1.641, late post 0.601, early wait 0.450, free 0.060 and
        # barrier completion 0.055 s; create is below a thousandth of the run.
        self.assertEqual(titles, ["WaitAtBarrier", "Late Post", "Early Wait", "WaitAtWinFree",
                                  "Barrier Completion"])
        sizes = self.page.texts(".finding .size b")
        self.assertEqual(sizes[0].replace("\u202f", " "),
                         f"{self.cube.total('mpi_barrier_wait'):.2f} s")
        self.assertIn("rank 1 waits 714", self.page.text(".finding .who"))
        self.assertIn("MPI_Win_start", self.page.text(".finding:nth-child(2) .where"))
        self.assertIn("Late Complete", self.page.text(".finding:nth-child(3)"))
        self.assertIn("What to try", self.page.text(".finding .advice"))

    def test_jump_from_a_finding_into_the_trees(self):
        self.page.click(".finding:nth-child(2) [data-action=trees]")
        self.assertEqual(self.page.text(f"{METRICS} .row.chosen .name"), "Late Post")
        self.assertEqual(self.page.text(f"{CALLS} .row.chosen .name"), "MPI_Win_start")
        row = self.cube.row("mpi_rma_latepost", "7")
        self.assertEqual(self.cube.calls["7"], "MPI_Win_start")
        for rank in range(4):
            self.assertAlmostEqual(self.value(self.page, SYSTEM, f"rank {rank}"), row[rank], 4)
        self.assertIn("call=7", self.page.evaluate("location.hash"))

    def test_expanding_a_metric_leaves_its_own_part(self):
        self.choose_metric("mpi_synchronization")
        row = self.row(self.page, METRICS, "Synchronization")
        if self.page.evaluate(f"document.querySelector(\"{row}\").getAttribute('aria-expanded')") == "true":
            self.page.click(row + " .twisty")
        self.assertAlmostEqual(self.value(self.page, METRICS, "Synchronization"),
                               self.cube.total("mpi_synchronization"), 3)
        self.page.click(row + " .twisty")
        self.assertAlmostEqual(self.value(self.page, METRICS, "Synchronization"),
                               self.cube.own("mpi_synchronization"), 3)
        # Barrier below it is open from the start, because the worst bottleneck is in it.
        self.assertAlmostEqual(self.value(self.page, METRICS, "Barrier"),
                               self.cube.own("mpi_sync_collective"), 3)

    def test_choosing_a_metric_redistributes_the_call_tree(self):
        self.choose_metric("mpi_barrier_wait")
        barrier = next(c for c, name in self.cube.calls.items() if name == "MPI_Barrier")
        expected = sum(self.cube.row("mpi_barrier_wait", barrier))
        self.assertAlmostEqual(self.value(self.page, CALLS, "MPI_Barrier"), expected, 3)
        self.assertEqual(self.value(self.page, CALLS, "MPI_Win_start"), 0)
        self.page.click(self.row(self.page, CALLS, "MPI_Barrier"))
        values = self.cube.row("mpi_barrier_wait", barrier)
        self.assertAlmostEqual(self.value(self.page, SYSTEM, "rank 1"), values[1], 4)

    def test_collapsing_a_call_path_shows_it_with_its_callees(self):
        self.choose_metric("mpi")
        row = self.row(self.page, METRICS, "MPI")
        if self.page.evaluate(f"document.querySelector(\"{row}\").getAttribute('aria-expanded')") == "true":
            self.page.click(row + " .twisty")
        root = self.row(self.page, CALLS, "PARALLEL")
        self.assertEqual(self.value(self.page, CALLS, "PARALLEL"), 0)
        self.page.click(root + " .twisty")
        self.assertAlmostEqual(self.value(self.page, CALLS, "PARALLEL"), self.cube.total("mpi"), 3)

    def test_percent_modes(self):
        self.choose_metric("mpi_rma_latepost")
        self.page.click(".toolbar [data-value=root]")
        share = 100 * self.cube.total("mpi_rma_latepost") / self.cube.total("time")
        self.assertAlmostEqual(self.value(self.page, METRICS, "Late Post"), share, delta=0.051)
        self.assertAlmostEqual(self.value(self.page, CALLS, "MPI_Win_start"), share, delta=0.051)
        self.page.click(".toolbar [data-value=selection]")
        self.assertAlmostEqual(self.value(self.page, CALLS, "MPI_Win_start"), 100, delta=0.051)
        self.page.click(self.row(self.page, CALLS, "MPI_Win_start"))
        row = self.cube.row("mpi_rma_latepost", "7")
        self.assertAlmostEqual(self.value(self.page, SYSTEM, "rank 1"), 100 * row[1] / sum(row),
                               delta=0.051)
        self.page.key("p")
        self.assertAlmostEqual(self.value(self.page, SYSTEM, "rank 1"), row[1], 4)

    def test_search_goes_from_match_to_match(self):
        self.trees()
        self.page.click(f"{CALLS} input")
        self.page.type("mpi_win")
        self.assertEqual(self.page.text(f"{CALLS} .found"), "7 matches")
        names = []
        for _ in range(8):
            self.page.key("Enter")
            names.append(self.page.text(f"{CALLS} .row.chosen .name"))
        self.assertEqual(names[0], "MPI_Win_create")
        self.assertEqual(len(set(names)), 7)
        self.assertEqual(names[7], names[0])
        self.page.key("Escape")
        self.assertEqual(self.page.text(f"{CALLS} .found"), "")
        self.assertEqual(self.page.count(f"{CALLS} .match"), 0)

    def test_sorting_by_value(self):
        self.choose_metric("mpi_barrier_wait")
        self.page.click(f"{CALLS} [aria-label='Sort call paths'] [data-value=value]")
        self.assertEqual(self.page.texts(f"{CALLS} .tree:not([hidden]) .name")[1], "MPI_Barrier")

    def test_flat_profile_sums_up_functions(self):
        self.choose_metric("visits")
        self.page.click(f"{CALLS} [data-value=flat]")
        # TRACING is called from two places.
        tracing = [c for c, name in self.cube.calls.items() if name == "TRACING"]
        self.assertEqual(len(tracing), 2)
        expected = sum(sum(self.cube.row("visits", c)) for c in tracing)
        self.assertEqual(self.value(self.page, CALLS, "TRACING"), expected)

    def test_keyboard_alone(self):
        self.page.key("2")
        self.assertEqual(self.page.evaluate("document.documentElement.dataset.view"), "trees")
        self.page.key("c")
        self.page.key("Home")
        self.assertEqual(self.page.text(f"{CALLS} .row.chosen .name"), "PARALLEL")
        self.page.key("ArrowLeft")
        self.assertEqual(self.page.count(f"{CALLS} .tree:not([hidden]) .row"), 1)
        self.page.key("ArrowRight")
        self.page.key("ArrowDown")
        self.assertEqual(self.page.text(f"{CALLS} .row.chosen .name"), "MPI_Init")
        self.page.key("*")
        self.assertEqual(self.page.texts(f"{CALLS} .tree:not([hidden]) .name")[2], "TRACING")
        self.page.key("End")
        self.page.key("ArrowLeft")
        self.assertEqual(self.page.text(f"{CALLS} .row.chosen .name"), "MPI_Finalize")
        self.page.key("/")
        self.assertTrue(self.page.evaluate(f"document.activeElement.matches('{CALLS} input')"))
        self.page.key("Escape")
        self.page.key("1")
        self.assertEqual(self.page.evaluate("document.documentElement.dataset.view"), "findings")
        self.page.key("?")
        self.assertTrue(self.page.evaluate("document.querySelector('dialog').open"))

    def test_topology_shows_a_cell_for_each_process(self):
        self.choose_metric("mpi_barrier_wait")
        self.page.click(self.row(self.page, CALLS, "MPI_Barrier"))
        self.page.click(f"{SYSTEM} [data-value=topology]")
        self.page.evaluate(FRAME)
        self.assertEqual(self.page.texts(f"{SYSTEM} option")[0], "Topology: 1 periodic \u00d7 4")
        left, top, width, height = self.page.place(f"{SYSTEM} canvas")
        cell = (width - 14) / 4
        self.page.move(left + 2.5 * cell, top + cell / 2)
        total = sum(self.cube.row("mpi_barrier_wait", c)[2] for c in self.cube.calls
                    if len(self.cube.row("mpi_barrier_wait", c)) == 4)
        self.assertIn(f"rank 2 (0, 2): {1000 * total:.0f}",
                      self.page.text(f"{SYSTEM} .tip").replace("\u202f", ""))

    def test_dark_and_light(self):
        def paper():
            return self.page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = paper()
        self.page.dark(True)
        dark = paper()
        self.assertNotEqual(light, dark)
        self.page.click("#theme")
        self.assertEqual(paper(), light)
        self.page.dark(False)
        self.page.click("#theme")
        self.assertEqual(paper(), dark)

    def test_prints(self):
        self.trees()
        self.page.send("Emulation.setEmulatedMedia", media="print")
        self.assertTrue(self.page.evaluate("getComputedStyle(document.querySelector('.tabs')).display === 'none'"))
        data = self.page.send("Page.printToPDF")["data"]
        self.assertGreater(len(data), 10000)

    def test_every_choice_has_a_name_and_trees_their_roles(self):
        self.trees()
        nameless = self.page.evaluate(
            "[...document.querySelectorAll('button, input, select')].filter(e => !(e.textContent.trim()"
            " || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)")
        self.assertEqual(nameless, [])
        self.assertEqual(self.page.count("[role=tree]:not([hidden])"), 3)
        self.assertGreater(self.page.count("[role=treeitem][aria-level='1']"), 2)


class Comparison(Pages):
    def test_names_regressions_and_improvements(self):
        before, after = Cube(REFERENCE / "fence.cube"), Cube(REFERENCE / "gats.cube")
        path = pathlib.Path(self.folder.name) / "diff.html"
        subprocess.run([BINARY / "bin" / "kojak", "diff", "-o", path, REFERENCE / "fence.cube",
                        REFERENCE / "gats.cube"], check=True, capture_output=True)
        page = self.open(path)
        self.assertEqual(page.evaluate("document.title"), "fence.cube \u2192 gats.cube")
        sections = page.texts(".changes section h2")
        self.assertTrue(sections[0].startswith("Regressions"))
        self.assertTrue(sections[1].startswith("Improvements"))
        worst = page.text(".changes section:nth-of-type(1) .change")
        change = after.total("mpi_barrier_wait") - before.total("mpi_barrier_wait")
        self.assertIn("WaitAtBarrier", worst)
        self.assertIn(f"+{change:.2f}", worst)
        best = page.text(".changes section:nth-of-type(2) .change")
        self.assertIn("WaitAtFence", best)
        self.assertIn("gone", best)
        page.click(".changes section:nth-of-type(1) .change")
        self.assertEqual(page.text(f"{CALLS} .row.chosen .name"), "MPI_Barrier")
        self.assertAlmostEqual(self.value(page, CALLS, "MPI_Barrier"), change, 3)
        self.assertAlmostEqual(self.value(page, METRICS, "WaitAtBarrier"), change, 3)
        barrier = [next(c for c, name in cube.calls.items() if name == "MPI_Barrier")
                   for cube in (before, after)]
        for rank in range(4):
            delta = (after.row("mpi_barrier_wait", barrier[1])[rank]
                     - before.row("mpi_barrier_wait", barrier[0])[rank])
            self.assertAlmostEqual(self.value(page, SYSTEM, f"rank {rank}"), delta, 3)
        page.click(".toolbar [data-value=root]")
        self.assertAlmostEqual(self.value(page, METRICS, "WaitAtBarrier"),
                               100 * change / before.total("time"), delta=0.051)


class OtherSize(Pages):
    def test_runs_of_different_sizes_and_call_trees(self):
        folder = pathlib.Path(self.folder.name)
        cubes = []
        for ranks, calls in ((2, 5), (3, 8)):
            path = folder / f"of{ranks}.cube"
            subprocess.run([BINARY / "tests" / "make_report", str(ranks), str(calls), path], check=True)
            cubes.append(Cube(path))
        path = folder / "sizes.html"
        subprocess.run([BINARY / "bin" / "kojak", "diff", "-o", path, folder / "of2.cube",
                        folder / "of3.cube"], check=True, capture_output=True)
        page = self.open(path)
        # One process in the mean, below the sum over all of them.
        self.assertEqual(page.text(".before-after .mean th"), "of each of 2, then 3")
        means = [cube.total("time") / ranks for cube, ranks in zip(cubes, (2, 3))]
        for mean, text in zip(means, page.texts(".before-after .mean td")):
            self.assertAlmostEqual(number(text.split("\u202f")[0]) / mean, 1, delta=0.005)
        self.assertIn("different processes", page.text(".changes"))
        page.click("#tab-trees")
        self.choose_all(page)
        change = cubes[1].total("time") - cubes[0].total("time")
        self.assertAlmostEqual(self.value(page, SYSTEM, "all processes"), change, delta=change / 1000)
        # Functions that only the second run called are in the tree.
        names = set(cubes[1].calls.values()) - set(cubes[0].calls.values())
        page.click(f"{CALLS} button[title='Expand all']")
        page.evaluate(FRAME)
        self.assertLessEqual(names, set(page.texts(f"{CALLS} .tree:not([hidden]) .name")))

    def choose_all(self, page):
        page.evaluate("location.hash = 'view=trees&metric=time&call=0'")
        page.until(f"document.querySelector('{METRICS} .row.chosen')?.dataset.node === '0'")
        for pane in (METRICS, CALLS):
            page.click(f"{pane} button[title='Collapse all']")
        page.evaluate(FRAME)


HOSTILE = """</script><script>window.broken = 1</script><img src=x onerror="window.broken = 2">'"&amp;"""


class HostileNames(Pages):
    def test_names_are_text_and_nothing_else(self):
        cube = (REFERENCE / "gats.cube").read_bytes()
        evil = (HOSTILE.replace("&", "&amp;").replace("<", "&lt;") + "x" * 10000).encode()
        for name in (b"MPI_Barrier", b"MPI_Win_start"):  # two names that differ, as siblings' must
            cube = cube.replace(b"<name>" + name + b"</name>", b"<name>" + evil + name + b"\xff\xfe\xc3</name>")
        cube = cube.replace(b"WaitAtBarrier", evil)
        cube = cube.replace(b"<name>vm</name>", b"<name>\xe2\x80\xaegnp.exe" + evil + b"</name>")
        report = pathlib.Path(self.folder.name) / "hostile.cube"
        report.write_bytes(cube)
        page = self.open(self.make(report, "--title", HOSTILE))
        self.assertIn(HOSTILE[:40], page.text(".finding h3"))
        self.assertIn("window.broken", page.text("h1"))
        for view in ("#tab-findings", "#tab-trees"):
            page.click(view)
            page.evaluate(FRAME)
        page.click(f"{CALLS} [data-value=flat]")
        page.click(f"{CALLS} input")
        page.type("<img")
        page.key("Enter")
        page.evaluate(FRAME)
        self.assertIsNone(page.evaluate("window.broken ?? null"))
        self.assertEqual(page.count("#app img, #app script"), 0)
        # The note about bytes that are no text: three at two names.
        self.assertIn("6 bytes", page.text(".notes"))


class LargeReport(Pages):
    def test_opens_at_once(self):
        report = pathlib.Path(self.folder.name) / "large.cube"
        subprocess.run([BINARY / "tests" / "make_report", "4096", "2000", report], check=True)
        path = self.make(report)
        report.unlink()
        size = path.stat().st_size
        self.assertLess(size, 20_000_000)
        page = self.open(path)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"4,096 locations x 2,000 call paths: {size / 1e6:.1f} MB, first screen after "
              f"{paint / 1000:.2f} s, complete after {page.seconds:.2f} s", file=sys.stderr)
        # Values of call path c: time 10 / (1 + c) * (1 + p), p evenly between 0 and 1; of every tenth,
        # from 4 on, half of that times p is waiting, which is 5/12 of 10 / (1 + c) in the mean.
        run = sum(10 / (1 + c) * 1.5 for c in range(2000))
        large = [c for c in range(4, 2000, 10) if 10 / (1 + c) * 5 / 12 >= 0.001 * run]
        self.assertEqual(page.count(".finding"), len(large))
        worst = number(page.text(".finding .size b").split("\u202f")[0])
        self.assertAlmostEqual(worst / (4096 * 2 * 5 / 12), 1, delta=0.03)
        page.click("#tab-trees")
        page.click(f"{SYSTEM} button[title='Expand all']")
        page.evaluate(FRAME)
        # Thousands of rows, but only those in sight are elements.
        self.assertLess(page.count(".row"), 200)
        page.click(f"{SYSTEM} input")
        page.type("rank 4000")
        page.key("Enter")
        self.assertEqual(page.text(f"{SYSTEM} .row.chosen .name"), "rank 4000")
        # The generator of std::minstd_rand, seeded with 1 + call path; rank 4000 has the 4001st number.
        page.click("#tab-findings")
        page.click(".finding [data-action=trees]")
        state = 5
        for _ in range(4001):
            state = state * 48271 % 2147483647
        part = state / 2147483647
        self.assertAlmostEqual(self.value(page, SYSTEM, "rank 4000"), (1 + part) * part,
                               delta=2 / 255)
        page.click(f"{SYSTEM} [data-value=topology]")
        page.evaluate(FRAME)
        self.assertIn("64", page.texts(f"{SYSTEM} option")[0])


if __name__ == "__main__":
    main()
