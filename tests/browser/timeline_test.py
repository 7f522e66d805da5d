#!/usr/bin/env python3
"""Looks at the timeline and the byte matrix of pages in a real browser.

Usage: timeline_test.py BINARY_DIR REFERENCE_DIR [unittest arguments]
Needs Chromium. Expected calls and times are those of the listing that the classic tools printed.
"""
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

from pages import BINARY, CALLS, FRAME, REFERENCE, Listing, Pages, analyse, check_report, main


class Timeline(Pages):
    def setUp(self):
        self.listing = Listing(REFERENCE / "gats.print.txt")
        cube = pathlib.Path(self.folder.name) / "run.cube"
        trace = REFERENCE / "gats.elg"
        analyse(cube, trace)
        self.page = self.open(self.make(cube, "--trace", trace, name=self.id()))

    def pixel(self, x, y):
        return self.pixel_of(self.page, x, y)

    def test_has_all_calls_and_transfers(self):
        self.timeline()
        self.assertIn(f"{len(self.listing.calls)} calls", self.page.text(".timeline .legend"))
        seen = self.seen()
        self.assertEqual(seen["from"], 0)
        end = max(exit for _, _, _, exit in self.listing.calls)
        self.assertAlmostEqual(seen["to"] / 1e9, end, 5)
        self.assertEqual(self.page.count(".omitted"), 0)
        legend = self.page.texts(".timeline-legend li")
        for kind in ("barrier", "access epoch", "exposure epoch", "put", "get", "request"):
            self.assertIn(kind, legend)

    def test_a_call_is_drawn_where_it_was(self):
        self.timeline()
        seen = self.seen()
        left, top, width, height = self.page.place(".timeline-canvas")
        # The longest barrier of rank 1, in the second of four rows.
        name, lid, enter, exit = max((c for c in self.listing.calls
                                      if c[0] == "MPI_Barrier" and c[1] == 1), key=lambda c: c[3] - c[2])
        def x(time):
            return 92 + (width - 92) * (time * 1e9 - seen["from"]) / (seen["to"] - seen["from"])
        row = self.seen()["height"]
        y = 26 + row + row * 0.7
        self.page.move(left + x((enter + 3 * exit) / 4), top + y)
        self.page.until("!document.querySelector('.timeline-tip').hidden")
        self.assertIn("MPI_Barrier", self.page.text(".timeline-tip"))
        self.assertIn("rank 1", self.page.text(".timeline-tip"))
        self.page.click_at(left + x((enter + 3 * exit) / 4), top + y)
        self.assertIn(f"{1000 * (exit - enter):.0f}", self.page.text(".about"))
        self.page.click(".about button")
        self.assertEqual(self.page.text(f"{CALLS} .row.chosen .name"), "MPI_Barrier")

    def place(self, row, time):
        """Where a moment of one of the four rows is drawn, in the lower part of its calls."""
        seen = self.seen()
        _, _, width, height = self.page.place(".timeline-canvas")
        high = self.seen()["height"]
        return (92 + (width - 92) * (time * 1e9 - seen["from"]) / (seen["to"] - seen["from"]),
                26 + high * row + high * 0.6)

    def test_waiting_stands_out_in_the_call(self):
        self.timeline()
        calls = self.listing.calls
        # Rank 0 waits in MPI_Win_wait until the last of the three origins comes to its MPI_Win_complete.
        _, row, enter, exit = max((c for c in calls if c[0] == "MPI_Win_wait"), key=lambda c: c[3] - c[2])
        last = max(c[2] for c in calls if c[0] == "MPI_Win_complete" and c[2] < exit)
        self.assertTrue(enter < last < exit)
        waiting, epochs, program = [214, 48, 0], [191, 115, 163], [226, 232, 240]
        self.page.click("[data-show=waits]")
        self.page.click("[aria-label=Transfers] [data-value=off]")
        self.seen()
        for part in (0.1, 0.5, 0.9):
            self.assertEqual(self.pixel(*self.place(row, enter + part * (last - enter))), waiting)
        self.assertEqual(self.pixel(*self.place(row, (last + exit) / 2)), epochs)
        # Behind that call rank 0 computes.
        after = min(c[2] for c in calls if c[1] == row and c[2] > exit + 0.01)
        self.assertEqual(self.pixel(*self.place(row, (exit + after) / 2)), program)
        left, top, _, _ = self.page.place(".timeline-canvas")
        x, y = self.place(row, (enter + last) / 2)
        self.page.click_at(left + x, top + y)
        about = self.page.text(".about")
        self.assertIn(f"waits {1000 * (last - enter):.0f}\u202fms: Early Wait, for rank", about)
        # A start waits for its post until it ends.
        _, row, enter, exit = max((c for c in calls if c[0] == "MPI_Win_start"), key=lambda c: c[3] - c[2])
        self.assertEqual(self.pixel(*self.place(row, (enter + exit) / 2)), waiting)

    def test_arrows_lead_from_who_ended_a_wait(self):
        self.timeline()
        self.page.click("[aria-label=Transfers] [data-value=off]")
        self.assertGreater(self.seen()["arrows"], 0)
        calls = self.listing.calls
        # Three starts wait for one post of rank 0: the arrows end where the post begins.
        post = next(c for c in calls if c[0] == "MPI_Win_post")
        row = max((c for c in calls if c[0] == "MPI_Win_start"), key=lambda c: c[3] - c[2])[1]
        left, top, _, _ = self.page.place(".timeline-canvas")
        x, y = self.place(row, post[2])
        high = self.place(1, 0)[1] - self.place(0, 0)[1]
        self.page.move(left + x, top + y - 0.6 * high)
        self.page.until("!document.querySelector('.timeline-tip').hidden")
        self.assertRegex(self.page.text(".timeline-tip"), r"Late Post.*rank \d waits 20\d.*for rank 0")
        self.page.click("[data-show=waits]")
        self.assertEqual(self.seen()["arrows"], 0)

    def test_who_waits_for_whom(self):
        self.page.click("#tab-bytes")
        self.page.click(".matrix [data-value=waits]")
        self.page.evaluate("(() => { const s = document.querySelector('select[aria-label=\"Function\"]');"
                           " s.value = [...s.options].find(o => o.textContent === 'MPI_Win_start').value;"
                           " s.dispatchEvent(new Event('change')); })()")
        self.page.evaluate(FRAME)
        calls = self.listing.calls
        post = min(c[2] for c in calls if c[0] == "MPI_Win_post")
        pairs = self.page.texts(".matrix .pairs li")
        for rank in (1, 2, 3):
            waited = post - min(c[2] for c in calls if c[0] == "MPI_Win_start" and c[1] == rank)
            self.assertGreater(waited, 0.1)
            told = [p for p in pairs if p.startswith(f"rank {rank} waits for rank 0: {1000 * waited:.0f}")]
            self.assertEqual(len(told), 1, pairs)
        self.assertFalse([p for p in pairs if p.startswith("rank 0")])

    def choose(self, label, begin):
        """Of a list of choices the one that begins so."""
        self.page.evaluate(f"(() => {{ const s = document.querySelector('select[aria-label=\"{label}\"]');"
                           f" s.value = [...s.options].find(o => o.textContent.startsWith('{begin}')).value;"
                           " s.dispatchEvent(new Event('change')); })()")
        self.page.evaluate(FRAME)

    def test_bytes_of_one_function(self):
        self.page.click("#tab-bytes")
        totals = {}
        for what in ("puts", "gets"):
            self.page.click(f".matrix [data-value={what}]")
            self.page.evaluate(FRAME)
            totals[what] = self.page.text(".matrix aside p")
        self.page.click(".matrix [data-value=all]")
        for what, function in (("puts", "MPI_Put"), ("gets", "MPI_Get")):
            self.choose("Function", function)
            self.assertEqual(self.page.text(".matrix aside p"), totals[what])

    def test_durations_of_a_call_site_lead_to_its_calls(self):
        self.timeline()
        calls = [c for c in self.listing.calls if c[0] == "MPI_Barrier"]
        _, row, enter, exit = max(calls, key=lambda c: c[3] - c[2])
        left, top, _, _ = self.page.place(".timeline-canvas")
        x, y = self.place(row, (enter + exit) / 2)
        self.page.click_at(left + x, top + y)
        self.assertIn(f"{len(calls)} calls;", self.page.text(".histogram"))
        bars = self.page.evaluate("[...document.querySelectorAll('.histogram .bars button')]"
                                  ".map(b => [b.title, b.className])")
        self.assertEqual(sum(int(title.split()[0]) for title, _ in bars), len(calls))
        self.assertEqual(bars[-1][1], "own")  # the longest
        # From the bar of the shortest to the shortest call.
        self.page.click(".histogram .bars button:first-child")
        self.page.click(".histogram .instances li:last-child button")
        short = min(calls, key=lambda c: c[3] - c[2])
        self.assertIn(f"rank {short[1]}: ", self.page.text(".about"))
        seen = self.seen()
        self.assertTrue(seen["from"] < short[2] * 1e9 < seen["to"], (seen, short))

    def test_rows_are_filtered_and_ordered(self):
        self.timeline()
        whole = self.page.evaluate("document.querySelector('.timeline-canvas').dataset.rows")
        self.assertEqual(whole, "4")
        self.page.click(".rows-filter")
        self.page.type("2-3")
        self.seen()
        self.assertEqual(self.page.evaluate("document.querySelector('.timeline-canvas').dataset.rows"), "2")
        self.page.evaluate("(() => { const f = document.querySelector('.rows-filter'); f.value = '99';"
                           " f.dispatchEvent(new Event('input')); })()")
        self.assertEqual(self.page.evaluate("document.querySelector('.rows-filter').getAttribute('aria-invalid')"), "true")
        self.assertEqual(self.page.evaluate("document.querySelector('.timeline-canvas').dataset.rows"), "2")

    def test_zooms_and_moves(self):
        self.timeline()
        whole = self.seen()
        self.page.key("+")
        half = self.seen()
        self.assertAlmostEqual((half["to"] - half["from"]) / whole["to"], 0.5, 3)
        self.page.key("ArrowRight")
        moved = self.seen()
        self.assertGreater(moved["from"], half["from"])
        self.assertAlmostEqual(moved["to"] - moved["from"], half["to"] - half["from"], delta=2)
        left, top, width, height = self.page.place(".timeline-canvas")
        self.page.wheel(left + width / 2, top + 100, -120)
        self.page.until(f"Number(document.querySelector('.timeline-canvas').dataset.from) > {moved['from']}")
        zoomed = self.seen()
        self.page.drag(left + 700, top + 100, left + 500, top + 100)
        dragged = self.seen()
        per_pixel = (zoomed["to"] - zoomed["from"]) / (width - 92)
        self.assertAlmostEqual(dragged["from"] - zoomed["from"], 200 * per_pixel, delta=2 * per_pixel)
        self.page.drag(left + 300, top + 100, left + 500, top + 100, modifiers=8)
        ranged = self.seen()
        self.assertAlmostEqual(ranged["to"] - ranged["from"], 200 * per_pixel, delta=2 * per_pixel)
        for _ in range(40):
            self.page.key("+")
        deep = self.seen()
        self.assertGreaterEqual(deep["to"] - deep["from"], 49)
        self.page.key("0")
        self.assertEqual(self.seen()["to"], whole["to"])

    def test_views_of_transfers(self):
        self.timeline()
        gets = sum(1 for c in self.listing.calls if c[0] == "MPI_Get")
        puts = self.listing.transfers - gets
        self.page.click("[data-show=waits]")
        arrows = {}
        for view in ("off", "closed", "logical", "dependencies"):
            self.page.click(f"[aria-label=Transfers] [data-value={view}]")
            arrows[view] = self.seen()["arrows"]
        # A get is two arrows where its request is shown; this run has no passive target, so that
        # dependencies have no more.
        self.assertEqual(arrows, {"off": 0, "closed": puts + 2 * gets, "logical": puts + gets,
                                  "dependencies": puts + 2 * gets})
        self.page.click("[aria-label=Transfers] [data-value=off]")
        self.page.click("[data-show=epochs]")
        self.assertNotIn("access epoch", self.page.texts(".timeline-legend li"))

    def test_jump_from_a_finding_to_its_worst_instance(self):
        self.open_victims(self.page)
        late_post = self.page.evaluate(
            "[...document.querySelectorAll('.finding h3 bdi')].findIndex(e => e.textContent === 'Late Post')")
        self.page.click(f".finding[data-at='{late_post}'] [data-action=timeline]")
        self.page.until("document.querySelector('.about h2')?.textContent === 'Late Post'")
        seen = self.seen()
        starts = [c for c in self.listing.calls if c[0] == "MPI_Win_start" and c[3] - c[2] > 0.1]
        self.assertEqual(len(starts), 3)
        # Each of the three origins has an epoch of its own, in which it waits 0.2 s for the target.
        inside = [c for c in starts if seen["from"] < c[2] * 1e9 and c[3] * 1e9 < seen["to"]]
        self.assertTrue(inside)
        self.assertLess(seen["to"] - seen["from"], 0.6e9)
        self.assertIn("200", self.page.text(".about"))
        self.assertIn("until rank 0 enters MPI_Win_post", self.page.text(".about"))
        late_posts = [t for t in self.page.texts(".instances li") if "Late Post" in t]
        self.assertEqual(len(late_posts), 3)
        self.page.key("n")
        self.assertNotEqual(self.seen()["from"], seen["from"])

    def test_bytes(self):
        self.page.click("#tab-bytes")
        self.page.evaluate(FRAME)
        self.assertIn(f"{self.listing.bytes}\u202fB in {self.listing.transfers} operations",
                      self.page.text(".matrix aside"))
        left, top, width, height = self.page.place(".matrix-canvas")
        cell = (width - 34) / 4
        # Rank 2 put 4 bytes to rank 0 in each of four phases.
        self.page.move(left + 34 + cell / 2, top + 34 + 2.5 * cell)
        self.page.until("document.querySelector('.matrix .tip').textContent !== ''")
        self.assertIn("rank 2 \u2192 rank 0: 16\u202fB in 4", self.page.text(".matrix .tip"))
        self.page.click(".matrix [data-value=messages]")
        self.page.evaluate(FRAME)
        self.assertIn("0\u202fB in 0", self.page.text(".matrix aside"))

    def test_expert_writes_the_same_page(self):
        folder = pathlib.Path(self.folder.name)
        by_expert, by_tool = folder / "by_expert.html", folder / "by_tool.html"
        cube, trace = folder / "same.cube", REFERENCE / "gats.elg"
        subprocess.run([BINARY / "bin" / "expert", "-q", "--causes=never", "-o", cube, "--html", by_expert, trace],
                       check=True)
        check_report(cube)
        subprocess.run([BINARY / "bin" / "kojak", "html", "-q", "--trace", trace, "-o", by_tool, cube],
                       check=True)
        self.assertEqual(by_expert.read_bytes(), by_tool.read_bytes())

    def test_names_are_text_and_nothing_else(self):
        folder = pathlib.Path(self.folder.name)
        trace, cube = folder / "hostile.elg", folder / "hostile.cube"
        # As long as the name that it replaces.
        evil = "</script>&\""
        bytes_of_trace = (REFERENCE / "gats.elg").read_bytes()
        self.assertEqual(bytes_of_trace.count(b"MPI_Barrier"), 1)
        trace.write_bytes(bytes_of_trace.replace(b"MPI_Barrier", evil.encode()))
        analyse(cube, trace)
        self.page = self.open(self.make(cube, "--trace", trace))
        self.timeline()
        left, top, width, height = self.page.place(".timeline-canvas")
        _, _, enter, exit = max((c for c in self.listing.calls if c[0] == "MPI_Barrier" and c[1] == 1),
                                key=lambda c: c[3] - c[2])
        end = max(exit for _, _, _, exit in self.listing.calls)
        self.page.move(left + 92 + (width - 92) * (enter + 3 * exit) / 4 / end, top + 26 + 1.7 * self.seen()["height"])
        self.page.until("!document.querySelector('.timeline-tip').hidden")
        self.assertIn(evil, self.page.text(".timeline-tip"))

    def test_a_call_says_where_it_stands_and_what_it_moved(self):
        self.timeline()
        seen = self.seen()
        left, top, width, height = self.page.place(".timeline-canvas")
        name, lid, enter, exit = max((c for c in self.listing.calls if c[0] == "MPI_Put"), key=lambda c: c[3] - c[2])
        self.page.evaluate(f"location.hash = 'view=timeline&zoom={round((enter - 0.1 * (exit - enter)) * 1e9)}-"
                           f"{round((exit + 0.1 * (exit - enter)) * 1e9)}'")
        self.page.until(f"Number(document.querySelector('.timeline-canvas').dataset.to) < {seen['to']}")
        seen = self.seen()
        middle = 92 + (width - 92) * ((enter + exit) / 2 * 1e9 - seen["from"]) / (seen["to"] - seen["from"])
        row = self.seen()["height"]
        self.page.click_at(left + middle, top + 26 + lid * row + row * 0.6)
        about = self.page.text(".about")
        self.assertIn("MPI_Put", about)
        # The moments to the microsecond at least, as the listing has them.
        self.assertIn(f"from {enter:.6f}"[:-1], about)
        self.assertRegex(about, r"\d[ \u202f]?([KM]i)?B to rank \d")
        self.assertIn("indow", about)

    def test_the_address_leads_back(self):
        self.timeline()
        for key in "++":
            self.page.key(key)
        self.page.key("ArrowRight")
        self.page.key("n")
        self.page.until("location.hash.includes('instance=')")
        self.page.key("+")
        time.sleep(0.5)  # the address follows after 0.3 s
        before, about, address = self.seen(), self.page.text(".about"), self.page.evaluate("location.hash")
        self.assertIn(f"zoom={before['from']:.0f}-{before['to']:.0f}", address)
        path = self.page.address
        other = self.browser.open(path.removeprefix("file://"))
        self.addCleanup(other.close)
        self.assertNotIn("zoom", other.evaluate("location.hash"))
        other.go(path + address)
        other.send("Page.reload")
        other.until("document.documentElement?.dataset.state === 'complete'")
        self.page = other
        after = self.seen()
        self.assertEqual((after["from"], after["to"]), (before["from"], before["to"]))
        self.assertEqual(self.page.text(".about"), about)
        self.assertEqual(other.problems, [])

    def test_an_address_of_another_page_harms_nothing(self):
        self.timeline()
        whole = self.seen()
        for wanted in ("zoom=9-1", "zoom=x-y", "instance=4711", "call=99.99", "call=0.-1", "window=77", "transfers=evil"):
            self.page.evaluate(f"location.hash = 'view=timeline&{wanted}'")
            after = self.seen()
            self.assertEqual((after["from"], after["to"]), (whole["from"], whole["to"]), wanted)

    def test_saves_a_picture(self):
        self.timeline()
        self.page.evaluate("(() => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => {"
                           " window.saved = blob; return make(blob); };"
                           " HTMLAnchorElement.prototype.click = function () { window.name = this.download; }; })()")
        self.page.key("s")
        self.page.until("window.saved !== undefined")
        kind, size, width = self.page.evaluate(
            "createImageBitmap(window.saved).then(b => [window.saved.type, window.saved.size, b.width])")
        self.assertEqual(kind, "image/png")
        self.assertGreater(size, 1000)
        self.assertEqual(width, self.page.evaluate("document.querySelector('.timeline-canvas').width"))
        self.assertTrue(self.page.evaluate("window.name").endswith(".png"))

    def test_search_goes_from_call_to_call(self):
        self.timeline()
        starts = sorted((c for c in self.listing.calls if c[0] == "MPI_Win_start"), key=lambda c: c[2])
        self.page.key("/")
        self.page.type("win_start")
        self.assertEqual(self.page.text(".toolbar .found"), f"{len(starts)} calls")
        for expected in starts[:3]:
            self.page.key("Enter")
            seen = self.seen()
            self.assertIn("MPI_Win_start", self.page.text(".about h2"))
            self.assertIn(f"rank {expected[1]}: ", self.page.text(".about"))
            self.assertTrue(seen["from"] < expected[2] * 1e9 < seen["to"])
        self.page.evaluate("(() => { const f = document.querySelector('.timeline-search'); f.value = 'rank 3';"
                           " f.dispatchEvent(new Event('input')); })()")
        self.page.key("Enter")
        self.assertIn("rank 3: ", self.page.text(".about"))
        self.page.evaluate("(() => { const f = document.querySelector('.timeline-search'); f.value = 'no such';"
                           " f.dispatchEvent(new Event('input')); })()")
        self.assertEqual(self.page.text(".toolbar .found"), "nothing found")

    def test_saves_a_drawing(self):
        self.timeline()
        self.page.click("[data-show=waits]")
        self.seen()
        self.page.evaluate("(() => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => {"
                           " window.saved = blob; return make(blob); };"
                           " HTMLAnchorElement.prototype.click = function () { window.name = this.download; }; })()")
        self.page.key("S")
        self.page.until("window.saved !== undefined")
        self.assertTrue(self.page.evaluate("window.name").endswith(".svg"))
        root = xml.etree.ElementTree.fromstring(self.page.evaluate("window.saved.text()"))
        names = "{http://www.w3.org/2000/svg}"
        texts = [text.text for text in root.iter(names + "text")]
        self.assertIn("rank 3", texts)
        # The wait of rank 0 in its longest MPI_Win_wait is a rectangle of the right place and length.
        calls = self.listing.calls
        _, row, enter, exit = max((c for c in calls if c[0] == "MPI_Win_wait"), key=lambda c: c[3] - c[2])
        last = max(c[2] for c in calls if c[0] == "MPI_Win_complete" and c[2] < exit)
        begin, end = self.place(row, enter)[0], self.place(row, last)[0]
        boxes = [(float(r.get("x")), float(r.get("width"))) for r in root.iter(names + "rect")
                 if r.get("fill") == "rgb(214,48,0)"]
        self.assertTrue([b for b in boxes if abs(b[0] - begin) < 2 and abs(b[0] + b[1] - end) < 2], (begin, end, boxes))

    def test_small_screens(self):
        for width in (320, 360, 399):
            self.page.size(width, 700)
            for view in ("verdict", "timeline", "trees", "bytes"):
                self.page.click(f"#tab-{view}")
                self.page.evaluate(FRAME)
                self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width, view)
                for button in self.page.evaluate("[...document.querySelectorAll('header.page .buttons button')].map(b =>"
                                                 " { const r = b.getBoundingClientRect(); return [r.left, r.right, r.top]; })"):
                    self.assertGreaterEqual(button[0], 0)
                    self.assertLessEqual(button[1], width)
                    self.assertGreaterEqual(button[2], 0)
            self.page.click("#tab-timeline")
            self.assertGreater(self.page.place(".timeline-canvas")[2], 150)

    def test_dark(self):
        self.timeline()
        self.seen()
        light = self.pixel(200, 10)
        self.page.dark(True)
        self.seen()
        self.assertNotEqual(self.pixel(200, 10), light)


if __name__ == "__main__":
    main()
