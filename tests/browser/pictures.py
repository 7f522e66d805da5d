#!/usr/bin/env python3
"""Makes the pictures of README and docs: the page of a run of the demo, in headless Chromium.

Usage: pictures.py PAGE FOLDER    PAGE: a.html of `kojak run --sample -- mpirun -n 4 halo`; FOLDER: docs/images

With --check it also makes pictures of small windows, to be looked at.
"""
import argparse
import itertools
import pathlib

from chromium import Browser

FRAME = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))"
CHECKED = {"screen": (1400, 1000), "small": (1000, 800), "phone": (420, 900), "tablet": (700, 1000)}


def shot(page, path):
    page.evaluate("document.activeElement?.blur()")
    page.evaluate(FRAME)
    page.until("document.querySelector('.timeline-canvas')?.dataset.coarse !== '1'")
    page.screenshot(path)
    print(path)


def to_view(page, view):
    page.click(f"#tab-{view}")
    if view == "timeline":
        page.until("document.querySelector('.timeline-canvas')?.dataset.to !== undefined")


def to_wait(page, pattern):
    """The worst instance of a pattern on the timeline, with what came before it."""
    to_view(page, "timeline")
    page.evaluate("[...document.querySelectorAll('.instances button')]"
                  f".find(b => b.textContent.includes('{pattern}')).click()")
    for _ in range(2):
        page.key("-")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with Browser() as browser:
        page = browser.open(options.page, width=1280, height=900)
        shot(page, options.folder / "findings.png")
        page.evaluate("document.querySelector('.from-victim').scrollIntoView()")
        shot(page, options.folder / "steps.png")
        to_wait(page, "Late Post")
        shot(page, options.folder / "waits.png")
        page.click("#tab-verdict")
        page.click("#group-1 [data-action=chain]")
        page.until("document.documentElement.dataset.view === 'timeline'")
        for _ in range(3):
            page.key("-")
        shot(page, options.folder / "timeline.png")
        other = browser.open(options.page, width=1280, height=800)
        to_view(other, "trees")
        shot(other, options.folder / "trees.png")
        for name, (width, height) in CHECKED.items() if options.check else ():
            other = browser.open(options.page, width=width, height=height)
            other.evaluate("document.querySelector('.from-victim').scrollIntoView()")
            shot(other, options.folder / f"{name}-steps.png")
            other.close()
            for view, dark in itertools.product(("verdict", "timeline", "trees", "bytes"), (False, True)):
                other = browser.open(options.page, width=width, height=height, dark=dark)
                to_view(other, view)
                shot(other, options.folder / f"{name}-{view}-{'dark' if dark else 'light'}.png")
                other.close()


if __name__ == "__main__":
    main()
