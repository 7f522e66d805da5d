#!/usr/bin/env python3
"""Looks at timelines of many processes and of many events in a real browser.

Usage: large_timeline_test.py BINARY_DIR REFERENCE_DIR [unittest arguments]
Needs Chromium. What must be seen follows from the times that the traces are made with.
"""
import pathlib
import random
import subprocess
import sys

from pages import BINARY, FRAME, Pages, analyse, main


class Processor(Pages):
    """A stripe where a thread had no processor."""

    def test_a_stripe_shows_it(self):
        folder = pathlib.Path(self.folder.name)
        text, trace, cube = folder / "busy.txt", folder / "busy.elg", folder / "busy.cube"
        # Of the second between 1 and 2 s it wanted a processor for 0.9 s and had none; then always had one.
        text.write_text("ENTER lid=0 time=0 region=main\n"
                        "PROCESSOR lid=0 time=1 ran=1000000000 wanted=0 preempted=0\n"
                        "PROCESSOR lid=0 time=2 ran=1100000000 wanted=900000000 preempted=1\n"
                        "PROCESSOR lid=0 time=3 ran=2100000000 wanted=900000000 preempted=1\n"
                        "EXIT lid=0 time=4\n")
        subprocess.run([BINARY / "tests" / "text_trace", text, trace], check=True)
        subprocess.run([BINARY / "bin" / "expert", "-q", "--causes=never", "-o", cube, trace], check=False)
        self.page = self.open(self.make(cube, "--trace", trace, name=self.id()))
        self.timeline()
        self.seen()
        self.assertIn("no processor", self.page.texts(".timeline-legend li"))
        _, _, width, _ = self.page.place(".timeline-canvas")
        def colour(second):
            return self.pixel_of(self.page, 92 + (width - 92) * second / 4, 28)
        computing = [226, 232, 240]
        self.assertEqual(colour(0.5), computing)
        self.assertEqual(colour(2.5), computing)
        red, green, blue = colour(1.5)
        self.assertLess(green, 90)  # violet, 92 % of it covers what is below
        self.assertGreater(blue, 150)
        left, top, width, height = self.page.place(".timeline-canvas")
        self.page.click_at(left + 92 + (width - 92) / 2, top + 60)
        self.assertIn("no processor for 900\u202fms between 1.000", self.page.text(".about"))


