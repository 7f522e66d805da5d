#!/usr/bin/env python3
"""Frames of a page's timeline while one zooms and moves over a large run, in headless Chromium.

Usage: page_frames.py BIN_DIR TESTS_DIR [--events N] [--ranks N] [--kind KIND] [--max-size MEGABYTES] [--heat] [PAGE]

Without a page it has make_traces write a trace and kojak make its page. It turns the wheel in and out and moves along,
200 frames, and prints how long a frame took: the page's drawing of it, all until the browser was ready for the next
one, and the processor time of the page's thread, which other programs on a busy machine do not change much; of each the
median, 95 % and the longest, and how many things (calls and waits) were in sight at most. --heat does so with the heat
map. It reports; it never fails for being slow.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "browser"))
from chromium import Browser  # noqa: E402

# Milliseconds from the frame in which the page draws to the time when the browser could begin another.
FRAME = ("new Promise(r => requestAnimationFrame(() => { const begin = performance.now() -"
         " Number(document.querySelector('.timeline-canvas').dataset.milliseconds);"
         " const channel = new MessageChannel();"
         " channel.port1.onmessage = () => r(performance.now() - begin); channel.port2.postMessage(0); }))")
SEEN = "({...document.querySelector('.timeline-canvas').dataset})"


def made(options, folder):
    local, trace, cube, page = folder / "local", folder / "a.elg", folder / "a.cube", folder / "a.html"
    for command in ([options.tests_dir / "make_traces", options.kind, local, "--ranks", options.ranks,
                     "--events", options.events],
                    [options.bin_dir / "elg_merge", "-q", "-o", trace, local],
                    [options.bin_dir / "expert", "-q", "--causes=never", "-o", cube, trace],
                    [options.bin_dir / "kojak", "html", "-q", "--max-size", options.max_size, "--trace", trace,
                     "-o", page, cube]):
        subprocess.run([str(word) for word in command], check=True)
    return page


def thread_time(page):
    return next(m["value"] for m in page.send("Performance.getMetrics")["metrics"] if m["name"] == "ThreadTime")


def frames(page, heat):
    page.evaluate("location.hash = 'view=timeline'")
    page.until("document.querySelector('.timeline-canvas')?.dataset.to !== undefined")
    left, top, width, height = page.place(".timeline-canvas")
    if heat:
        page.click("[data-show=heat]")
    page.send("Performance.enable")
    times, wholes, used, most = [], [], [], 0
    # Around a place that is a third of the run, out again, and along.
    steps = [-60] * 40 + [60] * 60 + [-60] * 20 + [None] * 40 + [60] * 40
    before = thread_time(page)
    for step in steps:
        if step is None:
            page.key("ArrowRight")
        else:
            page.wheel(left + 92 + (width - 92) / 3, top + height / 2, step)
        wholes.append(page.evaluate(FRAME))
        after = thread_time(page)
        used.append(1000 * (after - before))
        before = after
        seen = page.evaluate(SEEN)
        times.append(float(seen["milliseconds"]))
        most = max(most, int(seen["boxes"]))
    return times, wholes, used, most


def told(times):
    times = sorted(times)
    return (f"median {times[len(times) // 2]:.1f} ms, 95 % below {times[len(times) * 95 // 100]:.1f} ms, "
            f"longest {times[-1]:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("tests_dir", type=pathlib.Path)
    parser.add_argument("--events", default="5000000")
    parser.add_argument("--ranks", default="16")
    parser.add_argument("--kind", default="fence")
    parser.add_argument("--max-size", default="100")
    parser.add_argument("--heat", action="store_true")
    parser.add_argument("page", nargs="?", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="kojak-frames-") as folder, Browser() as browser:
        page = browser.open(options.page or made(options, pathlib.Path(folder)))
        opened = page.seconds
        times, wholes, used, most = frames(page, options.heat)
        print(f"opened in {opened:.2f} s; {len(times)} frames, at most {most:,} things in sight\n"
              f"drawing: {told(times)}\nwhole frames: {told(wholes)}\n"
              f"processor time: {told(used)}")


if __name__ == "__main__":
    main()
