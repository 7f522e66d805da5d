// The first screen of a comparison: what became worse, what became better.
import { css, diverging } from "./colour";
import { type Data, sum } from "./data";
import { h } from "./dom";
import { percent, duration, grouped, plural, shortened, signed, withUnit } from "./format";

interface Change {
  metric: number;
  call: number;
  before: number;
  after: number;
  rest: boolean; // parts of the metric have their own share of the call path
}

const shownAtMost = 15;
const threshold = 0.005; // of the run

export class Changes {
  readonly element: HTMLElement;

  constructor(
    private readonly data: Data,
    private readonly jump: (metric: number, call: number) => void,
  ) {
    const changes = this.find();
    const whole = data.whole(Math.max(0, data.metricByName("time")));
    const important = changes.filter((c) => Math.abs(c.after - c.before) >= threshold * whole);
    const worse = important.filter((c) => c.after > c.before);
    const better = important.filter((c) => c.after < c.before);
    const most = important.reduce((largest, c) => Math.max(largest, Math.abs(c.after - c.before)), 0);
    this.element = h(
      "div",
      { class: "findings-view changes" },
      this.head(),
      this.list("Regressions", worse, most, "Nothing became worse by 0.5 % of the run or more."),
      this.list("Improvements", better, most, "Nothing became better by 0.5 % of the run or more."),
      changes.length > important.length
        ? h(
            "p",
            { class: "dim rest" },
            `${plural(changes.length - important.length, "smaller change")} below 0.5 % of the run each.`,
          )
        : null,
      data.info.byLocation
        ? null
        : h("p", { class: "dim" }, "The runs have different processes; values are compared over all of them."),
    );
  }

  // Metrics in seconds without their children's part, so that each second is counted once.
  private find(): Change[] {
    const { data } = this;
    const found: Change[] = [];
    data.info.metrics.forEach((info, metric) => {
      if (info.unit !== "sec") return;
      const selected = { node: metric, expanded: true };
      const before = data.callValuesBefore(selected);
      const after = data.callValuesAfter(selected);
      const whole = { node: metric, expanded: false };
      const [all, allAfter] = [data.callValuesBefore(whole), data.callValuesAfter(whole)];
      for (let call = 0; call < before.length; call++)
        if (before[call] !== after[call])
          found.push({
            metric,
            call,
            before: before[call],
            after: after[call],
            rest: all[call] !== before[call] || allAfter[call] !== after[call],
          });
    });
    return found.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
  }

  private head(): HTMLElement {
    const { data } = this;
    const rows = data.metrics.roots.map((node) => {
      const selected = { node, expanded: false };
      const before = sum(data.callValuesBefore(selected));
      const after = sum(data.callValuesAfter(selected));
      const { title, unit } = data.metric(node);
      if (before === 0 && after === 0) return null;
      const change = after - before;
      const cell = h(
        "td",
        {},
        signed(withUnit(change, unit), change) +
          (before !== 0 ? ` (${signed(percent(change, before), change)} %)` : ""),
      );
      if (unit === "sec") cell.className = change < 0 ? "better" : change > 0 ? "worse" : "";
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, h("bdi", {}, shortened(title, 80))),
        h("td", {}, withUnit(before, unit)),
        h("td", {}, withUnit(after, unit)),
        cell,
      );
    });
    const mean = this.mean();
    if (mean !== null) rows.splice(1, 0, mean);
    return h(
      "table",
      { class: "before-after" },
      h("thead", {}, h("tr", {}, h("th", {}), h("th", {}, "before"), h("th", {}, "after"), h("th", {}, "change"))),
      h("tbody", {}, ...rows.filter((r): r is HTMLTableRowElement => r !== null)),
    );
  }

  // Runs of different sizes compare by what one process took.
  private mean(): HTMLTableRowElement | null {
    const { data } = this;
    const root = data.metrics.roots[0] ?? -1;
    const [before, after] = data.info.locationsOfBoth ?? [0, 0];
    if (root < 0 || data.metric(root).unit !== "sec" || before === 0 || after === 0) return null;
    const selected = { node: root, expanded: false };
    const times = [sum(data.callValuesBefore(selected)) / before, sum(data.callValuesAfter(selected)) / after];
    const change = times[1] - times[0];
    const runs =
      before === after ? `of each of ${grouped(before)}` : `of each of ${grouped(before)}, then ${grouped(after)}`;
    return h(
      "tr",
      { class: "mean" },
      h("th", { scope: "row" }, runs),
      h("td", {}, duration(times[0])),
      h("td", {}, duration(times[1])),
      h(
        "td",
        { class: change < 0 ? "better" : change > 0 ? "worse" : "" },
        `${signed(duration(change), change)} (${signed(percent(change, times[0]), change)} %)`,
      ),
    );
  }

  private list(title: string, changes: Change[], most: number, none: string): HTMLElement {
    const { data } = this;
    const items = changes.slice(0, shownAtMost).map((c) => {
      const change = c.after - c.before;
      const fill = h("i", {});
      fill.style.width = `${(Math.abs(change) / most) * 100}%`;
      fill.style.background = css(diverging(change < 0 ? -1 : 1));
      const site = data.source(c.call);
      const callers = data.callPath(c.call).slice(0, -1);
      const path = `${callers.length > 3 ? "\u2026 \u203a " : ""}${callers
        .slice(-3)
        .map((caller) => `${shortened(data.callName(caller), 40)} \u203a `)
        .join("")}`;
      return h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "change",
            "data-metric": data.metric(c.metric).name,
            click: () => this.jump(c.metric, c.call),
          },
          h("b", { class: change < 0 ? "better" : "worse" }, signed(duration(change), change)),
          h("span", { class: "meter" }, fill),
          h(
            "span",
            { class: "change-what" },
            h("bdi", {}, shortened(data.metricWords(c.metric), 80)),
            c.rest ? " (rest)" : "",
            h("span", { class: "dim" }, " in ", h("bdi", {}, path)),
            h("bdi", {}, shortened(data.callName(c.call), 120)),
            site ? h("span", { class: "hint" }, ` ${site}`) : null,
          ),
          h(
            "span",
            { class: "dim" },
            c.before === 0
              ? `new: ${duration(c.after)}`
              : c.after === 0
                ? `was ${duration(c.before)}, gone`
                : `${duration(c.before)} \u2192 ${duration(c.after)}`,
          ),
        ),
      );
    });
    return h(
      "section",
      {},
      h("h2", {}, title, changes.length > 0 ? h("span", { class: "dim" }, ` ${changes.length}`) : null),
      items.length > 0 ? h("ul", { class: "change-list" }, ...items) : h("p", { class: "dim" }, none),
      changes.length > shownAtMost
        ? h("p", { class: "dim" }, `and ${changes.length - shownAtMost} more, in the trees`)
        : null,
    );
  }
}
