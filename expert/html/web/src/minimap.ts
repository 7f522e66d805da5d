// The whole run in one strip: what the processes did, by kind, and the window that is seen.
import { css, kindColours, regionKinds } from "./colour";
import { h } from "./dom";
import type { TraceData } from "./trace";

const height = 44;

export class Minimap {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "minimap-canvas", "aria-hidden": "true" });
  private readonly window = h("div", { class: "minimap-window" });
  private shares: Float64Array[] = []; // of each kind, by column

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

  // Time of each kind in each column, of all rows; a call's time without what it calls.
  private compute(width: number): void {
    const { trace } = this;
    const shares = regionKinds.map(() => new Float64Array(width));
    const scale = width / trace.span;
    const spread = (into: Float64Array, begin: number, end: number, sign: number) => {
      const x0 = begin * scale;
      const x1 = end * scale;
      const last = Math.min(width - 1, Math.floor(x1));
      const first = Math.min(width - 1, Math.floor(x0));
      if (first === last) into[first] += sign * (x1 - x0);
      else {
        into[first] += sign * (first + 1 - x0);
        into[last] += sign * (x1 - last);
        for (let x = first + 1; x < last; x++) into[x] += sign;
      }
    };
    const kind = trace.info.regions.kind;
    for (const boxes of trace.rows) {
      for (let i = 0; i < boxes.length; i++) {
        const mine = kind[boxes.region[i]];
        const parent = boxes.parent[i];
        const above = parent < 0 ? -1 : kind[boxes.region[parent]];
        if (above === mine) continue;
        spread(shares[mine], boxes.begin[i], boxes.end[i], 1);
        if (above >= 0) spread(shares[above], boxes.begin[i], boxes.end[i], -1);
      }
    }
    this.shares = shares;
  }

  draw(): void {
    const width = Math.round(this.element.clientWidth);
    if (width < 10) return;
    if (this.canvas.width !== width || this.shares.length === 0) this.compute(width);
    this.canvas.width = width;
    this.canvas.height = height;
    const context = this.canvas.getContext("2d")!;
    const colours = kindColours().map(css);
    const most = Math.max(1, this.trace.rows.length);
    // Computation below, waiting and communication above it.
    const order = [0, 11, 10, 12, 9, 6, 4, 1, 2, 3, 5, 7, 8];
    for (let x = 0; x < width; x++) {
      let y = height;
      for (const k of order) {
        const part = (Math.max(0, this.shares[k][x]) / most) * height;
        if (part < 0.05) continue;
        context.fillStyle = colours[k];
        context.fillRect(x, y - part, 1, part);
        y -= part;
      }
    }
  }
}
