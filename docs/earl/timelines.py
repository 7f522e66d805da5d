#!/usr/bin/env python3
"""Draws the timelines of the EARL chapter as SVG, from real traces.

Usage: timelines.py TRACE_FOLDER IMAGE_FOLDER, with the module earl on PYTHONPATH. The folder holds
gats.elg and fence.elg (tests/reference): four processes, general active target and fences. model.elg,
messages and locks of three processes, lies beside this script, with the program that it is a trace of.
"""
import html
import math
import pathlib
import sys

import earl

WIDTH, LEFT, LANE, BAR, TOP = 900, 72, 62, 26, 42
COLOURS = {"MPI_Win_start": "#7aa6d8", "MPI_Win_complete": "#4f7fb8", "MPI_Win_post": "#8cc28c",
           "MPI_Win_wait": "#5b9a5b", "MPI_Win_test": "#5b9a5b", "MPI_Win_fence": "#b694c8",
           "MPI_Put": "#e0a458", "MPI_Get": "#d87f5a", "MPI_Barrier": "#c9c36a",
           "MPI_Send": "#e0a458", "MPI_Irecv": "#8cc28c", "MPI_Wait": "#7aa6d8",
           "MPI_Win_lock": "#7aa6d8", "MPI_Win_unlock": "#4f7fb8", "MPI_Win_flush": "#8cc28c"}
STYLE = ("svg{background:#fff}text{font:12px sans-serif;fill:#222;paint-order:stroke;stroke:#fff;"
         "stroke-width:3px;stroke-linejoin:round}.small{font-size:10px}.in{font-size:10px;stroke:none}"
         ".note{font-size:11px;fill:#8a2b2b}")


def tick_step(span):
    """A round number that fits four to ten times into the span."""
    unit = 10 ** math.floor(math.log10(span / 4))
    return max(factor * unit for factor in (1, 2, 5) if 4 * factor * unit <= span)