class ManyProcesses(Pages):
    """All processes at once: a heat map of their waiting, which leads to the calls."""

    RANKS = 600

    def setUp(self):
        folder = pathlib.Path(self.folder.name)
        text, trace, cube = folder / "many.txt", folder / "many.elg", folder / "many.cube"
        # Each receives from the one before it (0 from the last), from 1 s on; the message is sent at 1 s by ranks
        # below 300, at 3 s by the others. So of 4 s the upper half computes 1 s and waits 0, the lower waits 2 s.
        lines = []
        for rank in range(self.RANKS):
            lines.append((0, rank, "ENTER lid={} time=0 region=main"))
        def late(rank):
            return 3 if rank >= self.RANKS // 2 else 1
        for rank in range(self.RANKS):
            to = rank ^ 1
            if rank % 2 == 0:
                lines += [(late(rank), rank, "ENTER lid={} time=%g region=MPI_Send" % late(rank)),
                          (late(rank), rank, f"MPI_SEND lid={{}} time={late(rank)} dlid={to} cid=0 tag=1 sent=8"),
                          (late(rank) + .1, rank, f"EXIT lid={{}} time={late(rank) + .1}")]
            else:
                lines += [(1, rank, "ENTER lid={} time=1 region=MPI_Recv"),
                          (late(rank) + .2, rank, f"MPI_RECV lid={{}} time={late(rank) + .2} slid={to} cid=0 tag=1 recvd=8"),
                          (late(rank) + .2, rank, f"EXIT lid={{}} time={late(rank) + .2}")]
            lines.append((4, rank, "EXIT lid={} time=4"))
        lines.sort(key=lambda line: line[0])
        text.write_text("\n".join(line.format(rank) for _, rank, line in lines) + "\n")
        subprocess.run([BINARY / "tests" / "text_trace", text, trace], check=True)
        analyse(cube, trace)
        self.page = self.open(self.make(cube, "--trace", trace, name=self.id()))
        self.timeline()

    def test_shows_all_of_them_and_who_waits(self):
        seen = self.seen()
        self.assertEqual(seen["rows"], self.RANKS)
        _, _, width, height = self.page.place(".timeline-canvas")
        self.assertLess(seen["height"] * self.RANKS, height)
        def colour(rank, second):
            return self.pixel_of(self.page, 92 + (width - 92) * second / 4, 26 + seen["height"] * (rank + 0.5))
        computing = [226, 232, 240]
        self.assertEqual(colour(100, 2), computing)
        self.assertEqual(colour(500, 0.5), computing)
        self.assertEqual(colour(500, 3.7), computing)
        red, green, blue = colour(500, 2)  # every other rank waits, and two share a line of pixels, or none does
        self.assertGreater(red - blue, 40)
        left, top, _, _ = self.page.place(".timeline-canvas")
        self.page.move(left + 92 + (width - 92) / 2, top + 26 + seen["height"] * 501.5)
        self.page.until("!document.querySelector('.timeline-tip').hidden")
        tip = self.page.text(".timeline-tip")
        self.assertIn("rank 501", tip)
        self.assertIn("100 % waiting", tip)

    def test_zooming_in_goes_over_to_calls(self):
        seen = self.seen()
        self.assertEqual(seen["boxes"], 0)
        left, top, width, height = self.page.place(".timeline-canvas")
        self.page.click_at(left + 92 + (width - 92) / 2, top + 26 + seen["height"] * 501.5, times=1)
        self.page.click_at(left + 92 + (width - 92) / 2, top + 26 + seen["height"] * 501.5, times=2)
        self.page.until("Number(document.querySelector('.timeline-canvas').dataset.height) >= 7")
        seen = self.seen()
        self.assertGreater(seen["boxes"], 0)
        self.assertTrue(seen["from"] < 2e9 < seen["to"] < 4e9)
        self.page.key("0")
        self.assertEqual(self.seen()["boxes"], 0)

    def test_while_it_moves_it_is_coarse_and_then_exact(self):
        self.seen()
        self.page.evaluate("(() => { const canvas = document.querySelector('.timeline-canvas'); window.coarse = 0;"
                           " new MutationObserver(() => { window.coarse += Number(canvas.dataset.coarse); })"
                           ".observe(canvas, {attributes: true}); })()")
        for _ in range(9):  # 4 s become 8 ms, less than a step of the shares of the whole run for six pixels
            self.page.key("+")
        for key in ("ArrowRight", "ArrowLeft") * 6:
            self.page.key(key)
        self.page.until("window.coarse > 0")
        seen = self.seen()
        self.assertEqual(seen["coarse"], 0)
        self.assertTrue(seen["to"] - seen["from"] < 1e7 and seen["from"] < 2e9 < seen["to"])
        _, _, width, _ = self.page.place(".timeline-canvas")
        # At 2 s ranks below 300 compute, and of each two others one waits.
        self.assertEqual(self.pixel_of(self.page, 92 + (width - 92) / 2, 26 + seen["height"] * 100), [226, 232, 240])
        red, _, blue = self.pixel_of(self.page, 92 + (width - 92) / 2, 26 + seen["height"] * 500.5)
        self.assertGreater(red - blue, 40)

    def test_groups_by_behaviour(self):
        # Receivers of the lower half wait half of the time; all others never: 450 and 150 processes.
        self.page.evaluate("(() => { const s = document.querySelector('select[aria-label=\"Order of processes\"]');"
                           " s.value = 'waiting'; s.dispatchEvent(new Event('change')); })()")
        seen = self.seen()
        _, _, width, _ = self.page.place(".timeline-canvas")
        x = 92 + (width - 92) / 2
        first = self.pixel_of(self.page, x, 26 + seen["height"] * 75)
        later = self.pixel_of(self.page, x, 26 + seen["height"] * 300)
        self.assertEqual(first, [214, 48, 0])
        self.assertEqual(later, [226, 232, 240])


