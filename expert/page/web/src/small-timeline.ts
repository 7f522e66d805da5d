// The run at a glance, below the verdict: who makes others wait, who waits, and the critical path in a lane of its own
// below each row. A pixel has the colour of what most of its time went into; a click opens the timeline there.
import type { Data } from "./data";
import { plural, shortened } from "./format";
import { namespace } from "./svg";
import type { TraceData } from "./trace";
import type { Step } from "./types";

const mostRows = 8;
const rowHeight = 20;
const gap = 7;
const labels = 62;
const svgNames = namespace();
const states = ["makes-wait", "waits", "computes", "mpi"] as const;

function svg(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const element = document.createElementNS(svgNames, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== "") element.textContent = text;
  return element;
}

export class SmallTimeline {
  private readonly rows: number[];
  private readonly culprits: Set<number>;
  private readonly from: number;
  private readonly to: number;
  private width = 0;
  private step: Step | undefined;

  constructor(
    private readonly data: Data,
    private readonly trace: TraceData,
    private readonly place: HTMLElement,
    private readonly open: (from: number, to: number) => void,
  ) {
    const [group] = data.info.groups ?? [];
    const known = (row: number) => row < trace.rows.length;
    this.culprits = new Set((group?.culprits ?? []).filter(known));
    const all = [...trace.rows.keys()];
    const wanted = [...this.culprits, ...(group?.chain ?? []).map((s) => s.row).reverse(), ...(group?.victims ?? [])];
    this.rows = all.length <= mostRows ? all : [...new Set(wanted.filter(known))].slice(0, mostRows).sort((a, b) => a - b);
    [this.from, this.to] = this.program();
    place.hidden = this.rows.length === 0 || this.to <= this.from;
    new ResizeObserver(() => this.draw()).observe(place);
    this.draw();
  }

  // A step of the chain.
  mark(step: Step): void {
    this.step = step;
    this.width = 0;
    this.draw();
  }

  private kind(row: number, box: number): number {
    return this.trace.info.regions.kind[this.trace.rows[row].region[box]];
  }

  // From the first end of MPI_Init to the last begin of MPI_Finalize.
  private program(): [number, number] {
    const initExit = 10;
    let [from, to] = [Infinity, -Infinity];
    this.trace.rows.forEach((boxes, row) => {
      for (let i = 0; i < boxes.length; i++) {
        if (this.kind(row, i) !== initExit) continue;
        if (/finali[sz]e/i.test(this.trace.info.regions.name[boxes.region[i]])) to = Math.max(to, boxes.begin[i]);
        else if (/init/i.test(this.trace.info.regions.name[boxes.region[i]])) from = Math.min(from, boxes.end[i]);
      }
    });
    return [from < this.trace.span ? from : 0, to > 0 ? to : this.trace.span];
  }

  // Of each pixel the time in each state; those that make others wait do so where somebody waits for them.
  private shares(row: number, bins: number): Float64Array[] {
    const { rows, waits } = this.trace;
    const step = (this.to - this.from) / bins;
    const found = states.map(() => new Float64Array(bins));
    const [strong, wait, computes, calls] = found;
    const spread = (out: Float64Array, begin: number, end: number, part: number, most = false) => {
      const first = Math.max(0, Math.floor((begin - this.from) / step));
      for (let b = first; b < bins && this.from + b * step < end; b++) {
        const inside = Math.min(end, this.from + (b + 1) * step) - Math.max(begin, this.from + b * step);
        if (inside > 0) out[b] = most ? Math.max(out[b], (inside / step) * part) : out[b] + (inside / step) * part;
      }
    };
    const boxes = rows[row];
    for (let i = 0; i < boxes.length; i++) {
      const outer = boxes.parent[i];
      if (this.kind(row, i) !== 0 && (outer < 0 || this.kind(row, outer) === 0)) spread(calls, boxes.begin[i], boxes.end[i], 1);
    }
    const own = waits[row];
    for (let i = 0; i < own.length; i++)
      spread(wait, own.begin[i], own.end[i], own.waited[i] / Math.max(1, own.end[i] - own.begin[i]));
    if (this.culprits.has(row))
      for (const others of waits)
        for (let i = 0; i < others.length; i++)
          if (others.awaited[i] === row) spread(strong, others.begin[i], others.end[i], 1, true);
    const inCalls = this.data.info.groups?.[0]?.inCalls === true;
    for (let b = 0; b < bins; b++) {
      wait[b] = Math.min(1, wait[b]);
      calls[b] = Math.max(0, Math.min(1, calls[b]) - wait[b]);
      computes[b] = Math.max(0, 1 - wait[b] - calls[b]);
      const from = inCalls ? calls : computes;
      strong[b] = Math.min(strong[b], from[b]);
      from[b] -= strong[b];
    }
    return found;
  }

