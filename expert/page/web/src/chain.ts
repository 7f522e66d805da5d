// A chain from a wait to its cause, a step after the other: who waits for whom, and at the end what
// the one awaited does. Shown beside the timeline; choosing a step goes there.
import type { Data } from "./data";
import { h } from "./dom";
import { duration, grouped, plural, shortened } from "./format";
import type { Step } from "./types";

export interface Chain {
  steps: Step[];
  leftOut: number; // before the first one
  at: number; // the step that is looked at
}

const around = 4; // steps that are listed on either side of that

export function chainPart(chain: Chain, rowNames: string[], choose: (at: number) => void): HTMLElement {
  const { steps, at } = chain;
  const from = Math.max(0, Math.min(at - around, steps.length - 2 * around - 1));
  const to = Math.min(steps.length, from + 2 * around + 1);
  const item = (i: number) => {
    const step = steps[i];
    const row = rowNames[step.row] ?? `row ${step.row}`;
    const current = i === at ? "step" : null;
    return h(
      "li",
      { value: i + 1 },
      h(
        "button",
        { type: "button", "aria-current": current, "data-step": i, click: () => choose(i) },
        h("b", {}, row),
        " ",
        h("bdi", {}, shortened(step.words, 200)),
        h("span", { class: "dim" }, ` ${duration(step.end - step.begin)}`),
      ),
    );
  };
  const go = (text: string, title: string, to: number) =>
    h(
      "button",
      { type: "button", class: "small", title, disabled: to < 0 || to >= steps.length, click: () => choose(to) },
      text,
    );
  const items: (HTMLElement | null)[] = [];
  const before = from + chain.leftOut;
  const behind = steps.length - to;
  if (before > 0) items.push(h("li", { class: "dim cut" }, `${grouped(before)} before`));
  for (let i = from; i < to; i++) items.push(item(i));
  if (behind > 0) items.push(h("li", { class: "dim cut" }, `${plural(behind, "further step")}`));
  return h(
    "section",
    { class: "chain", "aria-label": "Chain to the cause" },
    h(
      "header",
      {},
      h("h2", {}, "To the cause"),
      h(
        "span",
        { class: "buttons" },
        go("\u2039", "Previous step (C)", at - 1),
        h("span", { class: "dim" }, `${at + 1} of ${steps.length}`),
        go("\u203a", "Next step (c)", at + 1),
      ),
    ),
    h("ol", {}, ...items),
  );
}

// The first chain of the report with such a wait, at that step.
export function chainWith(data: Data, isIt: (wait: Step) => boolean): Chain | undefined {
  const { instances, groups } = data.info;
  for (const { chain, leftOut } of [...(instances ?? []), ...(groups ?? [])]) {
    // What stands last is no wait.
    const at = chain?.findIndex((step, i) => i + 1 < chain.length && isIt(step)) ?? -1;
    if (at >= 0) return { steps: chain!, leftOut: leftOut ?? 0, at };
  }
  return undefined;
}
