#!/usr/bin/env python3
"""Looks at the page of a program whose calls have places in the source, with several windows and a
Cartesian topology: who waits for whom, the choice of a window, epochs under the pointer, and all of
it with the keyboard.

Usage: program_test.py BINARY_DIR REFERENCE_DIR [unittest arguments]
Needs Chromium. The trace is made here, so that every time on the page is known.
"""
import pathlib
import subprocess

from pages import BINARY, CALLS, FRAME, METRICS, REFERENCE, SYSTEM, Pages, analyse, main

# Four ranks in two rows of two; main calls exchange.
HEAD = """CART_TOPOLOGY topid=0 cid=0 ndims=2 dimv=[2,2] periodv=[0,1] dimnid=[0,0]
CART_COORDS topid=0 lid=0 coordv=[0,0]
CART_COORDS topid=0 lid=1 coordv=[0,1]
CART_COORDS topid=0 lid=2 coordv=[1,0]
CART_COORDS topid=0 lid=3 coordv=[1,1]
"""


class Recording:
    """Events in any order; the text has them in order of time."""

    def __init__(self):
        self.lines = []

    def add(self, time, text):
        self.lines.append((time, len(self.lines), text.replace("@", f"time={time:g}")))

    def enter(self, rank, time, region, site=None):
        place = f' site="{site}"' if site else ""
        self.add(time, f"ENTER{'_CS' if site else ''} lid={rank} @ region={region}{place}")

    def exit(self, rank, time):
        self.add(time, f"EXIT lid={rank} @")

    def text(self, head=HEAD):
        return head + "".join(line + "\n" for _, _, line in sorted(self.lines))


def program():
    r = Recording()
    for rank in range(4):
        r.enter(rank, 0, "main")
        r.enter(rank, 0.1, "exchange", "/src/app/main.c:12")
    # An epoch on each of two windows, from 0.5 and from 1.5. Rank 2 comes 0.5 s late to its end, for
    # which the others wait from 0.2 on: 3 x 0.5 s.
    for window, begin in ((0, 0.5), (1, 1.5)):
        for rank in range(4):
            r.enter(rank, begin, "MPI_Win_fence", "/src/app/halo.c:100")
            r.add(begin + 0.05, f"MPI_WINCOLLEXIT lid={rank} @ wid={window}")
            r.enter(rank, begin + 0.1, "MPI_Put", "/src/app/halo.c:118")
            r.add(begin + 0.1, f"MPI_PUT_1TS lid={rank} @ dlid={(rank + 1) % 4} wid={window} "
                               f"rmaid={window} sent=1024")
            r.exit(rank, begin + 0.12)
            r.enter(rank, begin + (0.7 if rank == 2 else 0.2), "MPI_Win_fence",
                    f"/src/app/halo.c:{130 + window}")
            r.add(begin + 0.75, f"MPI_PUT_1TE lid={(rank + 1) % 4} @ slid={rank} wid={window} "
                                f"rmaid={window} recvd=1024")
            r.add(begin + 0.8, f"MPI_WINCOLLEXIT lid={rank} @ wid={window}")
    # Rank 0 waits 0.25 s for a message from rank 3.
    r.enter(0, 3, "MPI_Recv", "/src/app/recv.c:77")
    r.enter(3, 3.25, "MPI_Send", "/src/app/send.c:5")
    r.add(3.25, "MPI_SEND lid=3 @ dlid=0 cid=0 tag=1 sent=2048")
    r.exit(3, 3.3)
    r.add(3.4, "MPI_RECV lid=0 @ slid=3 cid=0 tag=1 recvd=2048")
    r.exit(0, 3.4)
    # A put and a get of rank 3 under a lock of rank 0.
    r.enter(3, 3.5, "MPI_Win_lock", "/src/app/lock.c:9")
    r.add(3.51, "MPI_WIN_LOCK lid=3 @ llid=0 wid=1 ltype=1")
    r.exit(3, 3.51)
    r.enter(3, 3.52, "MPI_Put", "/src/app/lock.c:10")
    r.add(3.52, "MPI_PUT_1TS lid=3 @ dlid=0 wid=1 rmaid=77 sent=8")
    r.exit(3, 3.53)
    r.enter(3, 3.54, "MPI_Get", "/src/app/lock.c:11")
    r.add(3.54, "MPI_GET_1TO lid=3 @ rmaid=78 wid=1")
    r.add(3.54, "MPI_GET_1TS lid=0 @ dlid=3 wid=1 rmaid=78 sent=512")
    r.exit(3, 3.55)
    r.enter(3, 3.6, "MPI_Win_unlock", "/src/app/lock.c:12")
    r.add(3.7, "MPI_PUT_1TE lid=0 @ slid=3 wid=1 rmaid=77 recvd=8")
    r.add(3.7, "MPI_GET_1TE lid=3 @ slid=0 wid=1 rmaid=78 recvd=512")
    r.add(3.7, "MPI_WIN_UNLOCK lid=3 @ llid=0 wid=1")
    r.exit(3, 3.7)
    for rank in range(4):
        r.exit(rank, 4)
        r.exit(rank, 4)
    return r.text()


