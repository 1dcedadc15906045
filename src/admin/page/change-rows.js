/** @import { Responses } from './api.js' */
import { badge, cell, element, KEYED_TITLE, rowHead, setText } from './element.js';
import { explainHash } from './explain.js';
import { integer, NONE, timeOfDay } from './format.js';
import { routeHash } from './route-columns.js';

/**
 * @typedef {Responses['candidate']['changed']['groups'][number]} Change
 * @typedef {Change['from']} Decision
 */

/**
 * The colours of the kinds. A refusal breaks a client, and an allowed request may be a gap.
 *
 * @type {Record<Change['kind'], 'bad' | 'warn'>}
 */
const KINDS = {
  'newly-refused': 'bad',
  'newly-allowed': 'bad',
  'other-route': 'warn',
  'other-upstream': 'warn',
  'other-status': 'warn',
  'other-message': 'warn',
};

/**
 * Creates the row of a change, and a function that shows its new numbers and its latest example.
 *
 * @param {Change} change
 */
export function changeRow({ kind, from, to }) {
  const [requests, callers] = [cell('number'), cell('number wide-only')];
  const link = element('a');
  const time = element('span', { class: 'hint' });
  const row = element(
    'tr',
    {},
    cell('', badge(kind, KINDS[kind])),
    rowHead(...routeElements(from, to)),
    cell('wide-only', ...decisionElements(from)),
    cell('', ...decisionElements(to)),
    requests,
    callers,
    cell('long', link, time),
  );
  const update = (/** @type {Change} */ change) => {
    setText(requests, integer(change.requests));
    setText(callers, integer(change.callers));
    if (change.witness === null) return;
    const { method, path, keyed, at } = change.witness;
    setText(link, `${method ?? NONE} ${path ?? NONE}`);
    if (method !== null && path !== null) link.setAttribute('href', explainHash(method, path));
    setText(time, `${keyed ? ' keyed' : ''} ${timeOfDay(at)}`);
    time.title = keyed ? KEYED_TITLE : '';
  };
  return { row, update };
}

/**
 * Returns the route of the active manifest, which has a page, and the one of the candidate if it is another.
 *
 * @param {Decision} from
 * @param {Decision} to
 */
function routeElements(from, to) {
  const active = from.route === null ? NONE : element('a', { href: routeHash(from.route) }, from.route);
  return from.route === to.route ? [active] : [active, ` → ${to.route ?? NONE}`];
}

/** @param {Decision} decision */
function decisionElements({ outcome, upstream, status, refusal, reason }) {
  if (outcome === 'forwarded') return [`forwarded to ${upstream ?? NONE}`];
  const detail = reason === null || reason === refusal ? '' : ` ${reason}`;
  return [
    `${outcome} ${status ?? ''} `,
    element('code', {}, refusal ?? ''),
    element('span', { class: 'hint' }, detail),
  ];
}