class Communicators(Pages):
    """Processes chosen and grouped by communicators."""

    def setUp(self):
        folder = pathlib.Path(self.folder.name)
        text, trace, cube = folder / "split.txt", folder / "split.elg", folder / "split.cube"
        # MPI_Comm_split into even and odd ranks (communicators 1 and 2), and communicator 3 of ranks 0 and 1.
        lines = []
        for number, ranks in enumerate(([0, 1, 2, 3, 4, 5], [0, 2, 4], [1, 3, 5], [0, 1])):
            lines += [f"MPI_GROUP gid={number} ranks={ranks}".replace(", ", ","), f"MPI_COMM_REF cid={number} gid={number}",
                      f"COMM_IDENTITY cid={number} hi=1 lo={number + 1} flags=0"]
        lines += [f"ENTER lid={rank} time=0 region=main" for rank in range(6)]
        # Odd ranks come to the barrier of theirs at 1, 2 and 3 s; all leave it at 3 s.
        for rank, time in ((1, 1), (3, 2), (5, 3)):
            lines.append(f"ENTER lid={rank} time={time} region=MPI_Barrier")
        for rank in (1, 3, 5):
            lines.append(f"MPI_COLLEXIT lid={rank} time=3.1 cid=2")
        lines += [f"EXIT lid={rank} time=4" for rank in range(6)]
        text.write_text("\n".join(lines) + "\n")
        subprocess.run([BINARY / "tests" / "text_trace", text, trace], check=True)
        analyse(cube, trace)
        self.page = self.open(self.make(cube, "--trace", trace, name=self.id()))
        self.timeline()

    def choose(self, label, wanted):
        """The choice whose words begin so, as a person makes it."""
        self.page.evaluate(f"(() => {{ const s = document.querySelector('select[aria-label=\"{label}\"]');"
                           f" s.value = [...s.options].find(o => o.textContent.startsWith('{wanted}')).value;"
                           " s.dispatchEvent(new Event('change')); })()")
        return self.seen()

    def names(self):
        """Under the pointer, from the first row to the last."""
        seen = self.seen()
        left, top, width, height = self.page.place(".timeline-canvas")
        found = []
        for row in range(int(seen["rows"])):
            self.page.move(left + 92 + (width - 92) * 0.9, top + 26 + seen["height"] * (row + 0.6))
            self.page.evaluate(FRAME)
            found.append(self.page.text(".timeline-tip").split("rank ")[1][0])
        return "".join(found)

    def test_those_of_one_communicator(self):
        self.assertEqual(self.names(), "012345")
        options = self.page.texts("select[aria-label='Processes of a communicator'] option")
        self.assertEqual(options, ["all processes", "communicator 1 (3 processes)", "communicator 2 (3 processes)",
                                   "communicator 3 (2 processes)"])
        self.choose("Processes of a communicator", "communicator 2")
        self.assertEqual(self.names(), "135")
        # With a filter of ranks: those that both leave.
        self.page.click(".rows-filter")
        self.page.type("2-5")
        self.assertEqual(self.names(), "35")
        self.page.until("location.hash.includes('communicator=1') && location.hash.includes('ranks=2-5')")
        self.choose("Processes of a communicator", "all")
        self.assertEqual(self.names(), "2345")

    def test_groups_by_those_of_a_split(self):
        orders = self.page.texts("select[aria-label='Order of processes'] option")
        self.assertIn("grouped by communicators 1 and 2", orders)
        self.assertIn("grouped by communicator 3", orders)
        self.choose("Order of processes", "grouped by communicators 1 and 2")
        self.assertEqual(self.names(), "024135")
        self.choose("Order of processes", "grouped by communicator 3")
        self.assertEqual(self.names(), "012345")
        self.choose("Order of processes", "most waiting first")
        # Rank 1 waits 2 s, rank 3 1 s.
        self.assertEqual(self.names()[:2], "13")

    def test_an_address_keeps_them(self):
        self.page.evaluate("location.hash = 'view=timeline&communicator=0&order=communicators 1'")
        self.page.until("document.querySelector('.timeline-canvas').dataset.rows === '3'")
        self.assertEqual(self.names(), "024")
        self.page.evaluate("location.hash = 'view=timeline&communicator=77&order=nothing'")
        self.page.until("document.querySelector('.timeline-canvas').dataset.rows === '6'")
        self.assertEqual(self.names(), "012345")