  private draw(): void {
    const width = Math.floor(this.place.clientWidth);
    if (width < 120 || width === this.width) return;
    this.width = width;
    const bins = width - labels;
    const { trace, rows } = this;
    const left = trace.rows.length - rows.length;
    const height = rows.length * (rowHeight + gap) + 18;
    const names = rows.map((row) => trace.info.rows[row].name);
    const picture = svg("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `timeline of ${names.slice(0, 3).join(", ")}${names.length > 3 ? " and more" : ""}`,
    });
    const at = (time: number) => labels + ((time - this.from) / (this.to - this.from)) * bins;
    rows.forEach((row, place) => this.drawRow(picture, row, place * (rowHeight + gap), bins, at));
    this.drawPath(picture, at);
    this.drawStep(picture, at);
    this.drawAxis(picture, rows.length * (rowHeight + gap) + 1, at, bins);
    picture.addEventListener("click", (event) => {
      const time = this.from + ((event.offsetX - labels) / bins) * (this.to - this.from);
      const about = (this.to - this.from) / 20;
      this.open(Math.max(0, time - about), time + about);
    });
    const legend = document.createElement("ul");
    legend.className = "share-legend";
    const mark = (name: string, words: string) => {
      const item = document.createElement("li");
      const square = document.createElement("i");
      square.className = name;
      item.append(square, words);
      legend.append(item);
    };
    if (this.culprits.size > 0) mark("makes-wait", "makes others wait");
    mark("waits", "waits");
    mark("computes", "computes");
    mark("mpi", trace.libraries);
    if (rows.some((row) => trace.stripes[row].begin.length > 0)) mark("share-no_processor", "no processor");
    if ((this.data.info.path?.row.length ?? 0) > 0) mark("critical", "critical path");
    const link = document.createElement("li");
    link.className = "to-timeline";
    const anchor = document.createElement("a");
    anchor.href = "#view=timeline";
    anchor.textContent = "open the timeline";
    link.append(left > 0 ? `${plural(left, "other")} not shown; ` : "", anchor);
    legend.append(link);
    this.place.replaceChildren(picture, legend);
  }

  private drawRow(picture: SVGElement, row: number, y: number, bins: number, at: (time: number) => number): void {
    const culprit = this.culprits.has(row);
    const name = shortened(this.trace.info.rows[row].name, 9);
    picture.append(svg("text", { x: 0, y: y + rowHeight / 2 + 4, class: culprit ? "b" : "" }, name));
    const shares = this.shares(row, bins);
    const most = (b: number) => {
      // A little of the cause is seen in whatever pixel it is.
      if (shares[0][b] > 0.3) return 0;
      let best = 1;
      for (let s = 0; s < states.length; s++) if (shares[s][b] > shares[best][b]) best = s;
      return best;
    };
    for (let b = 0; b < bins; ) {
      const state = most(b);
      const begin = b;
      while (b < bins && most(b) === state) b++;
      picture.append(svg("rect", { x: labels + begin, y, width: b - begin, height: rowHeight, class: states[state] }));
    }
    const { begin, end, without } = this.trace.stripes[row];
    for (let i = 0; i < begin.length; i++) {
      const part = Math.min(1, without[i] / Math.max(1, end[i] - begin[i]));
      const [x0, x1] = [Math.max(labels, at(begin[i])), Math.min(labels + bins, at(end[i]))];
      // Where it waits it needs none.
      const waits = shares[1].subarray(Math.floor(x0) - labels, Math.ceil(x1) - labels);
      const busy = 1 - waits.reduce((sum, share) => sum + share, 0) / Math.max(1, waits.length);
      if (part < 0.05 || busy < 0.5 || x1 - x0 < 0.5) continue;
      const size = { x: x0, y, width: x1 - x0 };
      picture.append(svg("rect", { ...size, height: 6 * part + 1, class: "behind" }));
      picture.append(svg("path", { d: hatch(x0, x1, y, 6 * part), class: "no-processor" }));
    }
  }

  // In a lane of its own below each row, with lines from row to row where it stays long enough.
  private drawPath(picture: SVGElement, at: (time: number) => number): void {
    const { path } = this.data.info;
    if (path === undefined) return;
    const lane = (place: number) => place * (rowHeight + gap) + rowHeight + 2.5;
    let last = -1;
    let end = labels;
    for (let i = 0; i < path.row.length; i++) {
      const place = this.rows.indexOf(path.row[i]);
      const x0 = Math.max(labels, at(path.begin[i] * 1e9));
      const x1 = Math.min(this.width, at(path.end[i] * 1e9));
      if (place < 0 || x1 <= end) continue;
      const begin = Math.max(x0, end);
      end = x1;
      const stays = x1 - x0 >= 6;
      if (stays && last >= 0 && last !== place)
        picture.append(svg("path", { d: `M${x0} ${lane(last)}V${lane(place)}`, class: "critical-line" }));
      const shown = stays || last < 0 ? place : last;
      picture.append(svg("rect", { x: begin, y: lane(shown) - 1, width: x1 - begin + 0.5, height: 2.4, class: "critical" }));
      last = shown;
    }
  }

  private drawStep(picture: SVGElement, at: (time: number) => number): void {
    const { step } = this;
    const place = step === undefined ? -1 : this.rows.indexOf(step.row);
    if (step === undefined || place < 0) return;
    const [x0, x1] = [Math.max(labels, at(step.begin * 1e9)), Math.min(this.width, at(step.end * 1e9))];
    const y = place * (rowHeight + gap);
    picture.append(svg("rect", { x: x0 - 2, y: y - 1, width: Math.max(4, x1 - x0 + 4), height: rowHeight + 2, class: "chosen-step" }));
  }

  private drawAxis(picture: SVGElement, y: number, at: (time: number) => number, bins: number): void {
    const span = (this.to - this.from) / 1e9;
    const few = bins > 600 ? 11 : 5;
    const power = 10 ** Math.floor(Math.log10(span / few));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => span / s <= few) ?? span;
    const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    for (let i = 0; i * step <= span * (1 + 1e-9); i++) {
      const x = at(this.from + i * step * 1e9);
      const last = (i + 1) * step > span;
      picture.append(svg("path", { d: `M${x} ${y - 3}v4`, class: "tick" }));
      const anchor = x > this.width - 26 ? "end" : "middle";
      picture.append(svg("text", { x, y: y + 13, "text-anchor": anchor }, (i * step).toFixed(digits) + (last ? "\u00a0s" : "")));
    }
  }
}

function hatch(x0: number, x1: number, y: number, height: number): string {
  let d = "";
  for (let x = x0; x < x1 - 1; x += 5) {
    const to = Math.min(x1, x + 3);
    const foot = (y + height).toFixed(1);
    const top = (from: number) => Math.min(x1, from + height / 2).toFixed(1);
    d += `M${x.toFixed(1)} ${foot}L${top(x)} ${y}H${top(to)}L${to.toFixed(1)} ${foot}Z`;
  }
  return d;
}
