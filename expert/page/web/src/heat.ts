// Many processes at once: which share of the time each of them waits, as a heat map of processes and time.
//
// The whole run is drawn from the shares that the page brings (TraceData.density); where one looks closer than their
// steps, from the calls and waits themselves, as soon as the view rests. Rows that share a line of pixels are averaged.
import { kindColours, mixed, type Rgb, waitingColour } from "./colour";
import { packed } from "./raster";
import type { TraceData } from "./trace";

export interface HeatPlace {
  from: number; // nanoseconds
  to: number;
  rows: number[]; // of the trace, those in sight from top to bottom
  order: number[]; // all rows that are shown; another one after each choice
  lines: number; // of the picture
  width: number;
}

const steps = 64; // of colours, for each share

export class Heat {
  // Means of the lines over the whole run, as long as the same rows are in sight.
  private lines: { place: HeatPlace; waiting: Float32Array; mpi: Float32Array } | undefined;
  private waiting = new Float32Array(0);
  private mpi = new Float32Array(0);
  private outer: Uint8Array[] = []; // of each row, which of its boxes are calls into MPI and not within one

  constructor(private readonly trace: TraceData) {}

  // Whether the steps of the density are fine enough for what is seen.
  fine(place: HeatPlace): boolean {
    const { columns } = this.trace.density;
    return ((place.to - place.from) / this.trace.span) * columns >= place.width / 6;
  }

  // Shares of each cell: lines x columns, in the density's steps or of each pixel.
  private shares(place: HeatPlace, fine: boolean): { columns: number; waiting: Float32Array; mpi: Float32Array } {
    const { columns: all } = this.trace.density;
    const { span } = this.trace;
    const first = Math.max(0, Math.floor((place.from / span) * all));
    const last = Math.min(all, Math.ceil((place.to / span) * all));
    const columns = fine ? last - first : place.width;
    const size = place.lines * columns;
    if (this.waiting.length !== size) {
      this.waiting = new Float32Array(size);
      this.mpi = new Float32Array(size);
    } else {
      this.waiting.fill(0);
      this.mpi.fill(0);
    }
    if (fine) {
      const means = this.means(place);
      for (let line = 0; line < place.lines; line++) {
        const from = line * all + first;
        this.waiting.set(means.waiting.subarray(from, from + columns), line * columns);
        this.mpi.set(means.mpi.subarray(from, from + columns), line * columns);
      }
    } else this.eachRow(place, (row, line, weight) => this.exact(place, row, line * columns, columns, weight));
    return { columns, waiting: this.waiting, mpi: this.mpi };
  }

  private eachRow(place: HeatPlace, each: (row: number, line: number, weight: number) => void): void {
    const perLine = place.rows.length / place.lines;
    const lineOf = (at: number) => Math.min(place.lines - 1, Math.floor(at / perLine));
    const rowsOf = new Float32Array(place.lines);
    place.rows.forEach((_, at) => rowsOf[lineOf(at)]++);
    place.rows.forEach((row, at) => each(row, lineOf(at), 1 / rowsOf[lineOf(at)]));
  }

  private means(place: HeatPlace): { waiting: Float32Array; mpi: Float32Array } {
    const before = this.lines?.place;
    if (
      this.lines !== undefined &&
      before?.order === place.order &&
      before.lines === place.lines &&
      before.rows.length === place.rows.length &&
      before.rows[0] === place.rows[0]
    )
      return this.lines;
    const { columns: all, waiting, mpi } = this.trace.density;
    const size = place.lines * all;
    const waited = new Float32Array(size);
    const called = new Float32Array(size);
    this.eachRow(place, (row, line, weight) => {
      const part = weight / 255;
      for (let at = line * all, i = row * all; i < (row + 1) * all; at++, i++) {
        waited[at] += waiting[i] * part;
        called[at] += mpi[i] * part;
      }
    });
    this.lines = { place, waiting: waited, mpi: called };
    return this.lines;
  }