class Timeline:
    """Time from left to right, a lane for each process."""

    def __init__(self, trace, begin, end, title, lanes=None):
        self.trace, self.begin, self.end = trace, begin, end
        self.parts = []
        lanes = lanes or [f"process {location.process}" for location in trace.locations]
        self.height = TOP + LANE * len(lanes) + 26
        self.text(LEFT, 16, title)
        for lane, label in enumerate(lanes):
            y = self.y(lane)
            self.text(6, y + BAR / 2 + 4, label, "small")
            self.line(LEFT, y + BAR, WIDTH - 6, y + BAR, "#999", 0.5)
        self.ticks()

    def ticks(self):
        scale, unit = (1e3, "ms") if self.end - self.begin > 2e-3 else (1e6, "us")
        step = tick_step((self.end - self.begin) * scale)
        for i in range(int((self.end - self.begin) * scale / step) + 1):
            x = self.x(self.begin + i * step / scale)
            self.line(x, self.height - 20, x, self.height - 16, "#999", 1)
            self.text(min(x, WIDTH - 24), self.height - 6, f"{i * step:.0f} {unit}", "small", "middle")

    def x(self, time):
        part = (time - self.begin) / (self.end - self.begin)
        return LEFT + (WIDTH - LEFT - 10) * min(max(part, 0), 1)

    def y(self, lane):
        return TOP + LANE * lane

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
                          f'{html.escape(words)}</text>')

    def line(self, x1, y1, x2, y2, colour, width, arrow=False, dashes=""):
        end = ' marker-end="url(#tip)"' if arrow else ""
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"{end}{dash}/>')

    def bar(self, lane, begin, end, region):
        x1, x2 = self.x(begin), self.x(end)
        colour = COLOURS.get(region, "#b4b8c0")
        self.parts.append(f'<rect x="{x1:.1f}" y="{self.y(lane)}" width="{max(x2 - x1, 1.2):.1f}" '
                          f'height="{BAR}" rx="2" fill="{colour}"><title>{region}</title></rect>')
        name = region.replace("MPI_Win_", "").replace("MPI_", "")
        if x2 - x1 > 5.5 * len(name) + 4:
            self.text(x1 + 3, self.y(lane) + 10, name, "in")

    def regions(self):
        """The calls of each process that lie in the window, MPI calls only."""
        for event in self.trace.events(end=self.end):
            if not event.is_a("Exit") or event.enterptr is None or event.time < self.begin:
                continue
            if event.region.startswith("MPI_"):
                self.bar(event.process, event.enterptr.time, event.time, event.region)
        return self

    def band(self, lane, begin, end, words):
        """Something that holds for a while, below the calls of a process."""
        x1, x2, y = self.x(begin), self.x(end), self.y(lane) + BAR + 4
        self.parts.append(f'<rect x="{x1:.1f}" y="{y}" width="{x2 - x1:.1f}" height="16" '
                          f'fill="#e8c8c8" stroke="#a03030" stroke-width="0.7"/>')
        self.text(x1 + 3, y + 12, words, "in")

    def point(self, event):
        return self.x(event.time), self.y(event.process) + BAR / 2

    def pointer(self, event, to, label, colour, along=0.5, down=0):
        """An arrow from an event back to an earlier one; `down` moves it within the lanes."""
        (x1, y1), (x2, y2) = self.point(event), self.point(to)
        self.arrow(x1, y1 + down, x2, y2 + down, label, colour, along, 11 if down > 8 else -3)

    def arrow(self, x1, y1, x2, y2, label, colour, along=0.5, below=-3):
        self.parts.append(f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="2.5" fill="{colour}"/>')
        self.line(x1, y1, x2, y2, colour, 1.4, arrow=True)
        steep = abs(x1 - x2) < 30  # the label goes to the left, out of the way of epochs
        self.text(x1 + (x2 - x1) * along + (-5 if steep else 4), y1 + (y2 - y1) * along + below, label,
                  "small", "end" if steep else "start")

    def bracket(self, epoch, label, colour):
        """An epoch below the calls of its process."""
        y = self.y(epoch.process) + BAR + 7
        x1, x2 = self.x(epoch.opened.time), self.x(epoch.closed.time)
        self.line(x1, y, x2, y, colour, 3)
        self.line(x1, y - 4, x1, y + 4, colour, 1.5)
        self.line(x2, y - 4, x2, y + 4, colour, 1.5)
        self.text(x1 + 3, y + 14, label, "small")

    def note(self, process, time, words, anchor="start"):
        self.text(self.x(time), self.y(process) - 5, words, "note", anchor)

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
    drawing.note(transaction.root.process, end, "waits for the last complete", "end")
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
            drawing.pointer(operation.end, operation.start, "startptr", "#a03030", 0.35)
        else:
            drawing.pointer(operation.end, operation.start, "startptr", "#b06f1c", 0.75)
    closed = origin.closed
    drawing.pointer(closed, closed.enterptr, "enterptr", "#444444", 0.4, 9)
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
    drawing.note(last.process, last.enterptr.time, "enters last", "end")
    return drawing


def stack(trace):
    """The region instances of one process, callers above what they call."""
    inner = next(e for e in trace if e.is_a("Recv")).enterptr
    outer = inner.enterptr  # the call of messages()
    calls = [e for e in trace.events(location=inner.location)
             if e.is_a("Exit") and e.enterptr is not None and outer in (e.enterptr, e.enterptr.enterptr)]
    end = max(e.time for e in calls)
    margin = (end - outer.time) * 0.1
    at = (inner.time + end) / 2
    stack = trace.state_at(at).stack(inner.location)
    depth = stack.index(outer)
    drawing = Timeline(trace, outer.time - margin, end + margin,
                       "The region stack of a process; enterptr of an ENTER leads to its caller's",
                       [f"depth {i}" for i in range(depth + 2)])
    for above in range(depth):
        drawing.bar(above, drawing.begin, drawing.end, stack[above].region)
    for call in calls:
        drawing.bar(depth + (call.enterptr != outer), call.enterptr.time, call.time, call.region)
    drawing.arrow(drawing.x(inner.time), drawing.y(depth + 1) + BAR / 2, drawing.x(outer.time),
                  drawing.y(depth) + BAR / 2, "enterptr", "#a03030")
    bottom = drawing.y(depth + 1) + BAR
    drawing.line(drawing.x(at), TOP - 4, drawing.x(at), bottom + 6, "#8a2b2b", 1, dashes="4 3")
    drawing.text(drawing.x(at), bottom + 18, "here: " + ", ".join(e.region for e in stack), "note", "middle")
    return drawing


def messages(trace):
    """Two receives and their sends: the one from anybody was posted first and gets the first message."""
    receives = [e for e in trace if e.is_a("Recv")]
    begin, end = min(e.requestptr.time for e in receives), max(e.time for e in receives)
    margin = (end - begin) * 0.08
    drawing = Timeline(trace, begin - margin, end + margin,
                       "Messages: the receive that was posted first gets the first message")
    drawing.regions()
    for receive, colour, down in zip(receives, ("#a03030", "#2b5c94"), (0, 9)):
        drawing.pointer(receive, receive.sendptr, "sendptr", colour, 0.75)
        drawing.pointer(receive, receive.requestptr, "requestptr", colour, 0.97, down)
    drawing.note(receives[0].process, begin, "the first is from anybody")
    return drawing


def locks(trace):
    """Two exclusive locks: epochs, who holds the lock, and the chain of lockptr."""
    found = [e for e in trace.finished_epochs() if e.mode == "lock"]
    begin = min(e.opened.enterptr.time for e in found)
    end = max(e.closed.time for e in found)
    margin = (end - begin) * 0.06
    drawing = Timeline(trace, begin - margin, end + margin,
                       "Locks of one process's part of a window: who holds it, epochs, lockptr")
    drawing.regions()
    window, target = found[0].window, found[0].target
    held, since = [], begin
    for event, state in trace.states(trace.first_at(begin)):
        holders = [lock.process for lock in state.holders(window, target)]
        if holders != held:
            if held:
                drawing.band(target, since, event.time, "held by " + ", ".join(map(str, held)))
            held, since = holders, event.time
    for epoch in found:
        drawing.bracket(epoch, "lock epoch", "#2b5c94")
        for event in (epoch.opened, epoch.closed):
            if event.lockptr is not None:
                drawing.pointer(event, event.lockptr, "lockptr", "#a03030", 0.4, 5)
    last = max(found, key=lambda e: e.opened.time)
    drawing.note(last.process, last.opened.enterptr.time, "waits for the lock")
    return drawing


def main():
    traces, images = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    gats, fence = earl.open(traces / "gats.elg"), earl.open(traces / "fence.elg")
    epochs(gats).write(images / "earl-epochs.svg")
    pointers(gats).write(images / "earl-pointers.svg")
    fences(fence).write(images / "earl-fence.svg")
    model = earl.open(pathlib.Path(__file__).parent / "model.elg")
    stack(model).write(images / "earl-stack.svg")
    messages(model).write(images / "earl-messages.svg")
    locks(model).write(images / "earl-locks.svg")


if __name__ == "__main__":
    main()
