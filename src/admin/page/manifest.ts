import { fetchJson, type Responses } from './api.ts';
import { badge, byId, element, setText } from './element.ts';
import { integer, quantity } from './format.ts';
import { yamlLines } from './manifest-lines.ts';
import { severityKind } from './problems.ts';

type Manifest = Responses['manifest'];
type Problem = Manifest['problems'][number];

/** The most different problems in the list above the text, and the most positions of each. All of them are in the text, too. */
const MAX_LISTED = 20;
const MAX_BUTTONS = 5;

/** The view of the manifest: the active one or, if the saved one was rejected, the saved one with its problems in place. */
export class ManifestView {
  #displayed = '';

  /** Fetches the manifest if it has changed since the last call. */
  async refresh({ manifest, last_reload }: Responses['status']) {
    const key = `${manifest.hash} ${last_reload?.at}`;
    if (byId('manifest-view').hidden || key === this.#displayed) return;
    show(await fetchJson('manifest'));
    this.#displayed = key;
  }
}

function show({ state, files, problems, problem_count }: Manifest) {
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

/** Returns the entry of equal problems, which have their indexes. */
function listItem(problems: [number, Problem][]) {
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

function fileElements({ file, text, omitted_lines }: Manifest['files'][number], problems: readonly Problem[]) {
  const notes: Map<number, Node[]> = new Map();
  for (const [index, problem] of problems.entries())
    if (problem.file === file) notes.set(problem.line, [...(notes.get(problem.line) ?? []), noteOf(problem, index)]);
  const lines = yamlLines(text, 1, `Text of ${file}`, (line) => notes.get(line) ?? []);
  const rest = omitted_lines === 0 ? [] : [element('p', { class: 'hint' }, `${integer(omitted_lines)} more lines`)];
  return [element('h2', {}, file), lines, ...rest];
}

function noteOf({ severity, message, rule }: Problem, index: number) {
  return element(
    'span',
    { class: 'note', id: `problem-${index}`, tabindex: -1 },
    badge(severity, severityKind(severity)),
    ` ${message} `,
    element('span', { class: 'hint' }, `[${rule}]`),
  );
}
