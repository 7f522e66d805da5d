// Draws the timeline: rows of boxes, epochs, arrows, instances, and the axis of time.
// Long because all layers share one place and one theme.
import { type Draw, drawTransfer, Style, type TransferView } from "./arrows";
import type { Chain } from "./chain";
import { css, idleColour, inkOn, isDark, kindColours, regionKinds, rgb, waitingColour } from "./colour";
import { shortened } from "./format";
import { Heat } from "./heat";
import { over, packed, Raster, ticks, WaitLayer } from "./raster";
import type { Rows } from "./rows";
import { Svg } from "./svg";
import { firstAfter, type TraceData } from "./trace";
import type { FailedCalls, Instance, ReportInfo } from "./types";

export interface ViewState {
  from: number; // nanoseconds
  to: number;
  top: number; // pixels scrolled
  transfers: TransferView;
  messages: boolean;
  waits: boolean; // arrows from who ended a wait
  heat: boolean; // shares of waiting instead of calls, at any height of the rows
  epochs: boolean;
  moving: boolean; // zoomed or moved a moment ago: the heat map is drawn from what is known of the whole run
  window: number; // whose epochs and transfers are drawn; -1: of all
  path: boolean; // the critical one
  instance: Instance | undefined;
  chain: Chain | undefined;
  box: { row: number; box: number } | undefined;
}

export interface Segment {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  style: Style;
  index: number;
}

// A wait's arrow has its row and its place there as one number.
export const waitNumbers = 2 ** 28;
export const gutter = 92; // pixels for the rows' names
export const axis = 26; // and for the times
const mostArrows = 600;
const arrowsApart = 12; // pixels between the arrows of a row, in the mean: closer ones would hide the calls
const mostLanes = 6;
const highestRow = 180; // pixels
const leastRow = 7; // pixels, for calls: rows that are not as high show shares of waiting
const mostLooked = 60_000; // messages and transfers in sight: of more none is drawn
const mostWaits = 20_000; // in sight, for arrows
const stripeHeight = 3;
const access = 1; // kinds of epochs, as in expert/page/trace_content.h
const exposure = 2;

interface Theme {
  ink: string;
  line: string;
  card: string;
  accent: string;
}

const arrowColours: Record<Style, [light: string, dark: string]> = {
  [Style.Message]: ["#1d4ed8", "#3b82f6"],
  [Style.Put]: ["#c2410c", "#6ee7b7"],
  [Style.Get]: ["#a21caf", "#f0abfc"],
  [Style.Request]: ["#64748b", "#cbd5e1"],
  [Style.Link]: ["#64748b", "#cbd5e1"],
  [Style.Wait]: ["#7f1d1d", "#fde047"],
};
const bandColours: [light: string, dark: string][] = [
  ["#f7c58f", "#cc4800"],
  ["#336571", "#17fde8"],
  ["#4600ff", "#6c46ff"],
  ["#009afa", "#5dabf9"],
  ["#943200", "#ac4b5f"],
  ["#ffcf00", "#ffe100"],
];

export class TimelineCanvas {
  readonly canvas = document.createElement("canvas");
  private readonly pixels = document.createElement("canvas");
  private image = new ImageData(1, 1); // what the canvas of pixels gets
  private readonly heatPixels = document.createElement("canvas");
  private readonly raster = new Raster(regionKinds.length, mostLanes);
  private readonly waitLayer = new WaitLayer(mostLanes);
  readonly heat: Heat;
  private readonly longestMessage: number; // nanoseconds
  private readonly longestTransfer: number;
  private readonly kinds: Uint8Array;
  readonly windows: number[]; // that have bands
  private readonly lanesOfWindow: number; // two where a window is accessed and exposed at once
  segments: Segment[] = [];
  coarse = false; // the heat map, for the time that the view moves
  tooMany = false; // messages and transfers: none is drawn
  width = 0; // of the area with boxes
  height = 0;
  rowHeight = 30; // less than a pixel if all of many rows are to be seen
  private readonly longestBands: number[] = []; // by row, when it is asked for
  private fitted = true; // as high as the canvas allows

  constructor(
    private readonly trace: TraceData,
    private readonly names: string[],
    private readonly path: ReportInfo["path"],
    private readonly failed: FailedCalls[],
    readonly shown: Rows,
  ) {
    this.heat = new Heat(trace);
    const { messages, transfers } = trace;
    this.longestMessage = longest(messages.sent, messages.received);
    this.longestTransfer = longest(transfers.request, transfers.end, transfers.originSync, transfers.targetSync);
    this.kinds = Uint8Array.from(trace.info.regions.kind);
    const both =
      trace.bands.some((bands) => bands.kind.includes(exposure)) &&
      trace.bands.some((bands) => bands.kind.includes(access));
    this.lanesOfWindow = both ? 2 : 1;
    this.windows = [...new Set(trace.bands.flatMap((bands) => [...new Set(bands.window)]))].sort((a, b) => a - b);
  }

