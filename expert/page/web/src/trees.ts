// The three panes of CUBE: a metric, where in the program, where on the machine.
//
// Choosing a metric redistributes it over the call tree; choosing a call path redistributes its
// value over the system tree. What is expanded counts without what it holds below.
import { css, diverging, ramp } from "./colour";
import { type Data, type Selected, sum } from "./data";
import { choice, h } from "./dom";
import { count, inUnit, percent, plural, shortened, signed, unitName, withUnit } from "./format";
import { Pane } from "./pane";
import { splitter } from "./splitter";
import { SystemPane } from "./system";
import { type Shown, type TreeNodes, TreeView } from "./tree";

export type Percent = "absolute" | "root" | "selection";

export class Trees {
  readonly element: HTMLElement;
  readonly metrics: Pane;
  readonly calls: Pane;
  readonly system: SystemPane;
  mode: Percent = "absolute";
  private flat = false;
  private zeros = false;
  private readonly flatView: TreeView;
  private readonly details = h("div", { class: "details", "aria-live": "polite" });
  private readonly modes;
  private readonly metricTotals: Float64Array;
  private readonly metricRests: Float64Array;
  private callOwn: Float64Array = new Float64Array(0);
  private callAll: Float64Array = new Float64Array(0);

  constructor(
    private readonly data: Data,
    private readonly changed: () => void,
  ) {
    const { info } = data;
    const metricNodes: TreeNodes & { hint(node: number): string } = {
      size: data.metrics.size,
      roots: data.metrics.roots,
      children: data.metrics.children,
      parent: data.metrics.parent,
      label: (m) => info.metrics[m].title,
      hint: (m) => (info.metrics[m].parent < 0 ? unitName(info.metrics[m].unit) : ""),
    };
    const callNodes = {
      size: data.calls.size,
      roots: data.calls.roots,
      children: data.calls.children,
      parent: data.calls.parent,
      label: (c: number) => data.callName(c),
      hint: (c: number) => data.source(c),
    };
    const refresh = { select: () => this.refresh(), toggle: () => this.refresh() };
    const metricTree = new TreeView(metricNodes, refresh, "Metrics");
    const callTree = new TreeView(callNodes, refresh, "Call paths");
    this.metrics = new Pane("Metrics", metricTree, metricNodes, (m) => this.selectMetric(m));
    this.calls = new Pane("Call paths", callTree, callNodes, (c) => this.selectCall(c));
    this.system = new SystemPane(data, () => this.refresh());

    const regions = info.regions.name.map((_, r) => r);
    const flatNodes = {
      size: regions.length,
      roots: regions,
      children: regions.map(() => []),
      parent: regions.map(() => -1),
      label: (r: number) => data.regionName(r),
    };
    this.flatView = new TreeView(flatNodes, { select: (r) => this.selectRegion(r), toggle: () => {} }, "Flat profile");
    this.flatView.element.hidden = true;
    this.flatView.update({ order: "value" });
    this.calls.element.append(this.flatView.element);
    const views = choice<"tree" | "flat">(
      "Form of the call pane",
      [
        ["tree", "Tree"],
        ["flat", "Flat", "Functions, summed over all call paths"],
      ],
      "tree",
      (view) => {
        views.show(view);
        this.flat = view === "flat";
        callTree.element.hidden = this.flat;
        this.flatView.element.hidden = !this.flat;
        this.calls.use(this.flat ? flatContent : treeContent);
        this.refresh();
      },
    );
    const treeContent = { tree: callTree, labels: callNodes, choose: (c: number) => this.selectCall(c) };
    const flatContent = {
      tree: this.flatView,
      labels: flatNodes,
      choose: (r: number) => {
        this.selectRegion(r);
        this.flatView.scrollToSelected();
      },
    };
    this.calls.addTool(views.element);

    this.metricTotals = Float64Array.from(info.metrics, (_, node) => data.total({ node, expanded: false }));
    this.metricRests = Float64Array.from(info.metrics, (_, node) => data.total({ node, expanded: true }));
    this.modes = choice<Percent>(
      "Values",
      [
        ["absolute", "Absolute"],
        ["root", "% of root", "Percent of the whole metric tree"],
        ["selection", "% of selection", "Percent of what is chosen in the pane to the left"],
      ],
      this.mode,
      (mode) => this.setMode(mode),
    );
    const zeroBox = h("input", {
      type: "checkbox",
      change: () => {
        this.zeros = zeroBox.checked;
        this.refresh();
      },
    });
    const panes = h("div", { class: "panes" }, this.metrics.element, this.calls.element, this.system.element);
    splitter([this.metrics.element, this.calls.element, this.system.element]);
    this.element = h(
      "div",
      { class: "trees" },
      h(
        "div",
        { class: "toolbar" },
        this.modes.element,
        h("label", { class: "check" }, zeroBox, "metrics that are 0"),
        h("span", { class: "legend" }, this.legend()),
      ),
      panes,
      this.details,
    );
    this.openLargest();
  }

