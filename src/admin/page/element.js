/**
 * An element. What it shows is put in as text, whatever it is.
 *
 * @param {string} name
 * @param {Record<string, string | number | undefined>} [attributes] those that are `undefined` are left out
 * @param {...(Node | string | number)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * The same, of a drawing.
 *
 * @param {string} name
 * @param {Record<string, string | number | undefined>} [attributes]
 * @param {...(Node | string | number)} children
 * @returns {SVGElement}
 */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

/**
 * The element of the page with this id.
 *
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Says it, where it says something else. Who reads the page aloud is not told the same again.
 *
 * @param {Element} shown
 * @param {string} text
 */
export function say(shown, text) {
  if (shown.textContent !== text) shown.textContent = text;
}

/**
 * @param {string} word
 * @param {'good' | 'warn' | 'bad' | 'calm'} kind
 */
export function badge(word, kind) {
  return element('span', { class: `badge ${kind}` }, word);
}

/**
 * @template {Element} Kind
 * @param {Kind} made
 * @param {Record<string, string | number | undefined>} attributes
 * @param {(Node | string | number)[]} children
 */
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(name, String(value));
  made.append(...children.map((child) => (typeof child === 'number' ? String(child) : child)));
  return made;
}
