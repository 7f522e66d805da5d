// The whole run in one strip: which part of the processes waits and is in MPI, and the window that is seen.
import { css, kindColours, waitingColour } from "./colour";
import { h } from "./dom";
import type { TraceData } from "./trace";

const height = 44;

export class Minimap {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "minimap-canvas", "aria-hidden": "true" });
  private readonly window = h("div", { class: "minimap-window" });
  private shares: { waiting: Float64Array; mpi: Float64Array } | undefined; // of each step of the run

  constructor(
    private readonly trace: TraceData,
    private readonly go: (from: number, to: number) => void,
  ) {
    this.element = h(
      "div",
      { class: "minimap", title: "The whole run: drag to choose what is seen" },
      this.canvas,
      this.window,
    );
    let grabbed: { x: number; from: number; to: number } | undefined;
    this.element.addEventListener("pointerdown", (e) => {
      this.element.setPointerCapture(e.pointerId);
      const time = this.time(e);
      const inside = time >= this.from && time <= this.to && this.to - this.from < 0.98 * trace.span;
      grabbed = { x: time, from: inside ? this.from : time, to: inside ? this.to : time };
    });
    this.element.addEventListener("pointermove", (e) => {
      if (grabbed === undefined) return;
      const time = this.time(e);
      if (grabbed.to > grabbed.from) go(grabbed.from + time - grabbed.x, grabbed.to + time - grabbed.x);
      else if (Math.abs(time - grabbed.x) > trace.span / 500) go(Math.min(time, grabbed.x), Math.max(time, grabbed.x));
    });
    this.element.addEventListener("pointerup", (e) => {
      // A click moves the window there.
      if (
        grabbed !== undefined &&
        grabbed.to === grabbed.from &&
        Math.abs(this.time(e) - grabbed.x) <= trace.span / 500
      ) {
        const half = (this.to - this.from) / 2;
        if (half * 2 < 0.98 * trace.span) this.go(grabbed.x - half, grabbed.x + half);
      }
      grabbed = undefined;
    });
  }

  private from = 0;
  private to = 1;

  private time(event: PointerEvent): number {
    const box = this.element.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.trace.span;
  }

  show(from: number, to: number): void {
    this.from = from;
    this.to = to;
    this.window.style.left = `${(from / this.trace.span) * 100}%`;
    this.window.style.width = `${Math.max(0.2, ((to - from) / this.trace.span) * 100)}%`;
  }

  // Shares of all processes together.
  private compute(): { waiting: Float64Array; mpi: Float64Array } {
    const { columns, waiting, mpi } = this.trace.density;
    const most = Math.max(1, this.trace.rows.length) * 255;
    const sum = (shares: Uint8Array) => {
      const sums = new Float64Array(columns);
      for (let i = 0, c = 0; i < shares.length; i++, c = c + 1 === columns ? 0 : c + 1) sums[c] += shares[i];
      return sums.map((s) => s / most);
    };
    return { waiting: sum(waiting), mpi: sum(mpi) };
  }

  draw(): void {
    const width = Math.round(this.element.clientWidth);
    if (width < 10) return;
    const { waiting, mpi } = (this.shares ??= this.compute());
    this.canvas.width = width;
    this.canvas.height = height;
    const context = this.canvas.getContext("2d")!;
    const colours = kindColours();
    const [program, calls, waits] = [colours[0], colours[1], waitingColour()].map(css);
    const step = waiting.length / width;
    // Waiting below, then other time in MPI, then the rest.
    for (let x = 0; x < width; x++) {
      const from = Math.floor(x * step);
      const to = Math.max(from + 1, Math.floor((x + 1) * step));
      const mean = (shares: Float64Array) => {
        let sum = 0;
        for (let c = from; c < to; c++) sum += shares[c] ?? 0;
        return sum / (to - from);
      };
      const waited = mean(waiting) * height;
      const called = Math.max(waited, mean(mpi) * height);
      context.fillStyle = program;
      context.fillRect(x, 0, 1, height - called);
      context.fillStyle = calls;
      context.fillRect(x, height - called, 1, called - waited);
      context.fillStyle = waits;
      context.fillRect(x, height - waited, 1, waited);
    }
  }
}
