/** Attributes of an element. `undefined` values are omitted. */
type Attributes = Record<string, string | number | undefined>;
type Children = (Node | string | number)[];

export type BadgeKind = 'good' | 'warn' | 'bad' | 'calm';

/** Creates an HTML element. Strings become text nodes and are never parsed as markup. */
export function element(name: string, attributes: Attributes = {}, ...children: Children): HTMLElement {
  return fill(document.createElement(name), attributes, children);
}

export function svgElement(name: string, attributes: Attributes, ...children: Children): SVGElement {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

/** Returns the element of the page with this id. */
// biome-ignore lint/suspicious/noExplicitAny: each caller knows the kind of its element in index.html
export function byId(id: string): any {
  return document.getElementById(id);
}

/** Sets the text of an element if it differs, so that screen readers do not announce the same text again. */
export function setText(target: Element, text: string) {
  if (target.textContent !== text) target.textContent = text;
}

export function badge(text: string, kind: BadgeKind) {
  return element('span', { class: `badge ${kind}` }, text);
}

/** Returns a cell of a table with these classes: `number`, `long`, `wide-only`. */
export function cell(classes: string, ...children: Children) {
  return element('td', { class: classes || undefined }, ...children);
}

/** Returns the cell that names its row. */
export function rowHead(...children: (Node | string)[]) {
  return element('th', { scope: 'row' }, ...children);
}

/** Returns the elements of named values in a description list. */
export function factElements(facts: readonly (readonly [name: string, ...values: (Node | string)[]])[]) {
  return facts.map(([name, ...values]) => element('div', {}, element('dt', {}, name), element('dd', {}, ...values)));
}

/** Marks a path with surrogates, and links to their explanation. */
export function surrogateMark() {
  return element('a', { class: 'badge calm', href: '#/surrogates' }, 'surrogates');
}

/** Returns a link to the decisions with this value of a field, of one route if it is named. */
export function decisionsLink(field: 'refusal' | 'upstream' | 'limits', value: string, routeId?: string) {
  return element(
    'a',
    { href: decisionsHash(`${field}:${value}${routeId === undefined ? '' : ` route:${routeId}`}`) },
    value,
  );
}

/** Returns the URL fragment of the decisions that have all words of a filter. */
export function decisionsHash(filter: string) {
  return `#/decisions?${new URLSearchParams({ filter })}`;
}

/** Shows named values in a description list, whose names stay the same. */
export function showFacts(list: HTMLElement, facts: [string, string][]) {
  if (list.childElementCount === 0) list.append(...factElements(facts.map(([name]) => [name])));
  for (const [index, value] of list.querySelectorAll('dd').entries()) setText(value, facts[index]?.[1] ?? '');
}

export function showRows(table: string, rows: HTMLElement[]) {
  const columns = byId(table).querySelectorAll('thead th').length;
  const emptyRow = element('tr', {}, element('td', { colspan: columns, class: 'empty' }, 'None.'));
  byId(table).tBodies[0].replaceChildren(...(rows.length === 0 ? [emptyRow] : rows));
}

function fill<Kind extends Element>(target: Kind, attributes: Attributes, children: Children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) target.setAttribute(name, String(value));
  target.append(...children.map((child) => (typeof child === 'number' ? String(child) : child)));
  return target;
}
