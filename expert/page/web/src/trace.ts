// The trace as expert/page/trace_view.cc packed it. Times are nanoseconds since the first event.
import { Blob64 } from "./blob";
import { shortened } from "./format";
import type { TraceInfo } from "./types";

// The first of ascending times after that one.
export function firstAfter(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Region instances of one location: parents before children, in order of their begin.
export class Boxes {
  readonly parent: Int32Array; // -1: none
  readonly depth: Uint16Array;
  readonly deepest: number;
  constructor(
    readonly begin: Float64Array,
    readonly end: Float64Array,
    readonly path: Uint32Array, // of the analysis: TraceInfo.paths
    readonly region: Uint32Array,
    readonly calls: Float64Array,
    readonly polls: Float64Array, // in turn, which are one instance; 0: it is none of these
    readonly sleeping: Uint8Array, // 1: between them
  ) {
    const count = begin.length;
    this.parent = new Int32Array(count);
    this.depth = new Uint16Array(count);
    const open: number[] = [];
    let deepest = 0;
    for (let i = 0; i < count; i++) {
      while (open.length > 0 && end[open[open.length - 1]] < end[i]) open.pop();
      while (open.length > 0 && end[open[open.length - 1]] <= begin[i] && end[i] > begin[i]) open.pop();
      this.parent[i] = open.length > 0 ? open[open.length - 1] : -1;
      this.depth[i] = open.length;
      deepest = Math.max(deepest, open.length);
      open.push(i);
    }
    this.deepest = deepest;
  }
  get length(): number {
    return this.begin.length;
  }
  // The first that begins after the time.
  after(time: number): number {
    return firstAfter(this.begin, time);
  }
  // The innermost that holds the time, -1 if none does.
  at(time: number): number {
    let i = this.after(time) - 1;
    while (i >= 0 && this.end[i] < time) i = this.parent[i];
    return i;
  }
}

// Where the calls of one location waited, in order of time.
export class Waits {
  readonly depth: Uint16Array; // of the call
  constructor(
    readonly begin: Float64Array,
    readonly end: Float64Array,
    readonly waited: Float64Array, // of the time between
    readonly metric: Float64Array, // TraceInfo.metrics
    readonly awaited: Float64Array, // row of who ended it, -1: no single one
    readonly ended: Float64Array, // when
    readonly waits: Float64Array, // that were merged into one
    boxes: Boxes,
  ) {
    this.depth = new Uint16Array(begin.length);
    for (let i = 0; i < begin.length; i++) {
      const box = boxes.at((begin[i] + end[i]) / 2);
      this.depth[i] = box < 0 ? 0 : boxes.depth[box];
    }
  }
  get length(): number {
    return this.begin.length;
  }
  // The first that may reach beyond the time. They hardly overlap.
  from(time: number): number {
    let i = firstAfter(this.begin, time);
    for (let looked = 0; i > 0 && looked < 8; looked++) {
      i--;
      if (this.end[i] <= time) return i + 1;
    }
    return i;
  }
  // Those within a time.
  within(begin: number, end: number): number[] {
    const found: number[] = [];
    for (let i = this.from(begin); i < this.length && this.begin[i] < end; i++)
      if (Math.min(end, this.end[i]) > Math.max(begin, this.begin[i])) found.push(i);
    return found;
  }
}

// Times in which a thread was ready to run and had no processor.
export interface Stripes {
  begin: Float64Array;
  end: Float64Array;
  without: Float64Array;
}

// Shares of the time, 255 is all: a row after the other, in equal steps of the run.
export interface Density {
  columns: number;
  waiting: Uint8Array;
  mpi: Uint8Array;
}

export interface Bands {
  begin: Float64Array;
  end: Float64Array;
  window: Float64Array;
  kind: Uint8Array;
}

export interface Messages {
  from: Float64Array;
  to: Float64Array;
  sent: Float64Array;
  received: Float64Array;
  bytes: Float64Array;
}

export interface Transfers {
  get: Uint8Array;
  passive: Uint8Array;
  origin: Float64Array;
  target: Float64Array;
  window: Float64Array;
  bytes: Float64Array;
  request: Float64Array;
  start: Float64Array;
  end: Float64Array;
  originSync: Float64Array; // NaN where it is not known
  syncLength: Float64Array;
  targetSync: Float64Array;
}

export interface Fence {
  window: number;
  rows: Float64Array;
  enters: Float64Array;
  exits: Float64Array;
}

// What passed between two processes: a cell for each kind of operation, window and function.
export interface Traffic {
  from: Float64Array; // block of ranks that had the bytes, or waits
  to: Float64Array; // that got them, or is waited for; -1: no single one
  kind: Uint8Array; // TrafficKind
  window: Float64Array; // TraceInfo.windows; -1: none, or not told apart
  region: Float64Array; // TraceInfo.regions; -1: not told apart
  amount: Float64Array; // bytes; of waits nanoseconds
  count: Float64Array; // operations
}
export const enum TrafficKind {
  Message,
  Put,
  Get,
  Wait,
}

const bandNames = ["fence epoch", "access epoch", "exposure epoch", "shared lock", "exclusive lock", "lock of all"];
export function bandName(kind: number): string {
  return bandNames[kind] ?? "epoch";
}

// "window field, made at halo.c:9"
export function windowWords(trace: TraceData, window: number): string {
  const site = trace.info.windowSites[window];
  return (trace.info.windows[window] ?? `window ${window}`) + (site ? `, made at ${shortened(site, 40)}` : "");
}

// Begins are distances from the one before, ends are lengths.
function cumulate(begin: Float64Array, end: Float64Array, from: number, to: number): void {
  let last = 0;
  for (let i = from; i < to; i++) {
    last += begin[i];
    begin[i] = last;
    end[i] += last;
  }
}

function unzigzag(coded: Float64Array, origin: Float64Array): Float64Array {
  const out = new Float64Array(coded.length);
  for (let i = 0; i < out.length; i++) out[i] = origin[i] + (coded[i] % 2 === 0 ? coded[i] / 2 : -(coded[i] + 1) / 2);
  return out;
}

export class TraceData {
  readonly rows: Boxes[] = [];
  readonly waits: Waits[] = [];
  readonly bands: Bands[] = [];
  readonly stripes: Stripes[] = [];
  readonly density: Density;
  readonly messages: Messages;
  readonly transfers: Transfers;
  readonly fences: Fence[] = [];
  readonly traffic: Traffic;
  readonly span: number; // of the whole trace
  readonly windowCount: number;

  private constructor(
    readonly info: TraceInfo,
    blob: Blob64,
  ) {
    this.span = Math.max(1, (info.end - info.begin) * 1e9);
    this.windowCount = info.windows.length;
    this.readRows(blob);
    this.readWaits(blob);
    this.density = {
      columns: info.columnsOfDensity,
      waiting: blob.u8("densityWaiting"),
      mpi: blob.u8("densityMpi"),
    };
    const sent = blob.deltas("messageSent");
    this.messages = {
      from: blob.varints("messageFrom"),
      to: blob.varints("messageTo"),
      sent,
      received: unzigzag(blob.varints("messageReceived"), sent),
      bytes: blob.varints("messageBytes"),
    };
    this.transfers = this.readTransfers(blob);
    this.readFences(blob);
    const column = (name: string) => blob.varints(`traffic${name}`);
    const orNone = (name: string) => column(name).map((number) => number - 1);
    this.traffic = {
      from: column("From"),
      to: orNone("To"),
      kind: blob.u8("trafficKinds"),
      window: orNone("Windows"),
      region: orNone("Regions"),
      amount: column("Amounts"),
      count: column("Counts"),
    };
  }

  static async read(info: TraceInfo): Promise<TraceData> {
    return new TraceData(info, await Blob64.read("kojak-trace", info.columns));
  }

  private readRows(blob: Blob64): void {
    const begins = blob.varints("boxBegins");
    const ends = blob.varints("boxLengths");
    const paths = Uint32Array.from(blob.varints("boxPaths"));
    const regions = paths.map((path) => this.info.paths.region[path]);
    const joined = Uint8Array.from(blob.varints("boxPolls"));
    const counts = blob.varints("boxCalls");
    const polls = counts.map((count, i) => (joined[i] & 1 ? count : 0));
    const calls = counts.map((count, i) => (joined[i] & 1 ? 1 : count));
    const sleeping = joined.map((kind) => kind >> 1);
    const bandBegins = blob.varints("bandBegins");
    const bandEnds = blob.varints("bandLengths");
    const windows = blob.varints("bandWindows");
    const kinds = blob.u8("bandKinds");
    let at = 0;
    for (const count of blob.varints("boxCounts")) {
      cumulate(begins, ends, at, at + count);
      this.rows.push(
        new Boxes(
          begins.subarray(at, at + count),
          ends.subarray(at, at + count),
          paths.subarray(at, at + count),
          regions.subarray(at, at + count),
          calls.subarray(at, at + count),
          polls.subarray(at, at + count),
          sleeping.subarray(at, at + count),
        ),
      );
      at += count;
    }
    at = 0;
    for (const count of blob.varints("bandCounts")) {
      cumulate(bandBegins, bandEnds, at, at + count);
      this.bands.push({
        begin: bandBegins.subarray(at, at + count),
        end: bandEnds.subarray(at, at + count),
        window: windows.subarray(at, at + count),
        kind: kinds.subarray(at, at + count),
      });
      at += count;
    }
  }

  private readWaits(blob: Blob64): void {
    const begins = blob.varints("waitBegins");
    const ends = blob.varints("waitLengths");
    const waited = blob.varints("waitOthers").map((other, i) => ends[i] - other);
    const metrics = blob.varints("waitMetrics");
    const awaited = blob.varints("waitAwaited").map((row) => row - 1);
    const coded = blob.varints("waitEnded");
    const waits = blob.varints("waitWaits");
    let at = 0;
    blob.varints("waitCounts").forEach((count, row) => {
      const to = at + count;
      cumulate(begins, ends, at, to);
      const end = ends.subarray(at, to);
      this.waits.push(
        new Waits(
          begins.subarray(at, to),
          end,
          waited.subarray(at, to),
          metrics.subarray(at, to),
          awaited.subarray(at, to),
          unzigzag(coded.subarray(at, to), end),
          waits.subarray(at, to),
          this.rows[row],
        ),
      );
      at = to;
    });
    const begin = blob.varints("stripeBegins");
    const end = blob.varints("stripeLengths");
    const without = blob.varints("stripeWithout");
    at = 0;
    for (const count of blob.varints("stripeCounts")) {
      const to = at + count;
      cumulate(begin, end, at, to);
      this.stripes.push({
        begin: begin.subarray(at, to),
        end: end.subarray(at, to),
        without: without.subarray(at, to),
      });
      at = to;
    }
  }

  private readTransfers(blob: Blob64): Transfers {
    const kinds = blob.u8("transferKinds");
    const request = blob.deltas("transferRequests");
    const time = (name: string) => unzigzag(blob.varints(name), request);
    const known = (times: Float64Array, bit: number) => times.map((t, i) => (kinds[i] & bit ? t : NaN));
    return {
      get: kinds.map((k) => k & 1),
      passive: kinds.map((k) => (k & 2) >> 1),
      origin: blob.varints("transferOrigins"),
      target: blob.varints("transferTargets"),
      window: blob.varints("transferWindows"),
      bytes: blob.varints("transferBytes"),
      request,
      start: time("transferStarts"),
      end: time("transferEnds"),
      originSync: known(time("transferOriginSyncs"), 4),
      syncLength: blob.varints("transferSyncLengths"),
      targetSync: known(time("transferTargetSyncs"), 8),
    };
  }

  private readFences(blob: Blob64): void {
    const rows = blob.varints("fenceRows");
    const enters = blob.deltas("fenceEnters");
    const exits = blob.deltas("fenceExits");
    const windows = blob.varints("fenceWindows");
    let at = 0;
    blob.varints("fenceSizes").forEach((size, i) => {
      this.fences.push({
        window: windows[i],
        rows: rows.subarray(at, at + size),
        enters: enters.subarray(at, at + size),
        exits: exits.subarray(at, at + size),
      });
      at += size;
    });
  }

  get waitCount(): number {
    return this.waits.reduce((sum, row) => sum + row.length, 0);
  }
  get boxCount(): number {
    return this.rows.reduce((sum, row) => sum + row.length, 0);
  }
}
