#!/usr/bin/env python3
"""An analysis of one's own: the worst Late Post of a trace, who moves how much, and a timeline.

Usage: late_post.py TRACE IMAGE_FOLDER, with the module earl on PYTHONPATH.
"""
import pathlib
import sys

import earl
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of the backend)

matplotlib.rcParams["svg.hashsalt"] = "kojak"  # the same picture each time


def blocked(call, posts):
    """How long the latest post that the call can have seen kept it from going on."""
    enter, leave = call.enterptr.time, call.time
    seen = [t for t in posts if t <= leave]
    return max(max(seen, default=enter) - enter, 0)


def worst_late_post(trace):
    """(seconds, call, transaction) of the start or complete that waited longest for posts."""
    worst = (0.0, None, None)
    for transaction in trace.access_transactions():
        posts = [p.opened.enterptr.time for p in transaction.partners if p is not None]
        for call in (transaction.root.opened, transaction.root.closed):
            seconds = blocked(call, posts)
            if seconds > worst[0]:
                worst = (seconds, call, transaction)
    return worst


def draw_matrix(trace, path):
    """Bytes that each process (row) moved to each other one."""
    matrix = trace.byte_matrix()
    figure, axes = plt.subplots(figsize=(4, 3.4))
    image = axes.imshow(matrix, cmap="viridis")
    axes.set(xlabel="to process", ylabel="from process", title="Bytes moved")
    axes.set_xticks(range(len(matrix)))
    axes.set_yticks(range(len(matrix)))
    if len(matrix) <= 8:
        for (row, column), count in numpy.ndenumerate(matrix):
            axes.text(column, row, count, ha="center", va="center",
                      color="black" if count > matrix.max() / 2 else "white")
    figure.colorbar(image, label="bytes")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def draw_timeline(trace, begin, end, path):
    """What each process was in between two times, from columns: no loop over events."""
    columns = trace.columns(["time", "type", "process", "region", "enterptr"])
    time, enter = columns["time"], columns["enterptr"]
    leaves = numpy.isin(columns["type"], [earl.TYPES[name] for name in (
        "EXIT", "MPI_WINEXIT", "MPI_WINCOLLEXIT", "MPI_COLLEXIT")])
    calls = numpy.flatnonzero(leaves & (enter >= 0) & (time >= begin))
    calls = calls[time[enter[calls]] <= end]
    names = {number: region.name for number, region in trace.regions.items()}
    figure, axes = plt.subplots(figsize=(8, 2.8))
    visible = calls[time[calls] - time[enter[calls]] > 0.004 * (end - begin)]
    shown = sorted({columns["region"][i] for i in visible if names[columns["region"][i]].startswith("MPI_")})
    for number, colour in zip(shown, plt.cm.tab20.colors):
        mine = calls[columns["region"][calls] == number]
        axes.barh(columns["process"][mine], time[mine] - time[enter[mine]], left=time[enter[mine]],
                  height=0.6, color=colour, label=names[number])
    axes.set(xlim=(begin, end), xlabel="seconds", ylabel="process", yticks=range(len(trace.locations)))
    axes.invert_yaxis()
    axes.legend(fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.25))
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def main():
    trace, images = earl.open(sys.argv[1]), pathlib.Path(sys.argv[2])
    seconds, call, transaction = worst_late_post(trace)
    if call is not None:
        print(f"worst Late Post: process {call.process} waited {1e3 * seconds:.1f} ms in {call.path}")
        begin, end = call.enterptr.time, transaction.events[-1].time
        margin = 0.1 * (end - begin)
        draw_timeline(trace, begin - margin, end + margin, images / "earl-timeline.svg")
    draw_matrix(trace, images / "earl-bytes.svg")


if __name__ == "__main__":
    main()
