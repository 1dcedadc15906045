import type { Responses } from './api.ts';
import { badge, cell, element, rowHead, setText, surrogateMark } from './element.ts';
import { explainHash } from './explain.ts';
import { integer, NONE, timeOfDay } from './format.ts';
import { routeHash } from './route-columns.ts';

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
export function changeRow({ kind, from, to }: Change) {
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
