// Summaries of neighbouring calls or waits of a row, so that drawing a run of millions of them looks at as many as
// there are pixels: what a block of them covers of each lane, and which kind covers most of it.
const sizes = [1024, 128, 16, 4];
export const smallestBlock = 4;

export interface Things {
  readonly length: number;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly depth: Uint16Array;
}

class Level {
  readonly end: Float64Array; // the last of each block
  readonly time: Float32Array; // of each block and lane
  readonly kind: Uint8Array; // likewise: the one with most time

  constructor(
    readonly size: number,
    things: Things,
    readonly lanes: number,
    timeOf: (i: number) => number,
    kindOf: (i: number) => number,
    kinds: number,
  ) {
    const count = Math.floor(things.length / size);
    this.end = new Float64Array(count);
    this.time = new Float32Array(count * lanes);
    this.kind = new Uint8Array(count * lanes);
    const sums = new Float64Array(lanes * kinds);
    for (let b = 0; b < count; b++) {
      sums.fill(0);
      let last = 0;
      for (let i = b * size; i < (b + 1) * size; i++) {
        last = Math.max(last, things.end[i]);
        sums[Math.min(things.depth[i], lanes - 1) * kinds + kindOf(i)] += timeOf(i);
      }
      this.end[b] = last;
      for (let lane = 0; lane < lanes; lane++) {
        let best = 0;
        let sum = 0;
        for (let k = 0; k < kinds; k++) {
          const part = sums[lane * kinds + k];
          sum += part;
          if (part > sums[lane * kinds + best]) best = k;
        }
        this.time[b * lanes + lane] = sum;
        this.kind[b * lanes + lane] = best;
      }
    }
  }
}

export class Blocks {
  private readonly levels: Level[];
  constructor(
    private readonly things: Things,
    lanes: number,
    timeOf: (i: number) => number,
    kindOf: (i: number) => number = () => 0,
    kinds = 1,
  ) {
    this.levels = sizes
      .filter((size) => things.length >= 4 * size)
      .map((size) => new Level(size, things, lanes, timeOf, kindOf, kinds));
  }

  // If a block begins at this thing and is narrower than the width: tells what it covers and returns how many it holds.
  take(i: number, width: number, tell: (lane: number, kind: number, time: number) => void): number {
    for (const { size, end, time, kind, lanes } of this.levels) {
      if (i % size !== 0) continue;
      const b = i / size;
      if (b >= end.length || end[b] - this.things.begin[i] > width) continue;
      for (let lane = 0; lane < lanes; lane++)
        if (time[b * lanes + lane] > 0) tell(lane, kind[b * lanes + lane], time[b * lanes + lane]);
      return size;
    }
    return 0;
  }
}