  // The windows whose epochs have bands: as many as rows are high enough for.
  windowsShown(state: ViewState): number[] {
    if (!state.epochs || this.rowHeight < 18 || this.showsHeat(state)) return [];
    if (state.window >= 0) return this.windows.filter((w) => w === state.window);
    const lanes = this.rowHeight >= 144 ? 12 : this.rowHeight >= 72 ? 8 : this.rowHeight >= 36 ? 6 : 4;
    return this.windows.slice(0, Math.floor(lanes / this.lanesOfWindow));
  }
  get contentHeight(): number {
    return this.rowHeight * this.shown.length;
  }
  // The row of the trace that is drawn there.
  rowAt(y: number, top: number): number {
    const at = Math.floor((y - axis + top) / this.rowHeight);
    return y >= axis ? (this.shown.order[at] ?? -1) : -1;
  }
  showsHeat(state: ViewState): boolean {
    return state.heat || this.rowHeight < leastRow;
  }
  timeAt(x: number, state: ViewState): number {
    return state.from + ((x - gutter) / this.width) * (state.to - state.from);
  }

  resize(width: number, height: number): void {
    const scale = devicePixelRatio || 1;
    this.width = Math.max(50, width - gutter);
    this.height = height;
    this.canvas.width = Math.max(1, Math.round(width * scale));
    this.canvas.height = Math.max(1, Math.round(height * scale));
    if (this.fitted) this.fitRows();
    else this.setRowHeight(this.rowHeight);
  }
  private get fittingHeight(): number {
    return Math.max(1e-3, (this.height - axis - 4) / Math.max(1, this.shown.length));
  }
  fitRows(): void {
    this.setRowHeight(this.fittingHeight);
    this.fitted = true;
  }
  // Unless it is what shows all rows.
  get chosenHeight(): number | undefined {
    return this.fitted ? undefined : this.rowHeight;
  }
  // No less than what shows all.
  setRowHeight(height: number): void {
    const least = Math.min(highestRow, this.fittingHeight);
    const chosen = Math.min(highestRow, Math.max(least, height));
    // Whole pixels, unless that would show no more than a part of what fits.
    this.rowHeight = chosen >= leastRow ? Math.max(leastRow, Math.floor(chosen)) : chosen;
    this.fitted = false;
  }

  // Of a row: where its boxes are, and where the bands of its epochs.
  private place(row: number, state: ViewState): { y: number; boxes: number; band: number } {
    const lanes = this.windowsShown(state).length * this.lanesOfWindow;
    const most = this.rowHeight > 100 ? 7 : 5;
    const fair = Math.floor(this.rowHeight / (lanes > 4 ? 3 : 6) / lanes);
    const band = lanes > 0 ? Math.max(2, Math.min(most, fair)) : 0;
    const at = this.shown.place(row);
    // What is not shown is out of sight.
    const y = at < 0 ? -1e6 : axis + at * this.rowHeight - state.top + (this.rowHeight < 12 ? 0 : 2);
    return { y, boxes: Math.max(1, this.rowHeight - (this.rowHeight < 12 ? 1 : 5) - band * lanes), band };
  }

