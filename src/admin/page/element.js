/**
 * Creates an HTML element. Strings become text nodes and are never parsed as markup.
 *
 * @param {string} name
 * @param {Record<string, string | number | undefined>} [attributes] `undefined` values are omitted
 * @param {...(Node | string | number)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * Creates an SVG element.
 *
 * @param {string} name
 * @param {Record<string, string | number | undefined>} [attributes]
 * @param {...(Node | string | number)} children
 * @returns {SVGElement}
 */
export function svgElement(name, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

/**
 * Returns the element of the page with this id.
 *
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Sets the text of an element if it differs, so that screen readers do not announce the same text again.
 *
 * @param {Element} target
 * @param {string} text
 */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * @param {string} text
 * @param {'good' | 'warn' | 'bad' | 'calm'} kind
 */
export function badge(text, kind) {
  return element('span', { class: `badge ${kind}` }, text);
}

/**
 * Returns a cell of a table.
 *
 * @param {string} kind its classes: `number`, `long`, `wide-only`
 * @param {...(Node | string | number)} children
 */
export function cell(kind, ...children) {
  return element('td', { class: kind || undefined }, ...children);
}

/**
 * Returns the cell that names its row.
 *
 * @param {...(Node | string)} children
 */
export function rowHead(...children) {
  return element('th', { scope: 'row' }, ...children);
}

/**
 * Returns the elements of named values in a description list.
 *
 * @param {readonly (readonly [name: string, ...values: (Node | string)[]])[]} facts
 */
export function factElements(facts) {
  return facts.map(([name, ...values]) => element('div', {}, element('dt', {}, name), element('dd', {}, ...values)));
}

/** Explains a path with surrogates. */
export const KEYED_TITLE =
  'Surrogates stand in place of identifiers: log.paths. "signing-gateway surrogate" prints that of a real path.';

/**
 * Shows named values in a description list, whose names stay the same.
 *
 * @param {HTMLElement} list
 * @param {[string, string][]} facts
 */
export function showFacts(list, facts) {
  if (list.childElementCount === 0) list.append(...factElements(facts.map(([name]) => [name])));
  for (const [index, value] of list.querySelectorAll('dd').entries()) setText(value, facts[index]?.[1] ?? '');
}

/**
 * Replaces the rows of a table.
 *
 * @param {string} table its id
 * @param {HTMLElement[]} rows
 */
export function showRows(table, rows) {
  const columns = byId(table).querySelectorAll('thead th').length;
  const emptyRow = element('tr', {}, element('td', { colspan: columns, class: 'empty' }, 'None.'));
  byId(table).tBodies[0].replaceChildren(...(rows.length === 0 ? [emptyRow] : rows));
}

/**
 * @template {Element} Kind
 * @param {Kind} target
 * @param {Record<string, string | number | undefined>} attributes
 * @param {(Node | string | number)[]} children
 */
function fill(target, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) target.setAttribute(name, String(value));
  target.append(...children.map((child) => (typeof child === 'number' ? String(child) : child)));
  return target;
}
