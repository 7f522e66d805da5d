// Transfers as arrows, in the three views of one-sided communication (thesis, chapter 7).
//
// closed: what the trace recorded; a get is a request without bytes and then the data.
// logical: a get's data moves as late as it may, so that puts and gets have the right order.
// dependencies: the recorded transfers, with timeless links from the origin to what happens at the
// target, and fences as collectives.
import type { TransferTable } from "./tables";

export type TransferView = "off" | "closed" | "logical" | "dependencies";
export const enum Style {
  Message,
  Put,
  Get,
  Request, // has no bytes; statistics leave it out
  Link, // timeless
  Wait, // from who ended a wait to who waited
}

// Begin row and time, end row and time, style, number of the transfer.
export type Draw = (fromRow: number, from: number, toRow: number, to: number, style: Style, index: number) => void;

export function drawTransfer(t: TransferTable, i: number, view: TransferView, draw: Draw): void {
  const origin = t.origin[i];
  const target = t.target[i];
  if (!t.get[i]) {
    draw(origin, t.start[i], target, t.end[i], Style.Put, i);
    // The end of a put to a passive target is the origin's doing, at the exit of its unlock.
    if (view === "dependencies" && t.passive[i] && !Number.isNaN(t.originSync[i]))
      draw(origin, t.originSync[i], target, t.end[i], Style.Link, i);
    return;
  }
  if (view === "logical") {
    const [start, end] = logicalGet(t, i);
    draw(target, start, origin, end, Style.Get, i);
    return;
  }
  draw(origin, t.request[i], target, t.start[i], view === "closed" ? Style.Request : Style.Link, i);
  draw(target, t.start[i], origin, t.end[i], Style.Get, i);
}

// Begin and end of a get's data in the logical view.
export function logicalGet(t: TransferTable, i: number): [number, number] {
  const end = Number.isNaN(t.originSync[i]) ? t.end[i] : t.originSync[i];
  // Very small, and less than the duration of the synchronisation.
  const before = end - Math.min(1000, t.syncLength[i] / 2);
  const start = t.passive[i] || Number.isNaN(t.targetSync[i]) ? before : Math.min(before, t.targetSync[i]);
  return [start, end];
}