class Recorded(Pages):
    @classmethod
    def record(cls, name, events, *options, status=0):
        """Trace, report and page of a run with these events."""
        folder = pathlib.Path(cls.folder.name)
        text, trace, cube, html = (folder / f"{name}.{ending}" for ending in ("txt", "elg", "cube", "html"))
        text.write_text(events)
        subprocess.run([BINARY / "tests" / "text_trace", text, trace], check=True)
        analyse(cube, trace, "--html", html, *options, status=status)
        return trace, cube, html

    @classmethod
    def record_with_source(cls, name, *options):
        """The program's run, with a source of 140 lines for its calls."""
        folder = pathlib.Path(cls.folder.name)
        (folder / "halo.c").write_text("".join(f"  code of line {i};\n" for i in range(1, 141)))
        return cls.record(name, program().replace("/src/app", cls.folder.name), *options)


class Program(Recorded):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        _, cls.cube, cls.html = cls.record("run", program())

    def setUp(self):
        self.page = self.open(self.html)
        self.open_victims(self.page)

    def finding(self, title, site):
        titles = self.page.texts(".finding h3 bdi")
        sites = self.page.texts(".finding .site")
        at = list(zip(titles, sites)).index((title, site))
        return f".finding[data-at='{at}']"

    def test_a_finding_names_function_file_and_line(self):
        self.assertEqual(self.page.texts(".finding h3 bdi"),
                         ["Wait at Fence", "Wait at Fence", "Late Sender"])
        self.assertEqual(self.page.text(self.finding("Late Sender", "recv.c:77") + " .where"),
                         "in MPI_Recv, called by exchange at recv.c:77")
        self.assertIn("exchange main.c:12", self.page.text(".finding .crumbs"))
        self.page.click("#tab-trees")
        rows = self.page.texts(f"{CALLS} .tree:not([hidden]) .row")
        self.assertTrue(any(text.endswith("MPI_Win_fencehalo.c:130") for text in rows), rows)

    def test_a_finding_says_who_waits_for_whom(self):
        fence = self.page.text(self.finding("Wait at Fence", "halo.c:130") + " .who")
        self.assertIn("3 of 4 wait", fence)
        self.assertIn("all of it until rank 2 enters MPI_Win_fence at halo.c:130", fence)
        self.assertIn("all of it until rank 3 enters MPI_Send at send.c:5",
                      self.page.text(self.finding("Late Sender", "recv.c:77") + " .who"))
        # Without the trace the report still knows who hardly waits.
        page = self.open(self.make(self.cube, name="no_trace"))
        self.assertIn("rank 2 hardly waits", page.text(".finding .who"))

    def test_an_instance_shows_who_let_the_others_wait(self):
        fence = self.finding("Wait at Fence", "halo.c:130")
        self.page.click(fence + " [data-action=timeline]")
        self.page.until("document.querySelector('.about h2')?.textContent === 'Wait at Fence'")
        about = self.page.text(".about").replace("\u202f", " ")
        self.assertIn("1.50 s of waiting in all, at rank 0 and 2 more", about)
        # From 0.7 to 1.2 s, while the others are in their fences.
        self.assertIn("until rank 2 enters MPI_Win_fence at halo.c:130, which meanwhile is in "
                      "exchange for 500 ms", about)

    def test_one_window_of_several(self):
        self.timeline()
        self.page.click("[data-show=waits]")  # off
        # A put of each rank on each window, and put, request and data of the lock.
        self.assertEqual(self.seen()["arrows"], 1 + 8 + 3)
        choice = "[aria-label=Windows]"
        self.assertEqual(self.page.texts(choice + " option"),
                         ["all windows", "window 0", "window 1"])
        self.page.evaluate(f"(() => {{ const s = document.querySelector('{choice}'); s.value = 0;"
                           " s.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.seen()["arrows"], 1 + 4)

    def test_dependencies_of_a_passive_target(self):
        self.timeline()
        self.page.click("[data-show=waits]")  # off
        self.page.click("[aria-label=Transfers] [data-value=dependencies]")
        # One message; 8 puts of fences; the lock's put with a link from its unlock, its get with a
        # link from its request.
        self.assertEqual(self.seen()["arrows"], 1 + 8 + 2 + 2)
        self.page.click("[aria-label=Transfers] [data-value=logical]")
        self.assertEqual(self.seen()["arrows"], 1 + 8 + 1 + 1)

    def test_an_epoch_says_what_it_is(self):
        self.timeline()
        seen = self.seen()
        left, top, width, height = self.page.place(".timeline-canvas")
        x = left + 92 + (width - 92) * (1e9 - seen["from"]) / (seen["to"] - seen["from"])
        # Below the boxes of the first of four rows; the first window's
        # band is the first of two.
        found = []
        for y in range(60, int(self.seen()["height"]), 2):
            self.page.move(x, top + 26 + y)
            self.page.evaluate(FRAME)
            found.append(self.page.evaluate("(t => t.hidden ? '' : t.textContent)"
                                            "(document.querySelector('.timeline-tip'))"))
        # From the first fence's exit to the second's: 0.55 to 1.3 s.
        self.assertIn("fence epoch on window 0rank 0: 750\u202fms, from 0.550\u202fs to 1.300\u202fs", found)

    def test_calls_by_keyboard(self):
        self.page.key("2")
        self.page.until("document.activeElement.matches('.timeline-canvas')")
        shift = 8
        self.page.key("ArrowRight", shift)
        self.page.key("ArrowDown", shift)
        before = self.page.text(".about")
        # In the middle of the run, at 2 s, is rank 1's last call; before it is its last put.
        self.assertIn("rank 1: 600\u202fms, from 1.700\u202fs to 2.300\u202fs", before)
        self.page.key("ArrowLeft", shift)
        self.assertIn("rank 1: 20.0\u202fms, from 1.600\u202fs to 1.620\u202fs", self.page.text(".about"))
        whole = self.seen()
        self.page.key("Enter")
        self.assertLess(self.seen()["to"] - self.seen()["from"], whole["to"] - whole["from"])
        self.page.key("ArrowRight", shift)
        self.assertEqual(self.page.text(".about"), before)
        # The buttons' own Enter still works.
        self.page.evaluate("document.querySelector('.instances button').focus()")
        self.page.key("Enter")
        self.assertIn(self.page.text(".about h2"), ("Wait at Fence", "Late Sender"))

    def test_cells_by_keyboard(self):
        self.page.key("4")
        self.page.until("document.activeElement.matches('.matrix-canvas')")
        self.page.key("ArrowRight")
        self.page.key("ArrowRight")
        # From rank 0 to rank 1: one put of 1 KiB on each window.
        self.assertEqual(self.page.text(".matrix .tip").replace("\u202f", " "),
                         "rank 0 \u2192 rank 1: 2.00 KiB in 2")
        self.page.key("3")
        self.page.click(f"{SYSTEM} [data-value=topology]")
        self.page.evaluate(FRAME)
        self.assertEqual(self.page.texts(f"{SYSTEM} option")[0], "Topology: 2 \u00d7 2 periodic")
        self.page.evaluate("document.querySelector('.topology-canvas').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
            self.page.key(key)
        self.assertTrue(self.page.text(f"{SYSTEM} .tip").startswith("rank 3 (1, 1): "))

    def test_paper_is_white(self):
        self.page.dark(True)
        self.timeline()
        self.seen()
        dark = self.pixel_of(self.page, 5, 5)
        self.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.pixel_of(self.page, 5, 5), [255, 255, 255])
        self.page.evaluate("dispatchEvent(new Event('afterprint'))")
        self.page.evaluate(FRAME)
        self.assertEqual(self.pixel_of(self.page, 5, 5), dark)

    def test_focus_can_be_seen_everywhere(self):
        # Tab through each view: what has the focus has an outline, and is in sight (a busy machine scrolls late).
        for key in "1234":
            self.page.key(key)
            self.page.evaluate("document.activeElement.blur()")
            for _ in range(12):
                self.page.key("Tab")
                self.page.until(
                    "(() => { const e = document.activeElement; if (e === document.body) return true;"
                    " const s = getComputedStyle(e), b = e.getBoundingClientRect();"
                    " return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1"
                    " && b.bottom > 0 && b.top < innerHeight; })()", 5)


HUNG = """ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=0 time=2 region=MPI_Recv
MPI_OPEN_CALL lid=0 time=2 cid=0 wid=absent dlid=absent slid=1 tag=5 ordinal=0 awaited=0
ENTER lid=2 time=3 region=compute<b>
ENTER lid=1 time=4 region=MPI_Ssend
MPI_OPEN_CALL lid=1 time=4 cid=0 wid=absent dlid=0 slid=absent tag=7 ordinal=0 awaited=0
PROCESS_ENDED lid=0 time=9
PROCESS_ENDED lid=1 time=9
PROCESS_ENDED lid=2 time=9
"""


class Hung(Recorded):
    """A run that was killed at 9 s: rank 0 receives since 2 s what rank 1, sending since 4 s, sends under another tag; rank
    2 computes since 3 s."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Regions that nobody left.
        cls.trace, cls.cube, cls.html = cls.record("hung", HUNG, status=3)

    def check(self, page):
        box = page.place(".last-calls")
        self.assertLess(box[1], page.place(".nothing, .victims")[1])  # above what else is waited
        self.assertEqual(page.texts(".deadlock"), [
            "Deadlock of ranks 0 and 1: rank 0 is in MPI_Recv and waits for a message from rank 1 (tag 5), rank 1 is in "
            "MPI_Ssend and waits for a receive of rank 0 (tag 7)."])
        lines = [line.removesuffix(" Show in the trees").removesuffix("Show in the trees").strip()
                 for line in page.texts(".last-calls li")]
        self.assertEqual(lines, [
            "rank 0 has been in MPI_Recv for 7.000 s, and waits for a message from rank 1 (tag 5).",
            "rank 2 is outside of MPI calls that can wait, in compute<b> since 3.000 s, for 6.000 s.",
            "rank 1 has been in MPI_Ssend for 5.000 s, and waits for a receive of rank 0 (tag 7)."])
        self.assertFalse(any("rank 0 stands" in note for note in page.texts(".notes li")))  # not twice
        page.click(".last-calls li [data-action=trees]")
        self.assertEqual(page.text(f"{CALLS} .row.chosen .name"), "MPI_Recv")

    def test_the_standing_calls_come_first(self):
        self.check(self.open(self.html))

    def test_kojak_html_says_the_same(self):
        self.check(self.open(self.make(self.cube, "--trace", self.trace, name="hung_again")))

    def test_a_run_that_ended_well_has_none(self):
        trace, cube, _ = self.record("well", "ENTER lid=0 time=0 region=main\nEXIT lid=0 time=1\n")
        page = self.open(self.make(cube, "--trace", trace, name="well"))
        self.assertEqual(page.count(".last-calls"), 0)
        self.assertIn("No process waits for another", page.text(".nothing h2"))


class Flat(Pages):
    def test_search_and_sort_work_on_the_flat_profile(self):
        page = self.open(self.make(REFERENCE / "gats.cube"))
        page.evaluate("location.hash = 'view=trees&metric=visits&call=0'")
        page.until(f"document.querySelector('{METRICS} .row.chosen .name')?.textContent === 'Visits'")
        page.click(f"{CALLS} [data-value=flat]")
        page.click(f"{CALLS} [aria-label='Sort call paths'] [data-value=name]")
        names = page.texts(f"{CALLS} .tree:not([hidden]) .name")
        self.assertEqual(names, sorted(names, key=str.lower))
        page.click(f"{CALLS} input")
        page.type("mpi_win")
        # Seven functions of windows are called from one place each.
        self.assertEqual(page.text(f"{CALLS} .found"), "7 matches")
        self.assertGreater(page.count(f"{CALLS} .tree:not([hidden]) .row.match"), 0)
        page.key("Enter")
        self.assertTrue(page.text(f"{CALLS} .tree:not([hidden]) .row.chosen .name")
                        .startswith("MPI_Win"))


class Causes(Recorded):
    """Rank 2 is 0.5 s late at two fences, for which three wait; rank 3 0.25 s with a message."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.html = cls.record("run", program(), "--causes")[2]
        cls.plain = cls.record("plain", program())[2]

    def test_they_come_before_the_victims(self):
        page = self.open(self.html)
        # Before each of two fences, each at a line of its own: 3 x 0.5 s of 3.25 s of waiting. And the message.
        for group, waits, share in ((1, "1.5 s", "46 %"), (2, "1.5 s", "46 %"), (3, "0.25 s", "8 %")):
            card = page.text(f"#group-{group}").replace("\u00a0", " ")
            self.assertIn(waits, card)
            self.assertIn(share, card)
        self.assertIn("removing it alone would not shorten the run", card)  # ranks 1 and 2 end no earlier
        self.assertTrue(page.evaluate("document.querySelector('.group').getBoundingClientRect().top < "
                                      "document.querySelector('.victims').getBoundingClientRect().top"))
        page.click("#group-1 [data-action=trees]")
        self.assertIn("Delay Costs", page.text(f"{METRICS} [aria-selected=true]"))

    def test_the_stretch_is_a_call_path_of_its_own(self):
        page = self.open(self.html)
        page.click("#group-1 [data-action=trees]")
        self.assertEqual(page.text(f"{CALLS} .row.chosen .name"),
                         "between MPI_Put halo.c:118 and MPI_Win_fence halo.c:130")

    def test_without_them_the_page_has_no_such_list(self):
        page = self.open(self.plain)
        self.assertEqual(page.texts(".group"), [])
        page.click("#tab-timeline")
        page.until("document.querySelector('.timeline-canvas') !== null")
        self.assertEqual(page.count("[data-show=path]"), 0)
        self.assertEqual(page.count("[data-action=chain]"), 0)


def chain():
    """Rank 0 computes until 3 s and sends; ranks 1 to 3 ask at 1 s and send on at once what they get."""
    r = Recording()
    for rank in range(4):
        r.enter(rank, 0, "main")
    for rank in range(1, 4):
        sender = rank - 1
        r.enter(sender, 3, "MPI_Send", f"/src/app/ring.c:{20 + sender}")
        r.add(3, f"MPI_SEND lid={sender} @ dlid={rank} cid=0 tag=1 sent=8")
        r.exit(sender, 3)
        r.enter(rank, 1, "MPI_Recv", "/src/app/ring.c:7")
        r.add(3, f"MPI_RECV lid={rank} @ slid={sender} cid=0 tag=1 recvd=8")
        r.exit(rank, 3)
    for rank in range(4):
        r.exit(rank, 5 if rank == 3 else 4)
    return r.text(head="")


class Chains(Recorded):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace, cls.cube, cls.html = cls.record("chain", chain(), "--causes")

    def setUp(self):
        self.page = self.open(self.html)

    def step(self):
        """Where it stands: number, row and words, and the range that is seen."""
        frame = self.seen()
        return (self.page.text(".chain .buttons .dim"), self.page.text(".chain [aria-current] b"),
                self.page.text(".chain [aria-current] bdi"), frame["from"] / 1e9, frame["to"] / 1e9)

    def test_kojak_html_says_the_same(self):
        page = self.open(self.make(self.cube, "--trace", self.trace, name="chain_again"))
        for part in (".verdict", ".group", ".victims"):
            self.assertEqual(page.texts(part), self.page.texts(part))
        self.assertEqual(page.count(".group [data-action=chain]"), 1)

    def test_a_small_screen_shows_all_of_the_header(self):
        """On a screen of 400 pixels every tab and both buttons are in sight, and nothing is wider than it."""
        page = self.open(self.html, width=400, height=800)
        for tab in ("verdict", "timeline", "trees", "bytes"):
            page.click(f"#tab-{tab}")
            page.evaluate(FRAME)
            hidden = page.evaluate(
                "[...document.querySelectorAll('header.page button')].filter(b => {"
                " const r = b.getBoundingClientRect();"
                " return r.left < 0 || r.right > innerWidth || r.width < 10 ||"
                " document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2) !== b; })"
                ".map(b => b.outerHTML)")
            self.assertEqual(hidden, [])
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 400, tab)

    def test_a_click_on_a_cause_follows_it(self):
        self.page.click(".group [data-action=chain]")
        self.page.until("document.querySelector('.chain [aria-current]') !== null")
        waits = [("rank 3", "Late Sender, for rank 2"), ("rank 2", "Late Sender, for rank 1"),
                 ("rank 1", "Late Sender, for rank 0")]
        for number, (row, words) in enumerate(waits):
            at, who, what, begin, end = self.step()
            self.assertEqual((at, who, what), (f"{number + 1} of 4", row, words))
            self.assertLess(begin, 1)  # it waits from 1 to 3
            self.assertGreater(end, 3)
            about = self.page.text(".about").replace("\u202f", " ")
            self.assertIn(f"{row}: 2.00 s, from 1.000 s to 3.000 s", about)  # the call that waits is chosen
            self.page.key("c")
        at, who, what, begin, end = self.step()
        self.assertEqual((at, who, what), ("4 of 4", "rank 0", "main, before MPI_Send at ring.c:20"))
        self.assertIn("rank 0: 4.00 s, from 0.000 s to 4.000 s", self.page.text(".about").replace("\u202f", " "))
        self.page.key("c")  # there is nothing behind it
        self.assertEqual(self.step()[0], "4 of 4")
        self.page.key("C")
        self.assertEqual(self.step()[1], "rank 1")
        self.page.click(".chain [data-step='0']")
        self.assertEqual(self.step()[1], "rank 3")

    def test_a_click_on_a_wait_follows_it(self):
        self.timeline()
        seen = self.seen()
        left, top, width, height = self.page.place(".timeline-canvas")

        def click(rank, time):
            x = left + 92 + (width - 92) * (time * 1e9 - seen["from"]) / (seen["to"] - seen["from"])
            self.page.click_at(x, top + 26 + seen["height"] * (rank + 0.4))
            self.page.evaluate(FRAME)

        click(2, 0.5)  # computes
        self.assertEqual(self.page.count(".about [data-action=chain]"), 0)
        click(2, 2)
        self.page.click(".about [data-action=chain]")
        self.assertIn("Late Sender, for rank 1", self.step()[2])
        while self.step()[0].split()[0] != self.step()[0].split()[2]:
            self.page.key("c")
        self.assertEqual(self.step()[1], "rank 0")

    def test_the_critical_path_is_drawn(self):
        self.timeline()
        self.seen()
        legend = self.page.texts(".timeline-legend li")
        self.assertIn("critical path", legend)

        def on_path(rank, time):
            """Whether the middle of the row has the colour of the path there."""
            self.page.evaluate(FRAME)
            seen = self.seen()
            left, top, width, height = self.page.place(".timeline-canvas")
            x = 92 + (width - 92) * (time * 1e9 - seen["from"]) / (seen["to"] - seen["from"])
            high = int(seen["height"])
            return any(self.pixel_of(self.page, round(x), 26 + high * rank + y) == [11, 42, 102]
                       for y in range(high // 3, high * 2 // 3))

        # Rank 0 computes until 3; from there the path goes through all to rank 3, which ends last.
        for rank, time in ((0, 0.5), (0, 2), (3, 4), (3, 4.8)):
            self.assertTrue(on_path(rank, time), (rank, time))
        for rank, time in ((1, 2), (2, 2), (3, 2), (0, 4), (1, 3.5)):
            self.assertFalse(on_path(rank, time), (rank, time))
        self.page.click("[data-show=path]")
        self.assertFalse(on_path(0, 2))
        self.assertNotIn("critical path", self.page.texts(".timeline-legend li"))


if __name__ == "__main__":
    main()
