// The third pane: a value over machines, nodes, processes and threads, as a tree or as a picture of
// the topology.
import { css, diverging, ramp } from "./colour";
import { type Data, type LocationValues, sum } from "./data";
import { choice, h } from "./dom";
import { percent, plural, withUnit } from "./format";
import { Pane } from "./pane";
import { TopologyView } from "./topology";
import { type Shown, type TreeNodes, TreeView } from "./tree";

type Show = (value: number, largest: number, selection: number) => Shown;

export class SystemPane {
  readonly pane: Pane;
  private readonly topology: TopologyView;
  private readonly children: number[][];
  private readonly missing = h(
    "p",
    { class: "missing", hidden: true },
    "This distribution was left out to keep the file small: make the page again with a larger --max-size.",
  );
  private values: LocationValues = { values: new Float64Array(0), complete: false };
  private picture = false;

  constructor(
    private readonly data: Data,
    refresh: () => void,
  ) {
    const { system } = data.info;
    // A process of one thread is shown without that thread.
    this.children = data.system.children.map((below, node) =>
      system.kind[node] === 2 && below.length === 1 ? [] : below,
    );
    const nodes: TreeNodes = {
      size: data.system.size,
      roots: data.system.roots,
      children: this.children,
      parent: data.system.parent,
      label: (n) => data.systemName(n),
    };
    const tree = new TreeView(nodes, { select: refresh, toggle: refresh }, "System");
    this.pane = new Pane("System", tree, nodes, (node) => {
      tree.setSelected(this.children[data.system.parent[node]]?.length === 0 ? data.system.parent[node] : node);
      refresh();
      tree.scrollToSelected();
    });
    for (let n = 0; n < data.system.size; n++)
      if (system.kind[n] < 2 && (system.kind[n] === 0 || data.system.size < 200)) tree.setExpanded(n, true);
    tree.setSelected(data.system.roots[0] ?? -1);
    this.topology = new TopologyView(data);
    this.topology.element.hidden = true;
    this.pane.element.append(this.topology.element, this.missing);
    const views = choice<"tree" | "topology">(
      "Form of the system pane",
      [
        ["tree", "Tree"],
        ["topology", data.info.topologies.length > 0 ? "Topology" : "Grid", "Processes as cells"],
      ],
      "tree",
      (view) => {
        views.show(view);
        this.picture = view === "topology";
        tree.element.hidden = this.picture;
        this.topology.element.hidden = !this.picture;
        refresh();
      },
    );
    this.pane.addTool(views.element);
  }

  get element(): HTMLElement {
    return this.pane.element;
  }

  update(located: LocationValues, selection: number, show: Show, unit: string): void {
    const { data } = this;
    const { tree } = this.pane;
    this.values = located;
    const all = new Float64Array(data.system.size);
    data.info.system.location.forEach((location, node) => {
      if (location >= 0) all[node] = located.values[location];
    });
    data.system.addUp(all);
    // Bars compare nodes of the same level.
    const largest = [0, 0, 0, 0];
    data.info.system.kind.forEach((kind, node) => (largest[kind] = Math.max(largest[kind], Math.abs(all[node]))));
    // Inner nodes have nothing of their own.
    const value = (n: number) => (tree.isExpanded(n) ? 0 : all[n]);
    tree.update({ show: (n) => show(value(n), largest[data.info.system.kind[n]], selection) });
    this.missing.hidden = located.complete || !data.rowsReady;
    this.pane.setSubtitle(data.rowsReady ? "" : "reading\u2026");
    if (this.picture) {
      const most = located.values.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
      this.topology.update(
        located.values,
        (v) => css(data.difference ? diverging(most > 0 ? v / most : 0) : ramp(most > 0 ? v / most : 0)),
        (v) => withUnit(v, unit),
      );
    }
  }

  // What the distribution over locations looks like, in words and as a sorted profile.
  statistics(unit: string, own: boolean): HTMLElement {
    const { values, complete } = this.values;
    const box = h(
      "div",
      { class: "statistics" },
      h("h3", {}, `Over ${plural(values.length, "location")}${own ? ", without callees" : ""}`),
    );
    if (!complete || values.length === 0) return box;
    const sorted = values.slice().sort();
    const mean = sum(values) / values.length;
    const largest = sorted[sorted.length - 1];
    const most = values.indexOf(largest);
    const rows: [string, string][] = [
      ["largest", `${withUnit(largest, unit)} at ${this.data.locationName(most)}`],
      ["mean", withUnit(mean, unit)],
      ["median", withUnit((sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2, unit)],
      ["smallest", withUnit(sorted[0], unit)],
    ];
    if (mean > 0 && !this.data.difference)
      rows.push(["imbalance", `${percent(largest - mean, largest)} % of the largest`]);
    box.append(
      h("table", {}, ...rows.map(([label, text]) => h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, text)))),
    );
    return box;
  }
}
