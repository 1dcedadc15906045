import type { Responses } from './api.ts';
import { fetchJson } from './api.ts';
import { changeRow } from './change-rows.ts';
import { byId, rowHead, setText, showFacts, showRows } from './element.ts';
import { ago, dateAndTime, integer, NONE, quantity, share } from './format.ts';
import { problemElements } from './problems.ts';
import { showCounts } from './refusals.ts';

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
