/** @import { Responses } from './api.js' */
import { fetchJson } from './api.js';
import { badge, byId, element, setText } from './element.js';
import { integer, quantity } from './format.js';
import { yamlLines } from './manifest-lines.js';
import { severityKind } from './problems.js';

/**
 * @typedef {Responses['manifest']} Manifest
 * @typedef {Manifest['problems'][number]} Problem
 */

/** The most different problems in the list above the text, and the most positions of each. All of them are in the text, too. */
const MAX_LISTED = 20;
const MAX_BUTTONS = 5;

/** The view of the manifest: the active one or, if the saved one was rejected, the saved one with its problems in place. */
export class ManifestView {
  #displayed = '';

  /**
   * Fetches the manifest if it has changed since the last call.
   *
   * @param {Responses['status']} status
   */
  async refresh({ manifest, last_reload }) {
    const key = `${manifest.hash} ${last_reload?.at}`;
    if (byId('manifest-view').hidden || key === this.#displayed) return;
    show(await fetchJson('manifest'));
    this.#displayed = key;
  }
}

/** @param {Manifest} manifest */
function show({ state, files, problems, problem_count }) {
  const count = quantity(problem_count, 'problem');
  setText(
    byId('manifest-state'),
    state === 'active' ? `The active manifest. ${count}.` : `The saved manifest, which was rejected. ${count}.`,
  );
  const groups = [...Map.groupBy(problems.entries(), ([, problem]) => `${problem.rule} ${problem.message}`).values()];
  const items = groups.slice(0, MAX_LISTED).map(listItem);
  if (groups.length > items.length) items.push(element('li', {}, 'and more, in the text below'));
  byId('manifest-problems').replaceChildren(...items);
  byId('manifest-files').replaceChildren(...files.flatMap((file) => fileElements(file, problems)));
}

/** @param {[number, Problem][]} problems equal ones, with their indexes */
function listItem(problems) {
  const buttons = problems.slice(0, MAX_BUTTONS).flatMap(([index, { file, line, column }]) => {
    const button = element('button', { type: 'button', class: 'plain' }, `${file}:${line}:${column}`);
    button.addEventListener('click', () => {
      const note = byId(`problem-${index}`);
      note?.scrollIntoView({ block: 'center' });
      note?.focus({ preventScroll: true });
    });
    return [button, ' '];
  });
  const rest = problems.length - MAX_BUTTONS;
  return element('li', {}, `${problems[0]?.[1].message} `, ...buttons, rest > 0 ? `and ${integer(rest)} more` : '');
}

/**
 * @param {Manifest['files'][number]} file
 * @param {readonly Problem[]} problems
 */
function fileElements({ file, text, omitted_lines }, problems) {
  /** @type {Map<number, Node[]>} */
  const notes = new Map();
  for (const [index, problem] of problems.entries())
    if (problem.file === file) notes.set(problem.line, [...(notes.get(problem.line) ?? []), noteOf(problem, index)]);
  const lines = yamlLines(text, 1, `Text of ${file}`, (line) => notes.get(line) ?? []);
  const rest = omitted_lines === 0 ? [] : [element('p', { class: 'hint' }, `${integer(omitted_lines)} more lines`)];
  return [element('h2', {}, file), lines, ...rest];
}

/**
 * @param {Problem} problem
 * @param {number} index
 */
function noteOf({ severity, message, rule }, index) {
  return element(
    'span',
    { class: 'note', id: `problem-${index}`, tabindex: -1 },
    badge(severity, severityKind(severity)),
    ` ${message} `,
    element('span', { class: 'hint' }, `[${rule}]`),
  );
}
