// Tabs as the ARIA practices want them: arrows move, one tab stop.
import { element } from "./dom.js";

export interface Tab {
  id: string;
  label: string;
  panel: HTMLElement;
}

export class Tabs {
  private readonly tabs: { button: HTMLButtonElement; tab: Tab }[];

  constructor(list: HTMLElement, panels: HTMLElement, tabs: { id: string; label: string }[]) {
    this.tabs = tabs.map(({ id, label }) => {
      const button = element(
        "button",
        { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` },
        label,
      );
      const panel = element("section", {
        role: "tabpanel",
        id: `panel-${id}`,
        "aria-labelledby": `tab-${id}`,
        tabindex: "0",
      });
      button.addEventListener("click", () => this.show(id));
      button.addEventListener("keydown", (event) => this.move(event, id));
      list.append(button);
      panels.append(panel);
      return { button, tab: { id, label, panel } };
    });
    this.show(tabs[0].id);
  }

  panel(id: string): HTMLElement {
    const found = this.tabs.find(({ tab }) => tab.id === id);
    if (!found) throw new Error(`no tab ${id}`);
    return found.tab.panel;
  }

  show(id: string): void {
    for (const { button, tab } of this.tabs) {
      const selected = tab.id === id;
      button.setAttribute("aria-selected", String(selected));
      button.tabIndex = selected ? 0 : -1;
      tab.panel.hidden = !selected;
    }
  }

  // A document instead: all panels below one another, under their names.
  unfold(): void {
    for (const { button, tab } of this.tabs) {
      tab.panel.hidden = false;
      tab.panel.setAttribute("role", "region");
      tab.panel.prepend(element("h2", { class: "section" }, tab.label));
      tab.panel.tabIndex = -1;
      button.remove();
    }
  }

  private move(event: KeyboardEvent, id: string): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.tabs.findIndex(({ tab }) => tab.id === id);
    const next = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
    this.show(next.tab.id);
    next.button.focus();
  }
}
