import { fetchJson, type Responses } from './api.ts';
import { badge, byId, cell, element, rowHead, setText, showFacts, showRows, surrogateMark } from './element.ts';
import { explainHash } from './explain.ts';
import { ago, dateAndTime, integer, NONE, quantity, share, timeOfDay } from './format.ts';
import { problemElements } from './problems.ts';
import { showCounts } from './refusals.ts';
import { routeHash } from './route-columns.ts';

type Candidate = Responses['candidate'];

/** A candidate with other routes may have thousands of changes. */
const MAX_ROWS = 100;

/** The view of the candidate: how its decisions differ from those of the active manifest. */
export class CandidateView {
  /** The rows of the changes by their keys. A row stays the same element, so that a link in it keeps the focus. */
  #rows: Map<string, ReturnType<typeof changeRow>> = new Map();
  #displayedProblems = '';

  /** Shows the link to this view while there is a candidate, and fetches its report while the view is open. */
  async refresh({ candidate: { state } }: Responses['status']) {
    const isOpen = !byId('candidate').hidden;
    byId('candidate-link').hidden = state === 'none' && !isOpen;
    if (isOpen) this.#show(await fetchJson('candidate'));
  }

  #show(candidate: Candidate) {
    const { state, unknown, changed, problems, problem_count } = candidate;
    byId('candidate-none').hidden = state !== 'none';
    byId('candidate-content').hidden = state === 'none';
    showFacts(byId('candidate-facts'), factsOf(candidate));
    showFacts(byId('candidate-counts'), countsOf(candidate));
    const problemsKey = JSON.stringify(problems);
    if (problemsKey !== this.#displayedProblems)
      byId('candidate-problems').replaceChildren(...problemElements(problems, problem_count));
    this.#displayedProblems = problemsKey;
    showCounts('candidate-kinds', changed.kinds, (kind) => [rowHead(kind)]);
    showCounts('candidate-unknown', unknown.reasons, (reason) => [rowHead(reason)]);
    this.#showGroups(changed.groups);
  }

  #showGroups(groups: Candidate['changed']['groups']) {
    const listed = groups.slice(0, MAX_ROWS);
    const rows = listed.map((group) => {
      const key = JSON.stringify([group.kind, group.from, group.to]);
      const row = this.#rows.get(key) ?? changeRow(group);
      row.update(group);
      return [key, row] as const;
    });
    const isSameOrder = [...this.#rows.keys()].join('\n') === rows.map(([key]) => key).join('\n');
    this.#rows = new Map(rows);
    const omitted = groups.length - listed.length;
    setText(byId('candidate-omitted'), omitted === 0 ? '' : `The first ${MAX_ROWS} of ${integer(groups.length)}.`);
    if (isSameOrder && rows.length > 0) return;
    const focused = document.activeElement;
    showRows(
      'candidate-groups',
      rows.map(([, { row }]) => row),
    );
    if (focused instanceof HTMLElement && byId('candidate-groups').contains(focused))
      focused.focus({ preventScroll: true });
  }
}

function factsOf(candidate: Candidate): [string, string][] {
  const { state, source, file, hash, active_hash, since, sample, reason, problem_count } = candidate;
  const from = source === 'file' ? `the file ${file ?? ''}` : 'a request to the admin API';
  const text = {
    none: NONE,
    active: 'compared with the active manifest',
    rejected: 'not compared',
  }[state];
  return [
    ['State', text],
    ['Source', from],
    [
      'Saved file',
      reason ?? (problem_count === 0 ? NONE : `has ${quantity(problem_count, 'problem')} and is not compared`),
    ],
    ['Candidate', hash === null ? NONE : hash.slice(0, 12)],
    ['Active', active_hash.slice(0, 12)],
    ['Since', since === null ? NONE : `${dateAndTime(since)}, ${ago(since, Date.now())}`],
    ['Sample', share(sample, 1)],
  ];
}

function countsOf({ requests, same, changed, unknown, skipped, errors }: Candidate): [string, string][] {
  const count = (value: number) => (value === 0 ? '0' : `${integer(value)} (${share(value, requests)})`);
  return [
    ['Requests', integer(requests)],
    ['Same', count(same)],
    ['Changed', count(changed.total)],
    ['Unknown', count(unknown.total)],
    ['Not compared', integer(skipped.total)],
    ['Errors', integer(errors)],
  ];
}

type Change = Responses['candidate']['changed']['groups'][number];
type Decision = Change['from'];

/** The colours of the kinds. A refusal breaks a client, and an allowed request may be a gap. */
const KINDS: Record<Change['kind'], 'bad' | 'warn'> = {
  'newly-refused': 'bad',
  'newly-allowed': 'bad',
  'other-route': 'warn',
  'other-upstream': 'warn',
  'other-status': 'warn',
  'other-message': 'warn',
};

/** Creates the row of a change, and a function that shows its new numbers and its latest example. */
function changeRow({ kind, from, to }: Change) {
  const [requests, callers] = [cell('number'), cell('number wide-only')];
  const link = element('a');
  const time = element('span', { class: 'hint' });
  const mark = element('span');
  const row = element(
    'tr',
    {},
    cell('', badge(kind, KINDS[kind])),
    rowHead(...routeElements(from, to)),
    cell('wide-only', ...decisionElements(from)),
    cell('', ...decisionElements(to)),
    requests,
    callers,
    cell('long', link, mark, time),
  );
  const update = (change: Change) => {
    setText(requests, integer(change.requests));
    setText(callers, integer(change.callers));
    if (change.witness === null) return;
    const { method, path, keyed, at } = change.witness;
    setText(link, `${method ?? NONE} ${path ?? NONE}`);
    if (method !== null && path !== null) link.setAttribute('href', explainHash(method, path));
    mark.replaceChildren(...(keyed ? [' ', surrogateMark()] : []));
    setText(time, ` ${timeOfDay(at)}`);
  };
  return { row, update };
}

/** Returns the route of the active manifest, which has a page, and the one of the candidate if it is another. */
function routeElements(from: Decision, to: Decision) {
  const active = from.route === null ? NONE : element('a', { href: routeHash(from.route) }, from.route);
  return from.route === to.route ? [active] : [active, ` → ${to.route ?? NONE}`];
}

function decisionElements({ outcome, upstream, status, refusal, reason }: Decision) {
  if (outcome === 'forwarded') return [`forwarded to ${upstream ?? NONE}`];
  const detail = reason === null || reason === refusal ? '' : ` ${reason}`;
  return [
    `${outcome} ${status ?? ''} `,
    element('code', {}, refusal ?? ''),
    element('span', { class: 'hint' }, detail),
  ];
}
