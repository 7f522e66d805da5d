// Light, dark, or as the system has it.
import { h } from "./dom";

type Theme = "auto" | "light" | "dark";
const symbols: Record<Theme, string> = { auto: "\u25d0", light: "\u2600", dark: "\u263e" };

function tell(): void {
  dispatchEvent(new Event("kojak-theme"));
}

export function themeButton(): HTMLElement {
  let theme: Theme = "auto";
  const button = h("button", {
    type: "button",
    class: "small",
    id: "theme",
    click: () => {
      theme = theme === "auto" ? "light" : theme === "light" ? "dark" : "auto";
      apply();
    },
  });
  const apply = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = symbols[theme];
    button.title = `Colours: ${theme === "auto" ? "as the system" : theme}`;
    button.setAttribute("aria-label", button.title);
    tell();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  apply();
  return button;
}
