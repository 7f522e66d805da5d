// Written by tables.mjs from expert/page/tables.def, where it says how they are packed.
import type { Table } from "./columns";

export interface BoxTable {
  begin: Float64Array; // time
  end: Float64Array; // time
  path: Float64Array; // TraceInfo.paths
  calls: Float64Array; // that were merged into one
  polls: Float64Array; // that this call is: of a series, in turn; 0: it is none
  sleeping: Uint8Array; // 1: between these
}
export const boxTable: Table<BoxTable> = {
  name: "box",
  columns: [
    ["path", "varint"],
    ["calls", "varint"],
    ["polls", "varint"],
    ["sleeping", "byte"],
  ],
};

export interface WaitTable {
  begin: Float64Array; // time
  end: Float64Array; // time
  waited: Float64Array; // of the time between
  metric: Float64Array; // TraceInfo.metrics
  awaited: Float64Array; // row of who ended it, -1: no single one
  ended: Float64Array; // when
  waits: Float64Array; // that were merged into one
}
export const waitTable: Table<WaitTable> = {
  name: "wait",
  columns: [
    ["waited", "short_of", "length"],
    ["metric", "varint"],
    ["awaited", "or_none"],
    ["ended", "since", "end"],
    ["waits", "varint"],
  ],
};

export interface BandTable {
  begin: Float64Array; // time
  end: Float64Array; // time
  window: Float64Array; // TraceInfo.windows
  kind: Uint8Array; // BandKind
}
export const bandTable: Table<BandTable> = {
  name: "band",
  columns: [
    ["window", "varint"],
    ["kind", "byte"],
  ],
};

export interface MessageTable {
  from: Float64Array; // row of the sender
  to: Float64Array; // row of the receiver
  sent: Float64Array; // when
  received: Float64Array; // when
  bytes: Float64Array; // its size
}
export const messageTable: Table<MessageTable> = {
  name: "message",
  columns: [
    ["from", "varint"],
    ["to", "varint"],
    ["sent", "delta"],
    ["received", "since", "sent"],
    ["bytes", "varint"],
  ],
};

export interface TransferTable {
  get: Uint8Array; // 1: a get, 0: a put
  passive: Uint8Array; // 1: in a lock
  origin: Float64Array; // row
  target: Float64Array; // row
  window: Float64Array; // TraceInfo.windows
  bytes: Float64Array; // its size
  request: Float64Array; // when it was asked for
  start: Float64Array; // when its data began to move
  end: Float64Array; // when they had moved
  originSync: Float64Array; // exit of the call that completes it at the origin
  syncLength: Float64Array; // how long that call took
  targetSync: Float64Array; // exit of the call that completes it at the target
}
export const transferTable: Table<TransferTable> = {
  name: "transfer",
  columns: [
    ["get", "byte"],
    ["passive", "byte"],
    ["origin", "varint"],
    ["target", "varint"],
    ["window", "varint"],
    ["bytes", "varint"],
    ["request", "delta"],
    ["start", "since", "request"],
    ["end", "since", "request"],
    ["originSync", "since_known", "request"],
    ["syncLength", "varint"],
    ["targetSync", "since_known", "request"],
  ],
};

export interface FenceTable {
  members: Float64Array; // how many of the next fenceMember are its
  window: Float64Array; // TraceInfo.windows
}
export const fenceTable: Table<FenceTable> = {
  name: "fence",
  columns: [
    ["members", "varint"],
    ["window", "varint"],
  ],
};

export interface FenceMemberTable {
  row: Float64Array; // who
  enter: Float64Array; // when
  exit: Float64Array; // when
}
export const fenceMemberTable: Table<FenceMemberTable> = {
  name: "fenceMember",
  columns: [
    ["row", "varint"],
    ["enter", "delta"],
    ["exit", "delta"],
  ],
};

export interface TrafficTable {
  from: Float64Array; // block of ranks that had the bytes, or waits
  to: Float64Array; // that got them, or is waited for; -1: no single one
  kind: Uint8Array; // TrafficKind
  window: Float64Array; // TraceInfo.windows; -1: none, or not told apart
  region: Float64Array; // TraceInfo.regions; -1: not told apart
  amount: Float64Array; // bytes; of waits nanoseconds
  count: Float64Array; // operations
}
export const trafficTable: Table<TrafficTable> = {
  name: "traffic",
  columns: [
    ["from", "varint"],
    ["to", "or_none"],
    ["kind", "byte"],
    ["window", "or_none"],
    ["region", "or_none"],
    ["amount", "varint"],
    ["count", "varint"],
  ],
};

export interface StripeTable {
  begin: Float64Array; // time
  end: Float64Array; // time
  without: Float64Array; // how long it had no processor
}
export const stripeTable: Table<StripeTable> = {
  name: "stripe",
  columns: [
    ["without", "varint"],
  ],
};

export interface DensityWaitingTable {
  share: Uint8Array; // of the time, 255 is all: a row after the other, in equal steps of the run
}
export const densityWaitingTable: Table<DensityWaitingTable> = {
  name: "densityWaiting",
  columns: [
    ["share", "byte"],
  ],
};

export interface DensityMpiTable {
  share: Uint8Array; // likewise
}
export const densityMpiTable: Table<DensityMpiTable> = {
  name: "densityMpi",
  columns: [
    ["share", "byte"],
  ],
};
