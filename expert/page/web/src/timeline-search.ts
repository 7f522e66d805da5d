// Search on the timeline: functions by a part of their name, ranks, windows. Calls of other functions recede; Enter
// goes from one found call to the next.
import { h } from "./dom";
import { plural } from "./format";
import type { CallPlace } from "./histogram";
import type { TraceData } from "./trace";

interface Actions {
  found: (regions: Set<number> | undefined) => void; // undefined: nothing is searched for
  call: (place: CallPlace) => void;
  row: (row: number) => void;
  window: (window: number) => void;
  from: () => number; // nanoseconds from which the next call is searched
}

export class Search {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly note = h("span", { class: "found", role: "status" });
  private regions = new Set<number>();

  constructor(
    private readonly trace: TraceData,
    private readonly actions: Actions,
  ) {
    const word = trace.info.processWord;
    this.input = h("input", {
      type: "search",
      class: "timeline-search",
      placeholder: `function, ${word} 3, window 0`,
      "aria-label": `Search for a function, a ${word} or a window (/); Enter goes to the next call`,
    });
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("keydown", (e) => {
      if (e.key === "Enter") this.next(e.shiftKey);
      else if (e.key === "Escape") {
        this.input.value = "";
        this.look();
        this.input.blur();
      }
    });
    this.element = h("span", { class: "labelled" }, this.input, this.note);
  }
  focus(): void {
    this.input.focus();
  }

  private look(): void {
    const text = this.input.value.trim().toLowerCase();
    const { name } = this.trace.info.regions;
    this.regions = new Set(
      text === "" || this.rank(text) >= 0 || this.window(text) >= 0
        ? []
        : [...name.keys()].filter((r) => name[r].toLowerCase().includes(text)),
    );
    if (this.regions.size > 0) {
      let calls = 0;
      for (const row of this.trace.rows)
        for (let i = 0; i < row.length; i++) if (this.regions.has(row.region[i])) calls += row.calls[i];
      this.note.textContent = plural(calls, "call");
    } else
      this.note.textContent =
        text === "" ? "" : this.rank(text) >= 0 || this.window(text) >= 0 ? "Enter goes there" : "nothing found";
    this.actions.found(this.regions.size > 0 ? this.regions : undefined);
  }
  // The row of "rank 3" or "3", -1 if it is none.
  private rank(text: string): number {
    const number = /^(?:(?:rank|thread) )?(\d+)$/.exec(text);
    return number === null ? -1 : this.trace.info.rows.findIndex((row) => row.rank === Number(number[1]));
  }
  private window(text: string): number {
    return this.trace.info.windows.findIndex((window) => window.toLowerCase() === text);
  }

  private next(back: boolean): void {
    const text = this.input.value.trim().toLowerCase();
    const row = this.rank(text);
    const window = this.window(text);
    if (row >= 0) return this.actions.row(row);
    if (window >= 0) return this.actions.window(window);
    if (this.regions.size === 0) return;
    const from = this.actions.from();
    const found = this.nearest(from, back) ?? this.nearest(back ? Infinity : -1, back);
    if (found !== undefined) this.actions.call(found);
  }
  // The first found call that begins after the time, or the last before it.
  private nearest(time: number, back: boolean): CallPlace | undefined {
    let best: CallPlace | undefined;
    let begin = back ? -Infinity : Infinity;
    this.trace.rows.forEach((boxes, row) => {
      let i = boxes.after(time);
      if (back) {
        for (i--; i >= 0; i--)
          if (boxes.begin[i] < time && this.regions.has(boxes.region[i])) {
            if (boxes.begin[i] > begin) [begin, best] = [boxes.begin[i], { row, box: i }];
            return;
          }
      } else
        for (; i < boxes.length; i++)
          if (this.regions.has(boxes.region[i])) {
            if (boxes.begin[i] < begin) [begin, best] = [boxes.begin[i], { row, box: i }];
            return;
          }
    });
    return best;
  }
}
