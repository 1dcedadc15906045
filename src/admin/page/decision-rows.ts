import type { StreamEvent } from './api.ts';
import { badge, cell, decisionsLink, element, factElements, surrogateMark } from './element.ts';
import { explainHash } from './explain.ts';
import { duration, integer, NONE, timeOfDay } from './format.ts';
import { routeHash } from './route-columns.ts';

export type DecisionEvent = Extract<StreamEvent, { name: 'decision' }>['data'];

/** The number of columns in the table of decisions. */
const COLUMNS = 9;
let lastNumber = 0;

/** Returns the rows of a decision: a summary with a button, and the details, which the button opens. */
export function decisionRows(decision: DecisionEvent) {
  lastNumber += 1;
  const detailsId = `decision-${lastNumber}`;
  const body = element('td', { colspan: COLUMNS });
  const details = element('tr', { id: detailsId, class: 'details', hidden: '' }, body);
  const time = element('time', { datetime: new Date(decision.at).toISOString() }, timeOfDay(decision.at));
  const button = element(
    'button',
    { type: 'button', class: 'plain', 'aria-expanded': 'false', 'aria-controls': detailsId },
    time,
  );
  button.addEventListener('click', () => {
    if (body.childElementCount === 0) body.append(...detailsOf(decision));
    details.hidden = !details.hidden;
    button.setAttribute('aria-expanded', String(!details.hidden));
  });
  return [summaryRow(decision, button), details];
}

function summaryRow(decision: DecisionEvent, button: HTMLElement) {
  const { id, method, path, refused_path, keyed, route, status, refusal, reason, client, ms } = decision;
  const detail = reason === null || reason === refusal ? '' : ` ${reason}`;
  const refusalText = [element('code', {}, refusal ?? ''), element('span', { class: 'hint' }, detail)];
  return element(
    'tr',
    { class: 'summary-row' },
    cell('', button),
    cell('', method ?? NONE),
    cell('long', codeOf(path ?? refused_path), ...(keyed ? [' ', surrogateMark()] : [])),
    cell('wide-only', route ?? NONE),
    cell('number', status === null ? badge('disconnected', 'calm') : badge(String(status), kindOf(status))),
    cell('number wide-only', duration(ms)),
    cell('long wide-only', ...(refusal === null ? [NONE] : refusalText)),
    cell('wide-only', codeOf(client)),
    cell('wide-only', element('code', { title: id }, id.slice(0, 8))),
  );
}

function detailsOf(decision: DecisionEvent) {
  const { id, method, path, route, refusal, reason, limits, pointers, upstream, retries, subject } = decision;
  const facts: [string, ...(Node | string)[]][] = [
    ['Route', route === null ? NONE : element('a', { href: routeHash(route) }, route)],
    ['Refusal', refusal === null ? NONE : element('code', {}, decisionsLink('refusal', refusal))],
    ['Reason', codeOf(reason)],
    ['Rate limits', ...(limits.length === 0 ? [NONE] : limits.flatMap((id) => [decisionsLink('limits', id), ' ']))],
    ['Violations', ...(pointers.length === 0 ? [NONE] : pointers.flatMap(pointerElements))],
    [
      'Upstream',
      upstream === null ? 'not forwarded' : decisionsLink('upstream', upstream),
      retries === 0 ? '' : `; sent again: ${integer(retries)}`,
    ],
    ['Timings', timingsOf(decision)],
    ['Subject', codeOf(subject)],
    ['Request id', element('code', {}, id)],
  ];
  const list = element('dl', { class: 'facts' }, ...factElements(facts));
  if (method === null || path === null) return [list];
  const link = element('a', { href: explainHash(method, path) }, 'Explain this request');
  return [
    list,
    element('p', {}, link, element('span', { class: 'hint' }, ' without its token, headers, query and body')),
  ];
}

function timingsOf({ ms, gateway_ms, upstream_ms }: DecisionEvent) {
  const parts = [`total ${duration(ms)}`];
  if (gateway_ms !== null) parts.push(`gateway ${duration(gateway_ms)}`);
  if (upstream_ms !== null) parts.push(`upstream ${duration(upstream_ms)}`);
  return parts.join(', ');
}

function pointerElements(pointer: string) {
  return [element('code', {}, pointer || '(complete value)'), ' '];
}

function codeOf(text: string | null) {
  return text === null ? NONE : element('code', {}, text);
}

function kindOf(status: number) {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}
