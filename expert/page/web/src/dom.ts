// Making elements. Text from reports only ever becomes text nodes and attribute values.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

// Names keep their own direction of writing, whatever characters they hold.
export function name(text: string, className = "name"): HTMLElement {
  return h("bdi", { class: className }, text);
}

export function replace(parent: Element, ...children: (Node | string)[]): void {
  parent.replaceChildren(...children);
}

export function must<T extends Element>(parent: ParentNode, selector: string): T {
  const found = parent.querySelector<T>(selector);
  if (found === null) throw new Error(`no element ${selector}`);
  return found;
}

// Buttons of which one is pressed. Returns the group and a function that shows the choice.
export function choice<T extends string>(
  label: string,
  options: [T, string, string?][],
  chosen: T,
  choose: (value: T) => void,
): { element: HTMLElement; show: (value: T) => void } {
  const buttons = options.map(([value, text, title]) =>
    h(
      "button",
      {
        type: "button",
        "data-value": value,
        title,
        "aria-pressed": String(value === chosen),
        click: () => choose(value),
      },
      text,
    ),
  );
  const show = (value: T) => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.value === value)));
  return { element: h("div", { class: "choice", role: "group", "aria-label": label }, buttons), show };
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    (target instanceof HTMLInputElement && target.type !== "checkbox") ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  );
}
