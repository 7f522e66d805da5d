// The trace that a page shows. Times are nanoseconds since the first event.
import { Blob64 } from "./blob";
import { readRows, readTable } from "./columns";
import { shortened } from "./format";
import {
  type BandTable, bandTable, type BoxTable, boxTable, densityMpiTable, densityWaitingTable, fenceMemberTable,
  fenceTable, type MessageTable, messageTable, type StripeTable, stripeTable, type TrafficTable, trafficTable,
  type TransferTable, transferTable, type WaitTable, waitTable,
} from "./tables";
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
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly path: Uint32Array; // of the analysis: TraceInfo.paths
  readonly region: Uint32Array;
  readonly calls: Float64Array;
  readonly polls: Float64Array; // of a series, which is one call
  readonly sleeping: Uint8Array; // 1: between these
  readonly parent: Int32Array; // -1: none
  readonly depth: Uint16Array;
  readonly deepest: number;
  constructor(of: BoxTable, regions: number[]) {
    const { begin, end } = of;
    [this.begin, this.end, this.calls] = [begin, end, of.calls];
    [this.polls, this.sleeping] = [of.polls, of.sleeping];
    this.path = Uint32Array.from(of.path);
    this.region = this.path.map((path) => regions[path]);
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
export class Waits implements WaitTable {
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly waited: Float64Array;
  readonly metric: Float64Array;
  readonly awaited: Float64Array;
  readonly ended: Float64Array;
  readonly waits: Float64Array;
  readonly depth: Uint16Array; // of the call
  constructor(of: WaitTable, boxes: Boxes) {
    const { begin, end } = of;
    [this.begin, this.end, this.waited, this.metric] = [begin, end, of.waited, of.metric];
    [this.awaited, this.ended, this.waits] = [of.awaited, of.ended, of.waits];
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

// Shares of the time: a row after the other, in equal steps of the run.
export interface Density {
  columns: number;
  waiting: Uint8Array;
  mpi: Uint8Array;
}

export interface Fence {
  window: number;
  rows: Float64Array;
  enters: Float64Array;
  exits: Float64Array;
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

export class TraceData {
  readonly rows: Boxes[];
  readonly waits: Waits[];
  readonly bands: BandTable[];
  readonly stripes: StripeTable[]; // times in which a thread was ready to run and had no processor for a part
  readonly density: Density;
  readonly messages: MessageTable;
  readonly transfers: TransferTable; // unknown times are NaN
  readonly fences: Fence[];
  readonly traffic: TrafficTable; // what passed between two processes, by kind, window and function
  readonly span: number; // of the whole trace
  readonly windowCount: number;
  readonly libraries: string; // whose calls there are: "MPI", "MPI and SHMEM"

  private constructor(
    readonly info: TraceInfo,
    blob: Blob64,
  ) {
    this.span = Math.max(1, (info.end - info.begin) * 1e9);
    this.windowCount = info.windows.length;
    const any = (of: RegExp) => info.regions.name.some((name) => of.test(name));
    this.libraries =
      [any(/^mpi_/i) && "MPI", any(/^shmem/) && "SHMEM", any(/^armci_/i) && "ARMCI", any(/^upc_/) && "UPC"]
        .filter((word) => word !== false)
        .join(" and ") || "MPI";
    this.rows = readRows(blob, boxTable).map((row) => new Boxes(row, info.paths.region));
    this.waits = readRows(blob, waitTable).map((row, i) => new Waits(row, this.rows[i]));
    this.bands = readRows(blob, bandTable);
    this.stripes = readRows(blob, stripeTable);
    this.density = {
      columns: info.columnsOfDensity,
      waiting: readTable(blob, densityWaitingTable).share,
      mpi: readTable(blob, densityMpiTable).share,
    };
    this.messages = readTable(blob, messageTable);
    this.transfers = readTable(blob, transferTable);
    this.fences = TraceData.fences(blob);
    this.traffic = readTable(blob, trafficTable);
  }

  static async read(info: TraceInfo): Promise<TraceData> {
    return new TraceData(info, await Blob64.read("kojak-trace", info.columns));
  }

  private static fences(blob: Blob64): Fence[] {
    const { members, window } = readTable(blob, fenceTable);
    const { row, enter, exit } = readTable(blob, fenceMemberTable);
    let at = 0;
    return Array.from(members, (count, i) => {
      const part = (of: Float64Array) => of.subarray(at, at + count);
      const fence = { window: window[i], rows: part(row), enters: part(enter), exits: part(exit) };
      at += count;
      return fence;
    });
  }

  get waitCount(): number {
    return this.waits.reduce((sum, row) => sum + row.length, 0);
  }
  get boxCount(): number {
    return this.rows.reduce((sum, row) => sum + row.length, 0);
  }
}