  // The nearest arrow, if it is within 5 pixels.
  arrowAt(x: number, y: number): Segment | undefined {
    let best: Segment | undefined;
    let least = 5;
    for (const s of this.segments) {
      const dx = s.x1 - s.x0;
      const dy = s.y1 - s.y0;
      const part = Math.max(0, Math.min(1, ((x - s.x0) * dx + (y - s.y0) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(x - s.x0 - part * dx, y - s.y0 - part * dy);
      if (distance < least) {
        least = distance;
        best = s;
      }
    }
    return best;
  }

  // The band at a place, -1 if there is none.
  bandAt(row: number, x: number, y: number, state: ViewState): number {
    const place = this.place(row, state);
    const lane = Math.floor((y - place.y - place.boxes - 1) / place.band);
    if (place.band === 0 || lane < 0) return -1;
    const time = this.timeAt(x, state);
    const pixel = (state.to - state.from) / this.width;
    const shown = this.windowsShown(state);
    const { begin, end } = this.trace.bands[row];
    let found = -1;
    for (let i = 0; i < begin.length && begin[i] <= time + pixel; i++)
      if (end[i] >= time - pixel && this.lane(row, i, shown) === lane) found = i;
    return found;
  }
  private lane(row: number, band: number, shown: number[]): number {
    const { window, kind } = this.trace.bands[row];
    const at = shown.indexOf(window[band]);
    return at < 0 ? -1 : at * this.lanesOfWindow + (this.lanesOfWindow === 2 && kind[band] === exposure ? 1 : 0);
  }

  // What is seen as an SVG.
  svg(state: ViewState): string {
    const svg = new Svg(this.width + gutter, this.height);
    this.draw(state, svg as unknown as CanvasRenderingContext2D);
    return svg.text();
  }

  // Calls of other functions recede; undefined: none does.
  highlight(regions: Set<number> | undefined): void {
    const { kind } = this.trace.info.regions;
    this.kinds.set(kind.map((k, region) => (regions === undefined || regions.has(region) ? k : 0)));
    this.raster.forget();
  }

  draw(state: ViewState, context = this.canvas.getContext("2d")!): { boxes: number; arrows: number } {
    const scale = devicePixelRatio || 1;
    const style = getComputedStyle(this.canvas);
    const theme: Theme = {
      ink: style.getPropertyValue("color"),
      line: style.borderTopColor,
      card: style.backgroundColor,
      accent: style.outlineColor,
    };
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = theme.card;
    context.fillRect(0, 0, this.width + gutter, this.height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const first = Math.max(0, Math.floor(state.top / this.rowHeight));
    const last = Math.min(this.shown.length, Math.ceil((state.top + this.height - axis) / this.rowHeight));
    const heat = this.showsHeat(state);
    this.coarse = false;

    context.save();
    context.beginPath();
    context.rect(gutter, axis, this.width, this.height - axis);
    context.clip();
    const boxes = heat ? this.drawHeat(context, state, first, last) : this.drawRows(context, state, first, last, theme);
    if (state.path) this.drawPath(context, state, theme);
    this.drawInstance(context, state, theme);
    this.drawFailed(context, state, theme);
    const arrows = heat ? this.noArrows() : this.drawArrows(context, state, theme);
    this.drawChain(context, state, theme);
    context.restore();

    this.drawNames(context, state, first, last, theme);
    this.drawAxis(context, state, theme);
    return { boxes, arrows };
  }

  private noArrows(): number {
    this.segments = [];
    this.tooMany = false;
    return 0;
  }

  private drawHeat(context: CanvasRenderingContext2D, state: ViewState, first: number, last: number): number {
    if (last <= first) return 0;
    const rows = this.shown.order.slice(first, last);
    // Rows that are less than a pixel high share lines.
    const lines = Math.max(1, Math.min(rows.length, Math.round(rows.length * this.rowHeight)));
    const width = Math.round(this.width);
    const { from, to, moving } = state;
    const wanted = { from, to, rows, order: this.shown.order, lines, width };
    this.coarse = moving && !this.heat.fine(wanted);
    const at = this.heat.draw(wanted, this.coarse, this.heatPixels);
    const x0 = this.x(at.from, state);
    context.imageSmoothingEnabled = false;
    const y = axis + first * this.rowHeight - state.top;
    context.drawImage(this.heatPixels, x0, y, this.x(at.to, state) - x0, rows.length * this.rowHeight);
    return 0;
  }

  private drawRows(
    context: CanvasRenderingContext2D,
    state: ViewState,
    first: number,
    last: number,
    theme: Theme,
  ): number {
    const { raster, trace } = this;
    const rows = this.shown.order.slice(first, last);
    const deepest = rows.reduce((most, row) => Math.max(most, trace.rows[row].deepest), 0);
    const lanes = Math.min(mostLanes, deepest + 1);
    const width = Math.round(this.width);
    raster.begin(width, last - first, lanes);
    const colours = kindColours();
    let looked = 0;
    const labels: { x0: number; x1: number; y: number; h: number; text: string; ink: string }[] = [];
    const waiting = waitingColour();
    for (const [line, row] of rows.entries()) {
      const boxes = trace.rows[row];
      looked += raster.row(line, boxes, this.kinds, colours, state.from, state.to, 34);
      looked += this.waitLayer.row(raster.pixels, line, lanes, width, trace.waits[row], waiting, state.from, state.to);
      const place = this.place(row, state);
      const inset = this.inset(place.boxes, lanes);
      if (place.boxes < 10 || labels.length > 600) continue;
      for (const label of raster.labels) {
        const region = boxes.region[label.box];
        const calls = boxes.calls[label.box];
        const top = place.y + label.depth * inset;
        // A box that holds others has only its head for its name.
        const next = label.box + 1;
        const inner = next < boxes.length && boxes.parent[next] === label.box && inset > 0;
        const name = this.trace.info.regions.name[region] ?? "";
        const start = this.timeAt(gutter + label.from + 10, state);
        const depth = boxes.depth[label.box];
        const waits = trace.waits[row].within(start, start + 1).some((w) => trace.waits[row].depth[w] === depth);
        labels.push({
          x0: label.from,
          x1: label.to,
          y: top,
          h: inner ? Math.min(inset, place.boxes) : place.boxes - label.depth * inset,
          text: calls > 1 ? `${calls} calls, ${name}` : name,
          ink: inkOn(waits ? waiting : colours[this.kinds[region]]),
        });
      }
    }
    if (context instanceof Svg) this.rowsAsLines(context, rows, lanes, width, state);
    else this.rowsAsPixels(context, rows, lanes, width, state, theme);
    for (const row of rows) {
      const place = this.place(row, state);
      if (state.epochs) this.drawBands(context, state, row, place);
      this.drawStripes(context, state, row, place.y);
    }
    for (const label of labels) {
      if (label.h < 9) continue;
      const room = label.x1 - label.x0 - 6;
      const text = shortened(label.text, Math.floor(room / 5.4));
      if (text.length < 3) continue;
      context.fillStyle = label.ink;
      context.fillText(text, gutter + label.x0 + 3, label.y + Math.min(label.h, 16) / 2 + 0.5, room);
    }
    if (state.box !== undefined && rows.includes(state.box.row))
      this.outline(context, state, state.box.row, state.box.box, theme.ink);
    return looked;
  }

  // All rows as one picture: each lane lies on those of the callers, and is repeated as high as it is.
  private rowsAsPixels(
    context: CanvasRenderingContext2D,
    rows: number[],
    lanes: number,
    width: number,
    state: ViewState,
    theme: Theme,
  ): void {
    const height = Math.ceil(Math.min(this.height - axis, this.contentHeight - state.top));
    if (height < 1) return;
    if (this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.pixels.width = width;
      this.pixels.height = height;
    }
    const { pixels } = this.raster;
    const picture = new Uint32Array(this.image.data.buffer);
    const card = packed(rgb(theme.card));
    picture.fill(card);
    const line = new Uint32Array(width);
    for (const [at, row] of rows.entries()) {
      const place = this.place(row, state);
      const inset = this.inset(place.boxes, lanes);
      const top = Math.round(place.y - axis);
      line.fill(card);
      for (let lane = 0; lane < lanes; lane++) {
        over(line, pixels, (at * lanes + lane) * width);
        if (inset === 0 && lane < lanes - 1) continue;
        const to = lane < lanes - 1 ? top + (lane + 1) * inset : top + Math.max(1, place.boxes);
        for (let y = Math.max(0, top + lane * inset); y < Math.min(to, height); y++) picture.set(line, y * width);
      }
    }
    this.pixels.getContext("2d")!.putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.pixels, gutter, axis, width, height);
  }
  private rowsAsLines(svg: Svg, rows: number[], lanes: number, width: number, state: ViewState): void {
    const { pixels } = this.raster;
    for (const [at, row] of rows.entries()) {
      const place = this.place(row, state);
      const inset = this.inset(place.boxes, lanes);
      for (let lane = 0; lane < lanes; lane++) {
        const from = (at * lanes + lane) * width;
        const top = lane * inset;
        svg.pixelLine(pixels.subarray(from, from + width), gutter, place.y + top, Math.max(1, place.boxes - top));
      }
    }
  }

  private inset(height: number, lanes: number): number {
    if (height < 20 || lanes < 2) return 0;
    // The heads of outer calls take at most half of the row.
    return Math.min(height > 100 ? 18 : 13, Math.floor(height / 2 / (lanes - 1)));
  }

  private outline(context: CanvasRenderingContext2D, state: ViewState, row: number, box: number, colour: string): void {
    const boxes = this.trace.rows[row];
    const place = this.place(row, state);
    const x0 = this.x(boxes.begin[box], state);
    const x1 = this.x(boxes.end[box], state);
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(x0, place.y, Math.max(2, x1 - x0), place.boxes);
  }

  private x(time: number, state: ViewState): number {
    return gutter + ((time - state.from) / (state.to - state.from)) * this.width;
  }

  private drawBands(
    context: CanvasRenderingContext2D,
    state: ViewState,
    row: number,
    place: { y: number; boxes: number; band: number },
  ): void {
    if (place.band === 0) return;
    const bands = this.trace.bands[row];
    const longestBand = (this.longestBands[row] ??= longest(bands.begin, bands.end));
    const pixel = (state.to - state.from) / this.width;
    const dark = isDark() ? 1 : 0;
    const shown = this.windowsShown(state);
    const lanes = shown.length * this.lanesOfWindow;
    // Of each lane the band that is not drawn yet: those that follow it and touch it are one with it.
    const from = new Float64Array(lanes);
    const to = new Float64Array(lanes).fill(-1);
    const kinds = new Uint8Array(lanes);
    const flush = (lane: number) => {
      if (to[lane] < 0) return;
      const width = to[lane] - from[lane];
      context.fillStyle = (bandColours[kinds[lane]] ?? bandColours[0])[dark];
      const y = place.y + place.boxes + 1 + lane * place.band;
      context.fillRect(from[lane], y, Math.max(1, width - (width > 4 ? 1 : 0)), Math.max(1, place.band - 1));
    };
    let i = firstAfter(bands.begin, state.from - longestBand);
    const end = firstAfter(bands.begin, state.to);
    // Of very many no more than some for each pixel.
    const skip = Math.max(1, Math.floor((end - i) / this.width / 8));
    for (; i < end; i += bands.end[i] - bands.begin[i] < pixel ? skip : 1) {
      if (bands.end[i] <= state.from) continue;
      const lane = this.lane(row, i, shown);
      if (lane < 0) continue;
      const x0 = Math.max(gutter - 2, this.x(bands.begin[i], state));
      const x1 = Math.min(gutter + this.width + 2, this.x(bands.end[i], state));
      if (x1 < to[lane] + 0.7) continue;
      const touches = x0 < to[lane] + 1 && x1 - x0 < 3 && bands.kind[i] === kinds[lane];
      if (!touches) {
        flush(lane);
        from[lane] = x0;
        kinds[lane] = bands.kind[i];
      }
      to[lane] = x1;
    }
    for (let lane = 0; lane < lanes; lane++) flush(lane);
  }

  // Along the top of a row: when its thread wanted a processor and had none; the stronger the more of that time.
  private drawStripes(context: CanvasRenderingContext2D, state: ViewState, row: number, y: number): void {
    const { begin, end, without } = this.trace.stripes[row];
    if (begin.length === 0) return;
    context.fillStyle = css(idleColour());
    const pixel = (state.to - state.from) / this.width;
    let i = Math.max(0, firstAfter(begin, state.from) - 1);
    while (i < begin.length && begin[i] < state.to) {
      // Readings that are within a pixel together.
      const from = begin[i];
      let [to, time, missed] = [from, 0, 0];
      for (; i < begin.length && (time === 0 || end[i] - from < pixel); i++) {
        to = end[i];
        time += Math.max(1, end[i] - begin[i]);
        missed += without[i];
      }
      const share = missed / time;
      if (to < state.from || share < 0.01) continue;
      const x0 = Math.max(gutter, this.x(from, state));
      const x1 = Math.min(gutter + this.width, this.x(to, state));
      context.globalAlpha = 0.2 + 0.8 * Math.min(1, share);
      context.fillRect(x0, y - 1, Math.max(1, x1 - x0), stripeHeight);
    }
    context.globalAlpha = 1;
  }

  private drawInstance(context: CanvasRenderingContext2D, state: ViewState, theme: Theme): void {
    const { instance } = state;
    if (instance === undefined) return;
    const x0 = this.x(instance.begin * 1e9, state);
    const x1 = Math.max(x0 + 2, this.x(instance.end * 1e9, state));
    context.globalAlpha = 0.13;
    context.fillStyle = theme.accent;
    context.fillRect(x0, axis, x1 - x0, Math.min(this.height - axis, this.contentHeight - state.top));
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 2.5;
    const frame = (row: number) => {
      const place = this.place(row, state);
      context.strokeRect(x0 - 1, place.y - 1, x1 - x0 + 2, place.boxes + 2);
    };
    instance.rows.forEach(frame);
    if (instance.cause === undefined) return;
    // Whom they waited for.
    context.setLineDash([6, 4]);
    frame(instance.cause);
    context.setLineDash([]);
  }

  // A cross where a call failed, the first of its place.
  private drawFailed(context: CanvasRenderingContext2D, state: ViewState, theme: Theme): void {
    const arm = 4;
    context.beginPath();
    for (const { rows, times } of this.failed) {
      for (let i = 0; i < rows.length; i++) {
        const time = times[i] * 1e9;
        if (time < state.from || time > state.to) continue;
        const place = this.place(rows[i], state);
        const x = this.x(time, state);
        const y = place.y + place.boxes / 2;
        context.moveTo(x - arm, y - arm);
        context.lineTo(x + arm, y + arm);
        context.moveTo(x - arm, y + arm);
        context.lineTo(x + arm, y - arm);
      }
    }
    context.strokeStyle = theme.card; // a rim, for boxes of any colour
    context.lineWidth = 5;
    context.stroke();
    context.strokeStyle = failedColour();
    context.lineWidth = 2.5;
    context.stroke();
  }

  // Along the rows, and from row to row where it changes.
  private drawPath(context: CanvasRenderingContext2D, state: ViewState, theme: Theme): void {
    if (this.path === undefined) return;
    const { row, begin, end } = this.path;
    const y = (r: number) => {
      const place = this.place(r, state);
      return place.y + place.boxes / 2;
    };
    context.beginPath();
    let drawn = false;
    for (let i = 0; i < row.length; i++) {
      if (end[i] * 1e9 < state.from || begin[i] * 1e9 > state.to || this.shown.place(row[i]) < 0) {
        drawn = false;
        continue;
      }
      const x = Math.max(gutter - 4, this.x(begin[i] * 1e9, state));
      if (drawn) context.lineTo(x, y(row[i]));
      else context.moveTo(x, y(row[i]));
      context.lineTo(Math.min(gutter + this.width + 4, this.x(end[i] * 1e9, state)), y(row[i]));
      drawn = true;
    }
    context.lineJoin = "round";
    context.globalAlpha = 0.85;
    context.strokeStyle = theme.card; // a rim, for boxes of any colour
    context.lineWidth = 6;
    context.stroke();
    context.globalAlpha = 1;
    context.strokeStyle = pathColour();
    context.lineWidth = 3;
    context.stroke();
  }

  // The step that is looked at in a frame, the others thinner; dashed from who waits to who is awaited.
  private drawChain(context: CanvasRenderingContext2D, state: ViewState, theme: Theme): void {
    const { chain } = state;
    if (chain === undefined) return;
    context.strokeStyle = theme.accent;
    context.fillStyle = theme.accent;
    chain.steps.forEach((step, i) => {
      const place = this.place(step.row, state);
      const x0 = this.x(step.begin * 1e9, state);
      const x1 = Math.max(x0 + 2, this.x(step.end * 1e9, state));
      if (x1 < gutter || x0 > gutter + this.width) return;
      context.lineWidth = i === chain.at ? 3 : 1.5;
      context.strokeRect(x0, place.y - 1, x1 - x0, place.boxes + 2);
      const next = chain.steps[i + 1];
      if (next === undefined) return;
      const other = this.place(next.row, state);
      const down = other.y > place.y;
      const from = down ? place.y + place.boxes : place.y;
      const to = down ? other.y : other.y + other.boxes;
      context.setLineDash([5, 3]);
      context.beginPath();
      context.moveTo(x1, from);
      context.lineTo(x1, to);
      context.stroke();
      context.setLineDash([]);
      arrowHead(context, { x0: x1, y0: from, x1, y1: to });
    });
  }

  // Whether an arrow can be seen; then it is one of `into`.
  private collector(state: ViewState, into: Segment[]): Draw {
    const centres = new Map<number, number>();
    const centre = (row: number) => {
      let y = centres.get(row);
      if (y === undefined) {
        const place = this.place(row, state);
        centres.set(row, (y = place.y + place.boxes / 2));
      }
      return y;
    };
    return (fromRow, from, toRow, to, style, index) => {
      if (Math.max(from, to) < state.from || Math.min(from, to) > state.to) return;
      if (this.shown.place(fromRow) < 0 || this.shown.place(toRow) < 0) return;
      const x0 = this.x(from, state);
      const x1 = this.x(to, state);
      const y0 = centre(fromRow);
      const y1 = centre(toRow);
      if (Math.max(y0, y1) < axis || Math.min(y0, y1) > this.height) return;
      into.push({ x0, y0, x1, y1, style, index });
    };
  }
  // All messages and transfers in sight, unless they are too many to see anything below them.
  private collectArrows(state: ViewState): Segment[] | undefined {
    const { trace } = this;
    const segments: Segment[] = [];
    const add = this.collector(state, segments);
    const rows = Math.min(this.shown.length, this.height / this.rowHeight);
    const most = Math.min(mostArrows, Math.max(40, (rows * this.width) / arrowsApart));
    if (state.messages) {
      const { from, to, sent, received } = trace.messages;
      const first = firstAfter(sent, state.from - this.longestMessage);
      const end = firstAfter(sent, state.to);
      if (end - first > mostLooked) return undefined;
      for (let i = first; i < end && segments.length <= most; i++)
        if (received[i] >= state.from) add(from[i], sent[i], to[i], received[i], Style.Message, i);
    }
    if (state.transfers !== "off") {
      const { request, window } = trace.transfers;
      const first = firstAfter(request, state.from - this.longestTransfer);
      const end = firstAfter(request, state.to);
      if (end - first > mostLooked) return undefined;
      for (let i = first; i < end && segments.length <= most; i++)
        if (state.window < 0 || window[i] === state.window) drawTransfer(trace.transfers, i, state.transfers, add);
    }
    return segments.length > most ? undefined : segments;
  }

  // From who ended a wait to who waited, where the wait is wide enough to be seen.
  private collectWaits(state: ViewState, add: Draw): void {
    const pixel = (state.to - state.from) / this.width;
    const rows = this.shown.order;
    let seen = 0;
    for (const row of rows) {
      const { begin } = this.trace.waits[row];
      seen += firstAfter(begin, state.to) - firstAfter(begin, state.from);
      if (seen > mostWaits) return;
    }
    for (const row of rows) {
      const waits = this.trace.waits[row];
      for (let i = waits.from(state.from); i < waits.length && waits.begin[i] < state.to; i++)
        if (waits.awaited[i] >= 0 && waits.end[i] - waits.begin[i] >= 6 * pixel)
          add(waits.awaited[i], waits.ended[i], row, waits.end[i], Style.Wait, row * waitNumbers + i);
    }
  }

  private drawArrows(context: CanvasRenderingContext2D, state: ViewState, theme: Theme): number {
    const found = this.collectArrows(state);
    this.tooMany = found === undefined;
    this.segments = found ?? [];
    // Few pixels between them: they fade before they are left out.
    const faint = Math.min(300, ((this.height / this.rowHeight) * this.width) / (3 * arrowsApart));
    if (state.waits) this.collectWaits(state, this.collector(state, this.segments));
    if (state.transfers === "dependencies") this.drawFences(context, state);
    const dark = isDark() ? 1 : 0;
    for (const style of [Style.Link, Style.Request, Style.Message, Style.Put, Style.Get, Style.Wait]) {
      const group = this.segments.filter((s) => s.style === style);
      if (group.length === 0) continue;
      const colour = arrowColours[style][dark];
      context.fillStyle = colour;
      context.globalAlpha = style === Style.Wait ? 0.9 : Math.max(0.25, Math.min(0.9, faint / group.length));
      const dashed = style === Style.Request || style === Style.Link;
      context.setLineDash(dashed ? [4, 3] : style === Style.Wait ? [1, 3] : []);
      // A rim keeps few lines visible on boxes of any colour. One line after the other: a path of all takes ten times
      // as long.
      const rim = group.length < faint;
      for (const s of group) {
        context.beginPath();
        context.moveTo(s.x0, s.y0);
        context.lineTo(s.x1, s.y1);
        if (rim) {
          context.strokeStyle = theme.card;
          context.lineWidth = 2.8;
          context.stroke();
        }
        context.strokeStyle = colour;
        context.lineWidth = 1.3;
        context.stroke();
      }
      context.setLineDash([]);
      if (rim && style !== Style.Link) for (const s of group) arrowHead(context, s);
    }
    context.globalAlpha = 1;
    return this.segments.length;
  }

  // Fences as collectives: a line through the exits of all members, a dotted one through the enters.
  private drawFences(context: CanvasRenderingContext2D, state: ViewState): void {
    const centre = (row: number) => {
      const place = this.place(row, state);
      return place.y + place.boxes / 2;
    };
    context.strokeStyle = (bandColours[0] as [string, string])[isDark() ? 1 : 0];
    context.lineWidth = 2;
    for (const fence of this.trace.fences) {
      if (state.window >= 0 && fence.window !== state.window) continue;
      const order = [...fence.rows.keys()]
        .filter((i) => this.shown.place(fence.rows[i]) >= 0)
        .sort((a, b) => this.shown.place(fence.rows[a]) - this.shown.place(fence.rows[b]));
      if (
        order.length === 0 ||
        order.every((i) => fence.exits[i] < state.from) ||
        order.every((i) => fence.enters[i] > state.to)
      )
        continue;
      for (const [times, dash] of [
        [fence.enters, [2, 4]],
        [fence.exits, []],
      ] as [Float64Array, number[]][]) {
        context.setLineDash(dash);
        context.beginPath();
        order.forEach((i, n) => {
          const x = this.x(times[i], state);
          const y = centre(fence.rows[i]);
          if (n === 0) context.moveTo(x, y);
          else context.lineTo(x, y);
        });
        context.stroke();
      }
    }
    context.setLineDash([]);
  }

  private drawNames(
    context: CanvasRenderingContext2D,
    state: ViewState,
    first: number,
    last: number,
    theme: Theme,
  ): void {
    context.save();
    context.beginPath();
    context.rect(0, axis, this.width + gutter, this.height - axis);
    context.clip();
    const step = Math.max(1, Math.ceil(13 / this.rowHeight));
    for (let at = first; at < last; at++) {
      const group = this.shown.groupOf[at];
      if (group === "" && at % step !== 0) continue;
      const y = axis + at * this.rowHeight - state.top;
      context.fillStyle = theme.accent;
      if (group !== "") context.fillRect(0, Math.round(y) - 1, this.width + gutter, 2);
      context.fillStyle = theme.ink;
      if (at % step !== 0) continue;
      const middle = y + Math.max(this.rowHeight, 13) / 2;
      const name = group !== "" ? `${group}: ${this.names[this.shown.order[at]]}` : this.names[this.shown.order[at]];
      context.fillText(shortened(name, 24), 8, middle, gutter - 12);
    }
    context.fillStyle = theme.line;
    for (let row = first; row <= last && this.rowHeight >= 14; row++)
      context.fillRect(0, Math.round(axis + row * this.rowHeight - state.top) - 1, this.width + gutter, 1);
    context.restore();
  }

  private drawAxis(context: CanvasRenderingContext2D, state: ViewState, theme: Theme): void {
    const { step, at } = ticks(state.from, state.to, Math.max(2, this.width / 130));
    const [unit, name] =
      state.to >= 1e9 ? [1e9, "s"] : state.to >= 1e6 ? [1e6, "ms"] : state.to >= 1e3 ? [1e3, "\u00b5s"] : [1, "ns"];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
    context.fillStyle = theme.card;
    context.fillRect(0, 0, this.width + gutter, axis - 1);
    context.fillStyle = theme.line;
    context.fillRect(0, axis - 1, this.width + gutter, 1);
    for (const time of at) {
      const x = Math.round(this.x(time, state));
      if (x < gutter) continue;
      context.fillStyle = theme.line;
      context.fillRect(x, axis - 7, 1, 6);
      context.fillStyle = theme.ink;
      const text = `${(time / unit).toFixed(digits)} ${name}`;
      if (x + context.measureText(text).width < gutter + this.width) context.fillText(text, x + 4, axis / 2);
    }
  }
}

function longest(begin: Float64Array, ...ends: Float64Array[]): number {
  let most = 0;
  for (const end of ends) for (let i = 0; i < begin.length; i++) if (end[i] - begin[i] > most) most = end[i] - begin[i];
  return most;
}

function arrowHead(context: CanvasRenderingContext2D, s: Pick<Segment, "x0" | "y0" | "x1" | "y1">): void {
  const angle = Math.atan2(s.y1 - s.y0, s.x1 - s.x0);
  if (Math.hypot(s.x1 - s.x0, s.y1 - s.y0) < 8) return;
  context.beginPath();
  context.moveTo(s.x1, s.y1);
  context.lineTo(s.x1 - 7 * Math.cos(angle - 0.4), s.y1 - 7 * Math.sin(angle - 0.4));
  context.lineTo(s.x1 - 7 * Math.cos(angle + 0.4), s.y1 - 7 * Math.sin(angle + 0.4));
  context.fill();
}

export function failedColour(): string {
  return isDark() ? "#f87171" : "#b91c1c";
}
export function pathColour(): string {
  return isDark() ? "#b4f0ff" : "#0b2a66";
}
export function bandColour(kind: number): string {
  return (bandColours[kind] ?? bandColours[0])[isDark() ? 1 : 0];
}
export function waitColour(): string {
  return css(waitingColour());
}
export function stripeColour(): string {
  return css(idleColour());
}
export function arrowColour(style: Style): string {
  return arrowColours[style][isDark() ? 1 : 0];
}
export function kindColour(kind: number): string {
  return css(kindColours()[kind]);
}
