#!/usr/bin/env python3
"""Draws the timelines of the EARL chapter as SVG, from real traces.

Usage: timelines.py TRACE_FOLDER IMAGE_FOLDER, with the module earl on PYTHONPATH. The folder holds
gats.elg and fence.elg (tests/reference): four processes, general active target and fences.
"""
import html
import pathlib
import sys

import earl

WIDTH, LEFT, LANE, BAR, TOP = 900, 46, 62, 26, 34
COLOURS = {"MPI_Win_start": "#7aa6d8", "MPI_Win_complete": "#4f7fb8", "MPI_Win_post": "#8cc28c",
           "MPI_Win_wait": "#5b9a5b", "MPI_Win_test": "#5b9a5b", "MPI_Win_fence": "#b694c8",
           "MPI_Put": "#e0a458", "MPI_Get": "#d87f5a", "MPI_Barrier": "#c9c36a"}
STYLE = ("text{font:12px sans-serif;fill:#222}.small{font-size:10px}.note{font-size:11px;fill:#8a2b2b}"
         "@media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#f0a0a0}}")


class Timeline:
    """Time from left to right, a lane for each process."""

    def __init__(self, trace, begin, end, title):
        self.trace, self.begin, self.end = trace, begin, end
        self.parts = []
        self.height = TOP + LANE * len(trace.locations) + 26
        self.text(LEFT, 16, title)
        for location in trace.locations:
            y = self.y(location.process)
            self.text(6, y + BAR / 2 + 4, f"{location.process}")
            self.line(LEFT, y + BAR, WIDTH - 6, y + BAR, "#999", 0.5)
        for i in range(6):
            x = LEFT + (WIDTH - LEFT - 10) * i / 5
            at = begin + (end - begin) * i / 5
            scale, unit = (1e3, "ms") if end - begin > 2e-3 else (1e6, "us")
            self.text(x - (30 if i == 5 else 14), self.height - 6, f"{(at - begin) * scale:.0f} {unit}", "small")

    def x(self, time):
        part = (time - self.begin) / (self.end - self.begin)
        return LEFT + (WIDTH - LEFT - 10) * min(max(part, 0), 1)

    def y(self, process):
        return TOP + LANE * process

    def text(self, x, y, words, kind=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{html.escape(words)}</text>')

    def line(self, x1, y1, x2, y2, colour, width, arrow=False, dashes=""):
        end = ' marker-end="url(#tip)"' if arrow else ""
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"{end}{dash}/>')

    def regions(self):
        """The calls of each process that lie in the window, MPI calls only."""
        for event in self.trace.events(end=self.end):
            if not event.is_a("Exit") or event.enterptr is None or event.time < self.begin:
                continue
            if not event.region.startswith("MPI_"):
                continue
            x1, x2 = self.x(event.enterptr.time), self.x(event.time)
            y = self.y(event.process)
            colour = COLOURS.get(event.region, "#bbbbbb")
            self.parts.append(f'<rect x="{x1:.1f}" y="{y}" width="{max(x2 - x1, 1.2):.1f}" '
                              f'height="{BAR}" rx="2" fill="{colour}"><title>{event.region}'
                              f'</title></rect>')
            name = event.region.replace("MPI_Win_", "").replace("MPI_", "")
            if x2 - x1 > 7 * len(name):
                self.text(x1 + 3, y + 17, name, "small")
        return self

    def point(self, event):
        return self.x(event.time), self.y(event.process) + BAR / 2

    def pointer(self, event, to, label, colour, along=0.5):
        """An arrow from an event back to an earlier one."""
        (x1, y1), (x2, y2) = self.point(event), self.point(to)
        self.parts.append(f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="2.5" fill="{colour}"/>')
        self.line(x1, y1, x2, y2, colour, 1.4, arrow=True)
        if label:
            self.text(x1 + (x2 - x1) * along + 4, y1 + (y2 - y1) * along - 3, label, "small")

    def bracket(self, epoch, label, colour):
        """An epoch below the calls of its process."""
        y = self.y(epoch.process) + BAR + 7
        x1, x2 = self.x(epoch.opened.time), self.x(epoch.closed.time)
        self.line(x1, y, x2, y, colour, 3)
        self.line(x1, y - 4, x1, y + 4, colour, 1.5)
        self.line(x2, y - 4, x2, y + 4, colour, 1.5)
        self.text(x1 + 3, y + 14, label, "small")

    def note(self, process, time, words):
        self.text(self.x(time), self.y(process) - 5, words, "note")

    def write(self, path):
        tip = ('<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
               'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>')
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                        f'width="{WIDTH}" height="{self.height}"><style>{STYLE}</style>{tip}\n'
                        + "\n".join(self.parts) + "\n</svg>\n")


def epochs(trace):
    """An exposure transaction: the target waits for the last origin."""
    transaction = trace.exposure_transactions()[1]
    events = transaction.events
    begin, end = events[0].time, events[-1].time
    margin = (end - begin) * 0.04
    drawing = Timeline(trace, begin - margin, end + margin,
                       "An exposure transaction: one exposure epoch, its access epochs, their transfers")
    drawing.regions()
    drawing.bracket(transaction.root, "exposure epoch", "#2e6b2e")
    for origin in transaction.partners:
        drawing.bracket(origin, "access epoch", "#2b5c94")
    for origin in transaction.partners:
        for operation in origin.operations:
            if operation.target == transaction.root.process and not operation.is_get:
                drawing.pointer(operation.end, operation.start, "startptr", "#b06f1c")
    drawing.note(transaction.root.process, events[-1].time - (end - begin) * 0.3,
                 "waits for the last complete")
    return drawing


def pointers(trace):
    """The short first transaction: a put and a get with their pointers."""
    transaction = trace.exposure_transactions()[0]
    events = transaction.events
    begin, end = events[0].time, events[-1].time
    margin = (end - begin) * 0.15
    drawing = Timeline(trace, begin - margin, end + margin,
                       "Pointers: from an event to an earlier one")
    drawing.regions()
    origin = transaction.partners[0]
    for operation in origin.operations:
        if operation.is_get:
            drawing.pointer(operation.start, operation.start.originptr, "originptr", "#a03030")
            drawing.pointer(operation.end, operation.start, "startptr", "#a03030", 0.3)
        else:
            drawing.pointer(operation.end, operation.start, "startptr", "#b06f1c", 0.85)
    closed = origin.closed
    drawing.pointer(closed, closed.enterptr, "enterptr", "#444444")
    return drawing


def fences(trace):
    """One fence as a collective instance: the exits that belong together."""
    exits = [e for e in trace if e.is_a("MPIWCExit") and e.region == "MPI_Win_fence"]
    best = None
    for event in exits:
        instance = trace.state(event.pos).complete("window")
        if instance is None:
            continue
        enters = [e.enterptr.time for e in instance.exits]
        if best is None or max(enters) - min(enters) > best[0]:
            best = (max(enters) - min(enters), instance)
    instance = best[1]
    begin = min(e.enterptr.time for e in instance.exits)
    end = max(e.time for e in instance.exits)
    margin = (end - begin) * 0.08
    drawing = Timeline(trace, begin - margin, end + margin,
                       f"A collective instance: fence number {instance.ordinal} of the window")
    drawing.regions()
    ordered = sorted(instance.exits, key=lambda e: e.process)
    for one, other in zip(ordered, ordered[1:]):
        (x1, y1), (x2, y2) = drawing.point(one), drawing.point(other)
        drawing.line(x1, y1, x2, y2, "#6b3f86", 1.5, dashes="4 3")
    last = max(instance.exits, key=lambda e: e.enterptr.time)
    drawing.note(last.process, last.enterptr.time, "enters last")
    return drawing


def main():
    traces, images = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    gats, fence = earl.open(str(traces / "gats.elg")), earl.open(str(traces / "fence.elg"))
    epochs(gats).write(images / "earl-epochs.svg")
    pointers(gats).write(images / "earl-pointers.svg")
    fences(fence).write(images / "earl-fence.svg")


if __name__ == "__main__":
    main()