  // From the calls and waits of a row.
  private exact(place: HeatPlace, row: number, line: number, columns: number, weight: number): void {
    const scale = columns / (place.to - place.from);
    const spread = (into: Float32Array, begin: number, end: number, value: number) => {
      const x0 = Math.max(0, (begin - place.from) * scale);
      const x1 = Math.min(columns, (end - place.from) * scale);
      for (let x = Math.floor(x0); x < x1; x++)
        into[line + x] += (Math.min(x + 1, x1) - Math.max(x, x0)) * value;
    };
    const boxes = this.trace.rows[row];
    const outer = (this.outer[row] ??= this.callsOf(row));
    const begun = boxes.after(place.from);
    for (let o = begun - 1; o >= 0; o = boxes.parent[o])
      if (outer[o] === 1 && boxes.end[o] > place.from) spread(this.mpi, boxes.begin[o], boxes.end[o], weight);
    for (let i = begun; i < boxes.length && boxes.begin[i] < place.to; i++)
      if (outer[i] === 1) spread(this.mpi, boxes.begin[i], boxes.end[i], weight);
    const waits = this.trace.waits[row];
    for (let i = waits.from(place.from); i < waits.length && waits.begin[i] < place.to; i++) {
      const length = Math.max(1, waits.end[i] - waits.begin[i]);
      spread(this.waiting, waits.begin[i], waits.end[i], (weight * waits.waited[i]) / length);
    }
  }
  private callsOf(row: number): Uint8Array {
    const boxes = this.trace.rows[row];
    const { kind } = this.trace.info.regions;
    const inMpi = (i: number) => kind[boxes.region[i]] !== 0 && kind[boxes.region[i]] !== 12;
    const calls = new Uint8Array(boxes.length);
    // 2: within such a call.
    for (let i = 0; i < boxes.length; i++) {
      const parent = boxes.parent[i];
      calls[i] = parent >= 0 && calls[parent] !== 0 ? 2 : inMpi(i) ? 1 : 0;
    }
    return calls;
  }

  // The picture: `lines` high; returns the times that it shows. Coarse: in the steps of the density.
  draw(place: HeatPlace, coarse: boolean, canvas: HTMLCanvasElement): { from: number; to: number } {
    const fine = coarse || this.fine(place);
    const { columns, waiting, mpi } = this.shares(place, fine);
    const colours = colourTable();
    if (canvas.width !== Math.max(1, columns)) canvas.width = Math.max(1, columns);
    if (canvas.height !== Math.max(1, place.lines)) canvas.height = Math.max(1, place.lines);
    const image = new ImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < columns * place.lines; i++) {
      const waited = Math.min(1, waiting[i]);
      const called = Math.min(1, Math.max(mpi[i], waited));
      const step = waited > 0 ? Math.max(1, Math.round(waited * (steps - 1))) : 0;
      pixels[i] = colours[Math.round((called - waited) * (steps - 1)) * steps + step];
    }
    canvas.getContext("2d")!.putImageData(image, 0, 0);
    if (!fine) return { from: place.from, to: place.to };
    const { columns: all } = this.trace.density;
    const step = this.trace.span / all;
    const first = Math.max(0, Math.floor((place.from / this.trace.span) * all));
    return { from: first * step, to: (first + columns) * step };
  }
}

// The colour of a share of waiting, where the rest is computing or, as far as `called` says, in MPI. Little waiting
// shows.
export function heatColour(waited: number, called: number, theme = heatTheme()): Rgb {
  return mixed(mixed(theme.program, theme.calls, called * 0.75), theme.waiting, Math.pow(waited, 0.75));
}
function heatTheme(): { program: Rgb; calls: Rgb; waiting: Rgb } {
  const [program, calls] = kindColours();
  return { program, calls, waiting: waitingColour() };
}
function colourTable(): Uint32Array {
  const theme = heatTheme();
  const table = new Uint32Array(steps * steps);
  for (let called = 0; called < steps; called++)
    for (let waited = 0; waited < steps; waited++)
      table[called * steps + waited] = packed(heatColour(waited / (steps - 1), called / (steps - 1), theme));
  return table;
}
