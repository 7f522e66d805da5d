// A tree that stays fast with thousands of nodes: only the rows in sight are elements.
//
// Keyboard as in the ARIA tree pattern: up, down, page, home, end choose; right expands or goes to
// the first child, left collapses or goes to the parent; * expands all, Enter toggles.
import { h, name } from "./dom";
import { shortened } from "./format";

export type Order = "tree" | "value" | "name";

export interface TreeNodes {
  size: number;
  roots: readonly number[];
  children: readonly number[][];
  parent: ArrayLike<number>;
  label(node: number): string;
  // A dim addition behind the name: a place in the source, a unit.
  hint?(node: number): string;
}

// What a row shows for its value, set by the owner.
export interface Shown {
  text: string;
  part: number; // of the bar, -1 to 1
  colour: string;
  weight: number; // what rows are sorted by
}

export interface TreeEvents {
  select(node: number): void;
  toggle(node: number, expanded: boolean): void;
}

const rowHeight = 24;
const margin = 8; // rows drawn above and below what is in sight
let trees = 0;

export class TreeView {
  readonly element: HTMLElement;
  private readonly space: HTMLElement;
  private readonly prefix = `tree${trees++}`;
  private readonly expanded: Uint8Array;
  private rows: number[] = [];
  private depths: number[] = [];
  private places: [number, number][] = []; // position among siblings, number of siblings
  private rowOf = new Map<number, number>();
  private chosen = -1;
  private order: Order = "tree";
  private hidden: (node: number) => boolean = () => false;
  private matches = new Set<number>();
  private show: (node: number) => Shown = () => ({ text: "", part: 0, colour: "transparent", weight: 0 });

