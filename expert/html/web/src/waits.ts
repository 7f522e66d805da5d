// Who waited for whom, as cells of a matrix: sums of the waits that the timeline has.
import type { TraceData } from "./trace";

export interface WaitCells {
  from: number[]; // block of ranks that waits
  to: number[]; // block that is waited for
  time: number[]; // nanoseconds
  count: number[];
  nobody: number; // nanoseconds for which no single process was waited for
}

// Of the calls of one function only, -1: of all.
export function waitCells(trace: TraceData, region: number): WaitCells {
  const { rows, ranksPerBlock } = trace.info;
  const block = (row: number) => Math.floor(rows[row].rank / ranksPerBlock);
  const cells: WaitCells = { from: [], to: [], time: [], count: [], nobody: 0 };
  const places = new Map<number, number>();
  trace.waits.forEach((waits, row) => {
    for (let i = 0; i < waits.length; i++) {
      if (region >= 0 && regionOf(trace, row, i) !== region) continue;
      if (waits.awaited[i] < 0) {
        cells.nobody += waits.waited[i];
        continue;
      }
      const from = block(row);
      const to = block(waits.awaited[i]);
      const key = from * 0x1000000 + to;
      let at = places.get(key);
      if (at === undefined) {
        places.set(key, (at = cells.from.length));
        cells.from.push(from);
        cells.to.push(to);
        cells.time.push(0);
        cells.count.push(0);
      }
      cells.time[at] += waits.waited[i];
      cells.count[at] += waits.waits[i];
    }
  });
  return cells;
}

// The function in which a wait lies.
function regionOf(trace: TraceData, row: number, wait: number): number {
  const { begin, end } = trace.waits[row];
  const box = trace.rows[row].at((begin[wait] + end[wait]) / 2);
  return box < 0 ? -1 : trace.rows[row].region[box];
}

// Functions whose calls wait, by name.
export function waitingRegions(trace: TraceData): number[] {
  const found = new Set<number>();
  trace.waits.forEach((waits, row) => {
    for (let i = 0; i < waits.length; i++) found.add(regionOf(trace, row, i));
  });
  const { name } = trace.info.regions;
  return [...found].filter((r) => r >= 0).sort((a, b) => name[a].localeCompare(name[b]));
}
