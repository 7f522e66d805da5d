// A pane: a heading with search and sorting, and the tree below it.
import { choice, h } from "./dom";
import { plural } from "./format";
import { type Order, TreeView } from "./tree";

export interface Content {
  tree: TreeView;
  labels: { size: number; label(node: number): string; hint?(node: number): string };
  choose(node: number): void;
}

export class Pane {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  private readonly subtitle = h("span", { class: "subtitle" });
  private readonly found = h("span", { class: "found", role: "status" });
  private readonly extra = h("span", { class: "extra" });
  private matches: number[] = [];
  private at = -1;
  private content: Content;
  private readonly sorting;

  constructor(
    title: string,
    readonly tree: TreeView,
    labels: Content["labels"],
    choose: (node: number) => void,
  ) {
    this.content = { tree, labels, choose };
    this.search = h("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": `Search in ${title.toLowerCase()}`,
      input: () => this.find(),
      keydown: (e: KeyboardEvent) => {
        if (e.key === "Enter") this.next(e.shiftKey ? -1 : 1);
        else if (e.key === "Escape") {
          this.search.value = "";
          this.find();
          this.focus();
        } else return;
        e.preventDefault();
        e.stopPropagation();
      },
    });
    const orders: [Order, string, string][] = [
      ["tree", "\u2195", "In the order of the report"],
      ["value", "\u2193", "Largest value first"],
      ["name", "A", "By name"],
    ];
    this.sorting = choice<Order>(`Sort ${title.toLowerCase()}`, orders, "tree", (order) => {
      this.sorting.show(order);
      this.content.tree.update({ order });
    });
    const button = (text: string, hint: string, open: boolean) =>
      h(
        "button",
        {
          type: "button",
          class: "small",
          title: hint,
          "aria-label": `${hint}: ${title.toLowerCase()}`,
          click: () => this.content.tree.expandAll(open),
        },
        text,
      );
    this.element = h(
      "section",
      { class: "pane", "aria-label": title },
      h(
        "header",
        {},
        h("div", { class: "pane-title" }, h("h2", {}, title), this.subtitle, this.extra),
        h(
          "div",
          { class: "pane-tools" },
          this.search,
          this.found,
          this.sorting.element,
          button("+", "Expand all", true),
          button("\u2212", "Collapse all", false),
        ),
      ),
      tree.element,
    );
  }

  // Which of several trees the pane's tools work on.
  use(content: Content): void {
    this.content.tree.update({ matches: new Set() });
    this.content = content;
    this.sorting.show(content.tree.sorting);
    this.find();
  }
  focus(): void {
    this.content.tree.element.focus();
  }

  setSubtitle(...content: (Node | string)[]): void {
    this.subtitle.replaceChildren(...content);
  }
  addTool(element: HTMLElement): void {
    this.extra.append(element);
  }

  private find(): void {
    const { tree, labels } = this.content;
    const wanted = this.search.value.trim().toLowerCase();
    this.matches = [];
    this.at = -1;
    if (wanted !== "") {
      for (let node = 0; node < labels.size; node++) {
        const text = `${labels.label(node)} ${labels.hint?.(node) ?? ""}`;
        if (text.toLowerCase().includes(wanted)) this.matches.push(node);
      }
    }
    tree.update({ matches: new Set(this.matches) });
    this.tell(wanted);
  }

  private next(step: number): void {
    if (this.matches.length === 0) return;
    this.at = (this.at + step + this.matches.length) % this.matches.length;
    this.content.choose(this.matches[this.at]);
    this.tell(" ");
  }

  private tell(wanted: string): void {
    if (wanted === "") this.found.textContent = "";
    else if (this.matches.length === 0) this.found.textContent = "none";
    else
      this.found.textContent =
        this.at < 0 ? plural(this.matches.length, "match", "matches") : `${this.at + 1}/${this.matches.length}`;
  }
}