  constructor(
    private readonly nodes: TreeNodes,
    private readonly events: TreeEvents,
    label: string,
  ) {
    this.expanded = new Uint8Array(nodes.size);
    this.space = h("div", { class: "tree-space", role: "presentation" });
    this.element = h(
      "div",
      {
        class: "tree",
        role: "tree",
        tabindex: 0,
        "aria-label": label,
        keydown: (e: KeyboardEvent) => this.key(e),
        scroll: () => this.draw(),
      },
      this.space,
    );
    this.element.addEventListener("click", (e) => this.click(e));
    this.element.addEventListener("dblclick", (e) => {
      const node = this.nodeAt(e);
      if (node >= 0 && !(e.target as Element).closest(".twisty")) this.toggle(node);
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  get selected(): number {
    return this.chosen;
  }
  get sorting(): Order {
    return this.order;
  }
  isExpanded(node: number): boolean {
    return this.expanded[node] !== 0;
  }
  isLeaf(node: number): boolean {
    return this.nodes.children[node].length === 0;
  }

  // Everything that decides what rows show; redraws.
  update(
    change: {
      show?: (node: number) => Shown;
      hidden?: (node: number) => boolean;
      order?: Order;
      matches?: Set<number>;
    } = {},
  ): void {
    if (change.show !== undefined) this.show = change.show;
    if (change.hidden !== undefined) this.hidden = change.hidden;
    if (change.order !== undefined) this.order = change.order;
    if (change.matches !== undefined) this.matches = change.matches;
    this.layout();
    this.draw();
  }

  // Without telling the owner.
  setExpanded(node: number, open: boolean): void {
    this.expanded[node] = open && !this.isLeaf(node) ? 1 : 0;
  }
  setSelected(node: number): void {
    this.chosen = node;
    for (let above = node >= 0 ? this.nodes.parent[node] : -1; above >= 0; above = this.nodes.parent[above])
      this.expanded[above] = 1;
  }
  scrollToSelected(): void {
    const row = this.rowOf.get(this.chosen);
    if (row === undefined) return;
    const top = row * rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + rowHeight - clientHeight + 4;
  }
  expandAll(open: boolean): void {
    for (let node = 0; node < this.nodes.size; node++) this.setExpanded(node, open);
    this.events.toggle(-1, open);
  }

  private layout(): void {
    this.rows = [];
    this.depths = [];
    this.places = [];
    this.rowOf.clear();
    const sorted = (siblings: readonly number[]): number[] => {
      const seen = siblings.filter((node) => !this.hidden(node));
      if (this.order === "value") {
        const weight = new Map(seen.map((node) => [node, Math.abs(this.show(node).weight)]));
        seen.sort((a, b) => weight.get(b)! - weight.get(a)! || a - b);
      } else if (this.order === "name") {
        seen.sort(
          (a, b) => this.nodes.label(a).localeCompare(this.nodes.label(b), undefined, { numeric: true }) || a - b,
        );
      }
      return seen;
    };
    // A stack of lists and not recursion: call trees can be thousands deep.
    const open: { list: number[]; at: number }[] = [{ list: sorted(this.nodes.roots), at: 0 }];
    while (open.length > 0) {
      const top = open[open.length - 1];
      if (top.at === top.list.length) {
        open.pop();
        continue;
      }
      const node = top.list[top.at++];
      this.rowOf.set(node, this.rows.length);
      this.rows.push(node);
      this.depths.push(open.length - 1);
      this.places.push([top.at, top.list.length]);
      if (this.expanded[node]) open.push({ list: sorted(this.nodes.children[node]), at: 0 });
    }
  }

  private draw(): void {
    // On paper nothing can be scrolled to.
    const all = document.documentElement.dataset.printing !== undefined;
    const { scrollTop, clientHeight } = this.element;
    const from = all ? 0 : Math.max(0, Math.floor(scrollTop / rowHeight) - margin);
    const to = all
      ? Math.min(this.rows.length, 400)
      : Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / rowHeight) + margin);
    this.space.style.height = `${(all ? to : this.rows.length) * rowHeight}px`;
    this.element.dataset.left = all && to < this.rows.length ? `${this.rows.length - to} more rows` : "";
    const elements: HTMLElement[] = [];
    for (let row = from; row < to; row++) elements.push(this.rowElement(row));
    this.space.replaceChildren(...elements);
    if (this.chosen >= 0 && this.rowOf.has(this.chosen))
      this.element.setAttribute("aria-activedescendant", `${this.prefix}-${this.chosen}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  private rowElement(row: number): HTMLElement {
    const node = this.rows[row];
    const shown = this.show(node);
    const leaf = this.isLeaf(node);
    const label = this.nodes.label(node);
    const hint = this.nodes.hint?.(node) ?? "";
    const bar = h("span", { class: shown.part < 0 ? "bar less" : "bar" }, h("i"));
    const fill = bar.firstElementChild as HTMLElement;
    fill.style.width = `${Math.min(1, Math.abs(shown.part)) * 100}%`;
    fill.style.background = shown.colour;
    const twisty = h(
      "span",
      { class: leaf ? "twisty none" : "twisty" },
      leaf ? "" : this.expanded[node] ? "\u25be" : "\u25b8",
    );
    // Very deep trees would push names out of sight.
    twisty.style.marginLeft = `${Math.min(this.depths[row], 24) * 14}px`;
    const element = h(
      "div",
      {
        class:
          "row" +
          (node === this.chosen ? " chosen" : "") +
          (this.matches.has(node) ? " match" : "") +
          (shown.weight === 0 ? " zero" : ""),
        role: "treeitem",
        id: `${this.prefix}-${node}`,
        "data-node": node,
        "aria-level": this.depths[row] + 1,
        "aria-posinset": this.places[row][0],
        "aria-setsize": this.places[row][1],
        "aria-selected": String(node === this.chosen),
        "aria-expanded": leaf ? null : String(this.expanded[node] !== 0),
        "aria-label": shortened(`${label} ${hint} ${shown.text}`, 300),
        title: shortened(hint === "" ? label : `${label}  ${hint}`, 600),
      },
      h("span", { class: "value" }, shown.text),
      bar,
      twisty,
      name(shortened(label, 400)),
      hint === "" ? null : h("bdi", { class: "hint" }, shortened(hint, 100)),
    );
    element.style.top = `${row * rowHeight}px`;
    return element;
  }

  private nodeAt(event: Event): number {
    const row = (event.target as Element).closest<HTMLElement>(".row");
    return row === null ? -1 : Number(row.dataset.node);
  }

  private click(event: Event): void {
    const node = this.nodeAt(event);
    if (node < 0) return;
    if ((event.target as Element).closest(".twisty") && !this.isLeaf(node)) this.toggle(node);
    else this.choose(node);
  }

  private choose(node: number): void {
    this.setSelected(node);
    this.events.select(node);
    this.scrollToSelected();
  }

  private toggle(node: number): void {
    if (this.isLeaf(node)) return;
    const open = !this.expanded[node];
    this.setExpanded(node, open);
    // What is chosen must stay in sight: a collapsed node takes the choice of what it hides.
    for (let above = this.chosen; !open && above >= 0; above = this.nodes.parent[above])
      if (above === node) this.chosen = node;
    this.events.toggle(node, open);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.rowOf.get(this.chosen) ?? -1;
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 1);
    const go = (to: number) => {
      if (this.rows.length > 0) this.choose(this.rows[Math.min(this.rows.length - 1, Math.max(0, to))]);
    };
    const node = this.chosen;
    switch (event.key) {
      case "ArrowDown":
        go(row + 1);
        break;
      case "ArrowUp":
        go(row - 1);
        break;
      case "PageDown":
        go(row + page);
        break;
      case "PageUp":
        go(row - page);
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(this.rows.length - 1);
        break;
      case "ArrowRight":
        if (node >= 0 && !this.isLeaf(node)) {
          if (!this.expanded[node]) this.toggle(node);
          else go(row + 1);
        }
        break;
      case "ArrowLeft":
        if (node >= 0 && this.expanded[node]) this.toggle(node);
        else if (node >= 0 && this.nodes.parent[node] >= 0) this.choose(this.nodes.parent[node]);
        break;
      case "Enter":
      case " ":
        if (node >= 0) this.toggle(node);
        break;
      case "*":
        this.expandAll(true);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