  private legend(): Node[] {
    if (this.data.difference)
      return [
        h("span", { class: "better" }, "\u25a0 less than before"),
        h("span", { class: "worse" }, "\u25a0 more than before"),
      ];
    const scale = h("canvas", { width: 80, height: 8, "aria-hidden": "true" });
    const paint = () => {
      const context = scale.getContext("2d")!;
      for (let x = 0; x < 80; x++) {
        context.fillStyle = css(ramp(x / 79));
        context.fillRect(x, 0, 1, 8);
      }
    };
    paint();
    addEventListener("kojak-theme", paint);
    return ["0 ", scale, " largest"] as unknown as Node[];
  }

  // At first the reader sees where most of the time is, without having to open nodes.
  private openLargest(): void {
    const { data } = this;
    const metricTree = this.metrics.tree;
    for (let m = 0; m < data.metrics.size; m++) {
      const whole = Math.abs(this.metricTotals[data.metrics.root(m)]);
      const large = data.metrics.children[m].some((child) => Math.abs(this.metricTotals[child]) > 0.02 * whole);
      if (large && data.metrics.depth[m] < 3) metricTree.setExpanded(m, true);
    }
    // The worst bottleneck, if there is one, is what the panes show first.
    const worst = data.info.overview?.bottlenecks[0];
    metricTree.setSelected(worst?.metric ?? data.metrics.roots[0] ?? -1);
    this.computeCalls();
    const all = this.callAll;
    const whole = data.calls.roots.reduce((most, root) => Math.max(most, Math.abs(all[root])), 0);
    for (let c = 0; c < data.calls.size; c++) {
      const large = data.calls.children[c].some((child) => Math.abs(all[child]) > 0.05 * whole);
      if (large && data.calls.depth[c] < 6) this.calls.tree.setExpanded(c, true);
    }
    this.calls.tree.setSelected(worst?.call ?? data.calls.roots[0] ?? -1);
  }

  get metric(): Selected {
    const node = Math.max(0, this.metrics.tree.selected);
    return { node, expanded: this.metrics.tree.isExpanded(node) };
  }
  get call(): Selected {
    const node = Math.max(0, this.calls.tree.selected);
    return { node, expanded: this.calls.tree.isExpanded(node) };
  }

  selectMetric(metric: number): void {
    this.metrics.tree.setSelected(metric);
    this.refresh();
    this.metrics.tree.scrollToSelected();
  }
  selectCall(call: number): void {
    this.calls.tree.setSelected(call);
    this.refresh();
    this.calls.tree.scrollToSelected();
  }
  // The bottleneck itself: the whole metric at this call path alone.
  jump(metric: number, call: number): void {
    this.metrics.tree.setExpanded(metric, false);
    this.calls.tree.setExpanded(call, true);
    this.metrics.tree.setSelected(metric);
    this.calls.tree.setSelected(call);
    this.refresh();
    this.metrics.tree.scrollToSelected();
    this.calls.tree.scrollToSelected();
  }
  private selectRegion(region: number): void {
    // The call path of this function that has most of the value.
    let best = -1;
    this.data.info.calls.region.forEach((r, c) => {
      if (r === region && (best < 0 || Math.abs(this.callOwn[c]) > Math.abs(this.callOwn[best]))) best = c;
    });
    if (best >= 0) this.calls.tree.setSelected(best);
    this.refresh();
  }
  setMode(mode: Percent): void {
    this.mode = mode;
    this.modes.show(mode);
    this.refresh();
  }

  private computeCalls(): void {
    this.callOwn = this.data.callValues(this.metric);
    this.callAll = this.data.calls.addUp(this.callOwn.slice());
  }

  // How a value is shown; `largest` is what fills a bar.
  private shown(value: number, largest: number, unit: string, root: number, selection: number): Shown {
    const part = largest > 0 ? value / largest : 0;
    const { difference } = this.data;
    const text =
      this.mode === "absolute" ? inUnit(value, unit) : percent(value, this.mode === "root" ? root : selection);
    return {
      text: difference ? signed(text, value) : text,
      part,
      colour: css(difference ? diverging(part) : ramp(Math.abs(part))),
      weight: value,
    };
  }

