#!/usr/bin/env python3
"""Looks at the page of a run in which calls failed: where the timeline marks them.

Usage: failed_test.py BINARY_DIR REFERENCE_DIR [unittest arguments]
Needs Chromium.
"""
from pages import main
from program_test import Recorded

FAILED = """ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=2 region=MPI_Put
MPI_ERROR lid=1 time=2.5 error_class=51 code=77
EXIT lid=1 time=2.5
ENTER lid=1 time=5 region=MPI_Put
MPI_ERROR lid=1 time=5.5 error_class=51 code=77
EXIT lid=1 time=5.5
EXIT lid=0 time=10
EXIT lid=1 time=10
"""


class Failed(Recorded):
    """Rank 1 fails at 2.5 s and, at the same place, at 5.5 s."""

    def test_the_first_has_a_mark(self):
        _, _, html = self.record("failed", FAILED)
        self.page = self.open(html)
        self.assertIn("MPI_Put failed 2 times on rank 1: MPI_ERR_RMA_SYNC", self.page.text(".failed-calls li"))
        self.timeline()
        seen = self.seen()
        self.assertIn("a call failed (the first of its place)", self.page.texts(".timeline-legend li"))
        left, top, width, height = self.page.place(".timeline-canvas")

        def marked(rank, second):
            """Whether something near the middle of the row has the mark's colour there."""
            x = 92 + (width - 92) * (second * 1e9 - seen["from"]) / (seen["to"] - seen["from"])
            high = seen["height"]
            return any(self.pixel_of(self.page, round(x), 26 + high * rank + y) == [185, 28, 28]
                       for y in range(int(high // 4), int(high * 3 // 4)))

        for rank, second, has in ((1, 2.5, True), (1, 5.5, False), (0, 2.5, False), (1, 4, False)):
            self.assertEqual(marked(rank, second), has, (rank, second))


if __name__ == "__main__":
    main()