class ManyEvents(Pages):
    def test_a_larger_page_holds_more(self):
        folder = pathlib.Path(self.folder.name)
        text, trace, cube = folder / "sized.txt", folder / "sized.elg", folder / "sized.cube"
        # Calls at times that cannot be foretold, some bytes each however they are compressed.
        chance = random.Random(7)
        time_now, lines = 0.0, ["ENTER lid=0 time=0 region=main"]
        for _ in range(200_000):
            for what in ("ENTER lid=0 time={:.9f} region=MPI_Comm_rank", "EXIT lid=0 time={:.9f}"):
                time_now += chance.uniform(1e-6, 9e-5)
                lines.append(what.format(time_now))
        text.write_text("\n".join(lines) + f"\nEXIT lid=0 time={time_now + 1}\n")
        subprocess.run([BINARY / "tests" / "text_trace", text, trace], check=True)
        subprocess.run([BINARY / "bin" / "expert", "-q", "--causes=never", "-o", cube, trace], check=True)
        sizes, told = [], []
        for megabytes in ("1", "2", "20"):
            page = folder / f"sized{megabytes}.html"
            ended = subprocess.run([BINARY / "bin" / "kojak", "html", "--max-size", megabytes, "--trace", trace,
                                    "-o", page, cube], check=True, capture_output=True, text=True)
            sizes.append(page.stat().st_size)
            self.assertLess(sizes[-1], float(megabytes) * 1.05e6)
            told.append([line for line in ended.stderr.splitlines() if "timeline:" in line])
            # The page says the same as the terminal.
            shown = self.open(page)
            shown.click("#tab-timeline")
            shown.until("document.querySelector('.timeline-canvas').dataset.to !== undefined")
            self.assertEqual(len(shown.texts(".omitted li")), len(told[-1]))
            for text, line in zip(shown.texts(".omitted li"), told[-1]):
                self.assertIn(text, line)
        print(f"pages of at most 1, 2 and 20 MB: {sizes} bytes; left out: {told}", file=sys.stderr)
        self.assertLess(sizes[0] * 1.3, sizes[1])
        self.assertTrue(told[0])
        # 200,000 calls of at least 4 bytes do not fit into the smallest, and fill it; the largest has all.
        self.assertGreater(sizes[0], 700_000)
        self.assertEqual(told[-1], [])

    def test_a_million_events(self):
        folder = pathlib.Path(self.folder.name)
        local, trace, cube = folder / "local", folder / "a.elg", folder / "a.cube"
        subprocess.run([BINARY / "tests" / "make_traces", "fence", local, "--ranks", "8",
                        "--events", "1000000"], check=True)
        subprocess.run([BINARY / "bin" / "elg_merge", "-q", "-o", trace, local], check=True)
        analyse(cube, trace)
        page = self.open(self.make(cube, "--trace", trace))
        page.click("#tab-timeline")
        page.until("document.querySelector('.timeline-canvas').dataset.to !== undefined")
        canvas = "document.querySelector('.timeline-canvas').dataset"
        times = []
        for key in "+++----0":
            page.key(key)
            page.evaluate(FRAME)
            times.append(float(page.evaluate(canvas + ".milliseconds")))
        boxes = int(page.evaluate(canvas + ".boxes"))
        print(f"1 million events, {boxes} calls: {page.seconds:.2f} s to open, drawing took "
              f"{min(times):.0f} to {max(times):.0f} ms", file=sys.stderr)
        self.assertGreater(boxes, 200_000)
        # Hundreds of thousands of puts in sight would hide the calls.
        self.assertIn("too close together for arrows", page.text(".arrow-note"))
        self.assertEqual(int(page.evaluate(canvas + ".from")), 0)
        # Rank 0 is late by 0.2 ms at every fence, and the other seven wait for it together.
        self.assertIn("1.40\u202fms Wait at Fence", page.text(".instances"))


if __name__ == "__main__":
    main()