  refresh(): void {
    const { data } = this;
    const { metric } = this;
    const unit = data.metric(metric.node).unit;
    const root = data.whole(metric.node);
    const metricValue = (m: number) => (this.metrics.tree.isExpanded(m) ? this.metricRests[m] : this.metricTotals[m]);
    const chosenValue = metricValue(metric.node);
    const { metricTotals } = this;
    const largestOf = new Map(
      data.metrics.roots.map((r) => [
        r,
        data.difference
          ? data.metrics.below(r).reduce((most, m) => Math.max(most, Math.abs(metricTotals[m])), 0)
          : metricTotals[r],
      ]),
    );
    const wholeOf = new Map(data.metrics.roots.map((r) => [r, data.whole(r)]));
    this.metrics.tree.update({
      show: (m) => {
        const top = data.metrics.root(m);
        return this.shown(
          metricValue(m),
          largestOf.get(top)!,
          data.metric(m).unit,
          wholeOf.get(top)!,
          metricTotals[metric.node],
        );
      },
      hidden: (m) => !this.zeros && data.metrics.below(m).every((b) => metricTotals[b] === 0) && m !== metric.node,
    });
    this.metrics.setSubtitle(this.mode === "absolute" ? "" : this.mode === "root" ? "% of root" : "% of chosen");

    this.computeCalls();
    const callValue = (c: number) => (this.calls.tree.isExpanded(c) ? this.callOwn[c] : this.callAll[c]);
    let largest = 0;
    for (let c = 0; c < data.calls.size; c++)
      largest = Math.max(largest, Math.abs(data.difference ? callValue(c) : this.callAll[c]));
    this.calls.tree.update({ show: (c) => this.shown(callValue(c), largest, unit, root, chosenValue) });
    if (this.flat) this.refreshFlat(unit, root, chosenValue);
    const rest = metric.expanded ? " without its parts" : "";
    this.calls.setSubtitle(
      h("bdi", {}, shortened(data.metric(metric.node).title, 60)),
      `${rest}, ${this.mode === "absolute" ? unitName(unit) : "%"}`,
    );

    const { call } = this;
    const located = data.locationValues(metric, call);
    this.system.update(
      located,
      call.expanded ? this.callOwn[call.node] : this.callAll[call.node],
      (value, most, selection) => this.shown(value, most, unit, root, selection),
      unit,
    );
    this.describe();
    this.changed();
  }

  private refreshFlat(unit: string, root: number, chosen: number): void {
    const values = new Float64Array(this.data.info.regions.name.length);
    this.callOwn.forEach((value, c) => (values[this.data.info.calls.region[c]] += value));
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    this.flatView.setSelected(this.data.info.calls.region[this.call.node]);
    this.flatView.update({
      show: (r) => this.shown(values[r], largest, unit, root, chosen),
      hidden: (r) => values[r] === 0,
    });
  }

  // In words what is chosen, below the panes.
  private describe(): void {
    const { data, metric, call } = this;
    const info = data.metric(metric.node);
    const parts: HTMLElement[] = [];
    const about = h(
      "div",
      {},
      h("h3", {}, h("bdi", {}, shortened(info.title, 300)), " ", h("code", {}, shortened(info.name, 100))),
    );
    for (const text of [info.description, info.meaning]) if (text) about.append(h("p", {}, shortened(text, 1500)));
    if (info.advice) about.append(h("p", {}, h("b", {}, "What to try: "), shortened(info.advice, 1500)));
    parts.push(about);
    const path = h("ol", { class: "path" });
    for (const c of data.callPath(call.node).slice(-40)) {
      const site = data.source(c);
      path.append(
        h("li", {}, h("bdi", {}, shortened(data.callName(c), 1000)), site ? h("span", { class: "hint" }, site) : null),
      );
    }
    parts.push(h("div", {}, h("h3", {}, "Call path"), path));
    parts.push(this.system.statistics(info.unit, call.expanded && !this.calls.tree.isLeaf(call.node)));
    if (data.difference) {
      const before = sum(data.callValuesBefore(metric));
      const after = sum(data.callValuesAfter(metric));
      about.append(h("p", {}, `Before ${withUnit(before, info.unit)}, after ${withUnit(after, info.unit)}.`));
    }
    if (data.info.values.precision !== "exact" || data.info.values.leftOut > 0) parts.push(this.precision());
    this.details.replaceChildren(...parts);
  }

  private precision(): HTMLElement {
    const { precision, leftOut, rows } = this.data.info.values;
    const step =
      precision === "16 bit"
        ? "1/65,535"
        : precision === "8 bit"
          ? "1/255"
          : "1/65,535 (of less important call paths 1/255)";
    const texts = [
      precision === "exact"
        ? ""
        : `To keep this file small, values of single ${this.data.info.locations > 1 ? "locations" : "processes"} ` +
          `are rounded to ${step} of the largest of their call path; all sums are exact.`,
    ];
    if (leftOut > 0)
      texts.push(`The ${count(leftOut)} smallest of ${plural(rows, "distribution")} over the system are left out.`);
    return h("div", {}, h("h3", {}, "Precision"), h("p", {}, texts.join(" ")));
  }
}
