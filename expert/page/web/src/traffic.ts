// What passed between processes, as cells of a matrix: bytes, or waiting.
import type { TraceData, TrafficKind } from "./trace";

export interface Cells {
  from: number[];
  to: number[];
  values: number[];
  counts: number[];
  nobody: number; // of waits for no single process
}

// What is chosen: -1 stands for all windows, and for all functions.
export interface TrafficChoice {
  kinds: TrafficKind[];
  window: number;
  region: number;
}

// Sums for each pair of processes.
export function cellsOf(trace: TraceData, { kinds, window, region }: TrafficChoice): Cells {
  const { traffic } = trace;
  const cells: Cells = { from: [], to: [], values: [], counts: [], nobody: 0 };
  const places = new Map<number, number>();
  for (let i = 0; i < traffic.from.length; i++) {
    if (!kinds.includes(traffic.kind[i])) continue;
    if (window >= 0 && traffic.window[i] !== window) continue;
    if (region >= 0 && traffic.region[i] !== region) continue;
    if (traffic.to[i] < 0) {
      cells.nobody += traffic.amount[i];
      continue;
    }
    const pair = traffic.from[i] * 0x1000000 + traffic.to[i];
    let at = places.get(pair);
    if (at === undefined) {
      places.set(pair, (at = cells.from.length));
      cells.from.push(traffic.from[i]);
      cells.to.push(traffic.to[i]);
      cells.values.push(0);
      cells.counts.push(0);
    }
    cells.values[at] += traffic.amount[i];
    cells.counts[at] += traffic.count[i];
  }
  return cells;
}

// The windows and functions that operations of these kinds are about: -1 if some are about none.
export function choicesOf(trace: TraceData, kinds: TrafficKind[]): { windows: number[]; regions: number[] } {
  const { kind, window, region } = trace.traffic;
  const windows = new Set<number>();
  const regions = new Set<number>();
  for (let i = 0; i < kind.length; i++) {
    if (!kinds.includes(kind[i])) continue;
    windows.add(window[i]);
    regions.add(region[i]);
  }
  const { name } = trace.info.regions;
  return {
    windows: [...windows].sort((a, b) => a - b),
    regions: [...regions].filter((r) => r >= 0).sort((a, b) => name[a].localeCompare(name[b])),
  };
}
