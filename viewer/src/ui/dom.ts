// Elements in one line.

type Attributes = Record<string, string>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function byId(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

export function icon(path: string): SVGSVGElement {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(namespace, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

export function iconButton(label: string, key: string, path: string, action: () => void): HTMLButtonElement {
  const button = element("button", { type: "button", class: "icon", "aria-label": label, title: `${label} (${key})` });
  button.append(icon(path));
  button.addEventListener("click", action);
  return button;
}

export function select(
  label: string,
  options: [value: string, text: string][],
  action: (value: string) => void,
): HTMLSelectElement {
  const node = element("select", { "aria-label": label, title: label });
  for (const [value, text] of options) node.append(new Option(text, value));
  node.addEventListener("change", () => action(node.value));
  return node;
}
