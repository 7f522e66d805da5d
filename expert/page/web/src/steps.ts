// From victim to culprit: the chain behind most of the first group's cost, a row a step, with the strip of its time on one
// axis and its code. All sentences come from the C++ side.
import type { Data } from "./data";
import { h } from "./dom";
import { grouped, shortened } from "./format";
import { excerpt, sourceOfCall } from "./source";
import type { Step } from "./types";

const most = 7; // rows; of longer chains the first two and the last

export interface StepJumps {
  // Chooses the step where the chain is seen, without going there, or goes there.
  step(steps: Step[], leftOut: number, at: number): void;
  chain(steps: Step[], leftOut: number, at: number): void;
}

export class Steps {
  readonly element: HTMLElement | null = null;
  private readonly rows: [at: number, row: HTMLElement][] = [];
  private readonly steps: Step[] = [];
  private readonly leftOut: number = 0;
  private chosen = -1;

  constructor(
    data: Data,
    private readonly jumps: StepJumps | undefined,
  ) {
    const { groups, chainSaid } = data.info;
    const group = groups?.find((g) => g.chain?.[0]?.lead !== undefined);
    if (group === undefined || group.chain === undefined) return;
    this.steps = group.chain;
    this.leftOut = group.leftOut ?? 0;
    const last = this.steps.length - 1;
    const shown = this.steps.length <= most ? [...this.steps.keys()] : [0, 1, last];
    const from = Math.min(...shown.map((at) => this.steps[at].begin));
    const span = Math.max(...shown.map((at) => this.steps[at].end)) - from || 1;
    const list = h("ol", { class: "steps" });
    if (this.leftOut > 0) list.append(h("li", { class: "dim cut" }, `${grouped(this.leftOut)} before these`));
    for (const at of shown) {
      const before = shown[shown.indexOf(at) - 1] ?? -1;
      if (at - before > 1 && before >= 0) list.append(this.cut(before, at));
      const step = this.steps[at];
      const cause = step.cause === true;
      const source = cause ? excerpt(data, group.source) : sourceOfCall(data, step.call, 1);
      const row = h("li", { class: cause ? "culprit" : "" }, h("div", {}, ...this.words(step, at, cause), strip(step, from, span, cause)), source);
      this.rows.push([at, row]);
      list.append(row);
    }
    const keys = jumps === undefined ? null : [h("kbd", {}, "c"), " ", h("kbd", {}, "C"), " next, previous step. "];
    this.element = h(
      "section",
      { class: "from-victim", "aria-label": "From victim to culprit" },
      h("h2", {}, "From victim to culprit"),
      h("p", { class: "dim said" }, `${chainSaid ?? ""} `, keys, `The strips share one axis.`),
      h("div", { class: "card" }, list),
    );
  }

  private words(step: Step, at: number, cause: boolean): HTMLElement[] {
    const number = h("span", { class: cause ? "no" : "no part" }, String(at + 1));
    const lead = h("bdi", {}, shortened(step.lead ?? "", 300));
    const go = () => this.jumps!.chain(this.steps, this.leftOut, at);
    return [
      h("p", {}, number, " ",
        this.jumps === undefined
          ? h("b", {}, lead)
          : h("button", { type: "button", class: "lead", title: "on the timeline", click: go }, lead)),
      h("p", { class: "dim how" }, h("bdi", {}, shortened(step.rest ?? "", 600))),
    ];
  }

  private cut(before: number, at: number): HTMLElement {
    const between = this.steps.slice(before + 1, at);
    const same = between.every((step) => step.call === this.steps[before].call);
    return h("li", { class: "dim cut" }, `${grouped(between.length)} more ${same ? "of the same" : "between them"}`);
  }

  // c, C: among the rows.
  key(event: KeyboardEvent): boolean {
    if ((event.key !== "c" && event.key !== "C") || this.rows.length === 0 || this.jumps === undefined) return false;
    this.chosen = Math.max(0, Math.min(this.rows.length - 1, this.chosen + (event.key === "c" ? 1 : -1)));
    this.rows.forEach(([, row], i) => {
      if (i === this.chosen) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    const [at, row] = this.rows[this.chosen];
    row.scrollIntoView({ block: "nearest" });
    this.jumps.step(this.steps, this.leftOut, at);
    return true;
  }
}

// The line is the moment of hand-over.
function strip(step: Step, from: number, span: number, cause: boolean): HTMLElement {
  const box = h("i", { class: cause ? "makes-wait" : "waits" });
  box.style.left = `${(100 * (step.begin - from)) / span}%`;
  box.style.width = `${(100 * (step.end - step.begin)) / span}%`;
  const over = h("i", { class: "hand-over" });
  over.style.left = `${(100 * (step.end - from)) / span}%`;
  return h("div", { class: "strip", "aria-hidden": "true" }, box, over);
}
