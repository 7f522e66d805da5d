// Boxes as pixels. One row of the timeline becomes a few lanes, one for each depth of calls, each a
// line of pixels; what is narrower than a pixel is added up, so that a million boxes need no
// million rectangles.
import { Blocks, smallestBlock } from "./blocks";
import type { Rgb } from "./colour";
import type { Boxes, Waits } from "./trace";

export interface Label {
  from: number; // pixels
  to: number;
  depth: number;
  box: number;
}

export function packed([r, g, b]: Rgb, alpha = 255): number {
  return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

// Lays pixels over an opaque line.
export function over(line: Uint32Array, pixels: Uint32Array, from: number): void {
  for (let x = 0; x < line.length; x++) {
    const pixel = pixels[from + x];
    const alpha = pixel >>> 24;
    if (alpha === 0) continue;
    if (alpha === 255) {
      line[x] = pixel;
      continue;
    }
    const under = line[x];
    const part = alpha / 255;
    const mix = (shift: number) =>
      Math.round(((under >>> shift) & 255) * (1 - part) + ((pixel >>> shift) & 255) * part) << shift;
    line[x] = (0xff000000 | mix(16) | mix(8) | mix(0)) >>> 0;
  }
}

export class Raster {
  // Pixels of the lanes, one after the other: lane d of row r is line r * lanes + d.
  pixels = new Uint32Array(0);
  private width = 0;
  private lanes = 0;
  private readonly column: Int32Array;
  private readonly covered: Float64Array; // of each lane and kind, in the lane's current column
  readonly labels: Label[] = [];
  private readonly blocks = new Map<Boxes, Blocks>();
  private used: number[] = []; // kinds that some region has

  constructor(
    private readonly kinds: number,
    private readonly mostLanes: number,
  ) {
    this.column = new Int32Array(mostLanes);
    this.covered = new Float64Array(mostLanes * kinds);
  }

  // Of kinds that are no longer true.
  forget(): void {
    this.blocks.clear();
    this.used = [];
  }

  begin(width: number, rows: number, lanes: number): void {
    this.width = width;
    this.lanes = Math.min(lanes, this.mostLanes);
    const size = width * rows * this.lanes;
    if (this.pixels.length !== size) this.pixels = new Uint32Array(size);
    else this.pixels.fill(0);
  }

  // Draws what a row has between two times. Labels of boxes that are wide enough for one are
  // collected in `labels`. Returns how many boxes were looked at.
  row(
    row: number,
    boxes: Boxes,
    kindOf: Uint8Array,
    colours: Rgb[],
    from: number,
    to: number,
    labelWidth: number,
  ): number {
    const { width, lanes, kinds, column, covered, pixels } = this;
    this.labels.length = 0;
    const scale = width / (to - from);
    const first = row * lanes * width;
    column.fill(-1);
    covered.fill(0);
    if (this.used.length === 0) this.used = [...new Set(kindOf)];
    const { used } = this;
    const fills = colours.map((c) => packed(c));
    const edges = colours.map((c) => packed(c.map((v) => Math.round(v * 0.72)) as Rgb));

    const flush = (lane: number) => {
      const x = column[lane];
      if (x >= 0 && x < width) {
        let best = 0;
        let most = 0;
        let sum = 0;
        for (let u = 0; u < used.length; u++) {
          const k = used[u];
          const part = covered[lane * kinds + k];
          sum += part;
          if (part > most) {
            most = part;
            best = k;
          }
          covered[lane * kinds + k] = 0;
        }
        // What is hardly there must still be seen.
        const alpha = Math.round(255 * Math.min(1, Math.max(0.4, sum)));
        const at = first + lane * width + x;
        if (pixels[at] >>> 24 < 255) pixels[at] = ((fills[best] & 0xffffff) | (alpha << 24)) >>> 0;
        else if (sum > 0.5) pixels[at] = fills[best];
      }
      column[lane] = -1;
    };

    const draw = (i: number) => {
      const left = (boxes.begin[i] - from) * scale;
      const right = (boxes.end[i] - from) * scale;
      const lane = Math.min(boxes.depth[i], lanes - 1);
      const kind = kindOf[boxes.region[i]];
      if (right - left < 1) {
        const x = Math.floor(left);
        if (x !== column[lane]) {
          flush(lane);
          column[lane] = x;
        }
        covered[lane * kinds + kind] += Math.max(right - left, 1e-6);
        return;
      }
      flush(lane);
      const x0 = Math.max(0, Math.round(left));
      const x1 = Math.min(width, Math.max(Math.round(right), Math.round(left) + 1));
      const line = first + lane * width;
      pixels.fill(fills[kind], line + x0, line + x1);
      if (right - left > 3 && x1 > x0 && right <= width) pixels[line + x1 - 1] = edges[kind];
      if (x1 - x0 >= labelWidth) this.labels.push({ from: x0, to: x1, depth: lane, box: i });
    };

    let i = boxes.after(from);
    // What began before the left edge and is still open, outermost first.
    const open: number[] = [];
    for (let o = i - 1; o >= 0; o = boxes.parent[o]) if (boxes.end[o] > from) open.unshift(o);
    for (const o of open) draw(o);
    const begun = i;
    let blocks = this.blocks.get(boxes);
    if (blocks === undefined) {
      const { begin, end, region } = boxes;
      const lanes = Math.min(this.mostLanes, boxes.deepest + 1);
      blocks = new Blocks(boxes, lanes, (b) => end[b] - begin[b], (b) => kindOf[region[b]], kinds);
      this.blocks.set(boxes, blocks);
    }
    let x = 0;
    const cover = (depth: number, kind: number, time: number) => {
      const lane = Math.min(depth, lanes - 1);
      if (x !== column[lane]) {
        flush(lane);
        column[lane] = x;
      }
      covered[lane * kinds + kind] += Math.max(time * scale, 1e-6);
    };
    const pixel = 1 / scale;
    const { begin, end, depth, region, length } = boxes;
    while (i < length && begin[i] < to) {
      const left = (begin[i] - from) * scale;
      if (i % smallestBlock === 0) {
        x = Math.floor(left);
        const taken = blocks.take(i, pixel, cover);
        i += taken;
        if (taken > 0) continue;
      }
      const long = (end[i] - begin[i]) * scale;
      if (long >= 1) {
        draw(i++);
        continue;
      }
      // As in draw(), in the loop that all short calls go through.
      const lane = depth[i] < lanes ? depth[i] : lanes - 1;
      const column_ = Math.floor(left);
      if (column_ !== column[lane]) {
        flush(lane);
        column[lane] = column_;
      }
      covered[lane * kinds + kindOf[region[i++]]] += long > 1e-6 ? long : 1e-6;
    }
    for (let lane = 0; lane < lanes; lane++) flush(lane);
    return i - begun + open.length;
  }
}

// How strong a part of a pixel that waits is drawn, in 255ths of it: what is hardly there must still be seen.
const strength = Float64Array.from({ length: 256 }, (_, part) => Math.max(0.22, Math.pow(part / 255, 0.7)));

// Waiting on top of a row's calls. What is narrower than a pixel is added up: the pixel shows which part of it is
// waiting.
export class WaitLayer {
  private readonly column: Int32Array;
  private readonly covered: Float64Array;
  private readonly blocks = new Map<Waits, Blocks>();
  constructor(private readonly mostLanes: number) {
    this.column = new Int32Array(mostLanes);
    this.covered = new Float64Array(mostLanes);
  }

  // Into the pixels of a row with that many lanes; returns how many waits were looked at.
  row(
    pixels: Uint32Array,
    row: number,
    lanes: number,
    width: number,
    waits: Waits,
    colour: Rgb,
    from: number,
    to: number,
  ): number {
    const { column, covered } = this;
    const most = Math.min(lanes, this.mostLanes) - 1;
    const scale = width / (to - from);
    const first = row * lanes * width;
    const fill = packed(colour);
    const [red, green, blue] = colour;
    column.fill(-1);
    const flush = (lane: number) => {
      const x = column[lane];
      column[lane] = -1;
      if (x < 0 || x >= width) return;
      const part = strength[Math.min(255, Math.round(covered[lane] * 255))];
      const at = first + lane * width + x;
      const under = pixels[at];
      const alpha = under >>> 24;
      const keep = alpha === 0 ? 0 : 1 - part;
      const add = alpha === 0 ? 1 : part;
      const r = Math.round((under & 255) * keep + red * add);
      const g = Math.round(((under >>> 8) & 255) * keep + green * add);
      const b = Math.round(((under >>> 16) & 255) * keep + blue * add);
      pixels[at] = ((Math.max(alpha, Math.round(255 * part)) << 24) | (b << 16) | (g << 8) | r) >>> 0;
    };
    const { begin, end, waited, depth } = waits;
    let i = waits.from(from);
    const begun = i;
    let blocks = this.blocks.get(waits);
    if (blocks === undefined) {
      const deepest = depth.reduce((most_, d) => Math.max(most_, d), 0);
      blocks = new Blocks(waits, Math.min(this.mostLanes, deepest + 1), (w) => waited[w]);
      this.blocks.set(waits, blocks);
    }
    let at = 0;
    const cover = (depthOf: number, _: number, time: number) => {
      const lane = Math.min(depthOf, most);
      if (at !== column[lane]) {
        flush(lane);
        column[lane] = at;
        covered[lane] = 0;
      }
      covered[lane] += time * scale;
    };
    const pixel = 1 / scale;
    for (; i < begin.length && begin[i] < to; i++) {
      const left = (begin[i] - from) * scale;
      if (i % smallestBlock === 0) {
        at = Math.floor(left);
        const taken = blocks.take(i, pixel, cover);
        if (taken > 0) {
          i += taken - 1;
          continue;
        }
      }
      const right = (end[i] - from) * scale;
      const lane = Math.min(depth[i], most);
      if (right - left < 1) {
        const x = Math.floor(left);
        if (x !== column[lane]) {
          flush(lane);
          column[lane] = x;
          covered[lane] = 0;
        }
        covered[lane] += waited[i] * scale;
        continue;
      }
      flush(lane);
      const x0 = Math.max(0, Math.round(left));
      const x1 = Math.min(width, Math.max(Math.round(right), x0 + 1));
      const line = first + lane * width;
      // Merged from many: the part that is waiting.
      if (waits.waits[i] === 1) pixels.fill(fill, line + x0, line + x1);
      else
        for (let x = x0; x < x1; x++) {
          column[lane] = x;
          covered[lane] = waited[i] / Math.max(1, end[i] - begin[i]);
          flush(lane);
        }
    }
    for (let lane = 0; lane <= most; lane++) flush(lane);
    return i - begun;
  }
}

// Where nice numbers of time lie between two times: 1, 2 or 5 times a power of ten apart.
export function ticks(from: number, to: number, most: number): { step: number; at: number[] } {
  const rough = (to - from) / Math.max(1, most);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
  const at: number[] = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) at.push(k * step);
  return { step, at };
}
