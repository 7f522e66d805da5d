// The controls that choose which processes the timeline shows, and in which order.
import { h } from "./dom";
import { shortened } from "./format";
import { allRows, type Grouping, type Rows } from "./rows";

export class RowControls {
  readonly element: HTMLElement | null;
  private readonly filter: HTMLInputElement;
  private readonly communicator: HTMLSelectElement;
  private readonly order: HTMLSelectElement;

  constructor(
    private readonly rows: Rows,
    private readonly changed: () => void,
  ) {
    const groups: [Grouping, string][] = [
      ["none", `in order of ${rows.processWord}s`],
      ["waiting", "most waiting first"],
      ["behaviour", "grouped by behaviour"],
    ];
    if (rows.severalNodes) groups.push(["node", "grouped by node"]);
    rows.families.forEach((_, f) => groups.push([`communicators ${f}`, rows.familyWords(f)]));
    const apply = () => this.apply();
    this.order = h(
      "select",
      { "aria-label": "Order of processes", change: apply },
      ...groups.map(([value, text]) => h("option", { value }, text)),
    );
    this.communicator = h(
      "select",
      {
        "aria-label": "Processes of a communicator",
        hidden: rows.communicators.length === 0,
        change: apply,
      },
      h("option", { value: -1 }, "all processes"),
      ...rows.communicators.map(({ words }, c) => h("option", { value: c }, shortened(words, 60))),
    );
    this.filter = h("input", {
      type: "search",
      class: "rows-filter",
      placeholder: `${rows.processWord}s: 0-7, 12`,
      "aria-label": `Processes that are shown: ${rows.processWord}s, or a part of a node's name`,
      input: apply,
    });
    this.element = rows.length < 2
      ? null : h("span", { class: "labelled" }, this.filter, this.communicator, this.order);
  }

  private apply(): boolean {
    const communicator = Number(this.communicator.value);
    const grouping = this.order.value as Grouping;
    const any = this.rows.show({ filter: this.filter.value, communicator, grouping });
    this.filter.setAttribute("aria-invalid", String(!any));
    if (any) this.changed();
    return any;
  }

  // For the page's address.
  place(): string {
    const filter = this.filter.value.trim();
    let text = filter === "" ? "" : `&ranks=${encodeURIComponent(filter)}`;
    if (this.communicator.value !== "-1") text += `&communicator=${this.communicator.value}`;
    if (this.order.value !== "none") text += `&order=${encodeURIComponent(this.order.value)}`;
    return text;
  }
  // The same again; what this page does not have is left out.
  goTo(wanted: URLSearchParams): void {
    const has = (select: HTMLSelectElement, value: string) => [...select.options].some((o) => o.value === value);
    const order = wanted.get("order") ?? allRows.grouping;
    const communicator = wanted.get("communicator") ?? "-1";
    const filter = wanted.get("ranks") ?? "";
    if (filter === this.filter.value && communicator === this.communicator.value && order === this.order.value) return;
    this.filter.value = filter;
    this.communicator.value = has(this.communicator, communicator) ? communicator : "-1";
    this.order.value = has(this.order, order) ? order : allRows.grouping;
    if (this.apply()) return;
    this.filter.value = "";
    this.apply();
  }
}
