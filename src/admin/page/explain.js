/**
 * @import { Answers } from './ask.js'
 * @import { Route } from './routes.js'
 */
import { ask } from './ask.js';
import { badge, byId, element, say } from './element.js';
import { duration } from './numbers.js';

/**
 * @typedef {Answers['explain']} Explanation
 * @typedef {NonNullable<Explanation['upstream']>} UpstreamRequest
 * @typedef {Explanation['steps'][number]} Step
 */

/** @type {Record<Explanation['outcome'] | Step['verdict'], 'good' | 'warn' | 'bad' | 'calm'>} */
const KINDS = { passed: 'good', responded: 'calm', reported: 'warn', refused: 'bad', forwarded: 'good' };

/** @type {Record<Explanation['candidates'][number]['reason'], string>} */
const SKIP_REASONS = {
  'less-specific': 'less specific than',
  'other-method': 'does not allow the method',
  'encoded-slash': 'does not accept an encoded slash',
  'other-reading': 'some servers would read the path as one of',
};

/** The box that asks what becomes of a request, and why. */
export class Explain {
  /** The latest question: an answer to an older one is not shown. */
  #turn = 0;

  constructor() {
    byId('explain-form').addEventListener('submit', (/** @type {Event} */ event) => {
      event.preventDefault();
      void this.#ask();
    });
  }

  /** @param {Route} route of which a request is filled in */
  fill({ methods, path, roles }) {
    byId('explain-method').value = methods[0];
    byId('explain-url').value = path.replace(/\{[^}]*\}/g, '1').replace(/\/\*\*$/, '/1');
    byId('explain-role').value = roles[0] ?? '';
    byId('explain-headers').value = '';
    byId('explain-body').value = '';
    void this.#ask();
  }

  /** @param {Iterable<string>} roles that the manifest speaks of */
  offerRoles(roles) {
    byId('roles').replaceChildren(...[...roles].map((role) => element('option', { value: role })));
  }

  async #ask() {
    this.#turn += 1;
    const turn = this.#turn;
    say(byId('explain-fault'), '');
    try {
      const explanation = await ask('explain', readForm());
      if (turn === this.#turn) byId('explained').replaceChildren(...explained(explanation));
    } catch (error) {
      if (turn === this.#turn) say(byId('explain-fault'), error instanceof Error ? error.message : String(error));
    }
  }
}

function readForm() {
  const [role, body] = [byId('explain-role').value.trim(), byId('explain-body').value];
  return {
    method: byId('explain-method').value,
    url: byId('explain-url').value.trim(),
    headers: readHeaders(byId('explain-headers').value),
    ...(role === '' ? {} : { role }),
    ...(body === '' ? {} : { body }),
  };
}

/** @param {string} text */
function readHeaders(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`"${line}" is no header; write Name: value`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

/** @param {Explanation} explanation as the verb `explain --json` prints it */
function explained({ outcome, refusal, route, steps, candidates, upstream }) {
  return [
    element('p', { class: 'outcome' }, badge(outcome, KINDS[outcome]), ` ${outcomeOf(refusal, route, upstream)}`),
    ...(refusal !== null && refusal.errors.length > 0 ? [faultsOf(refusal.errors)] : []),
    element('ol', { class: 'steps' }, ...steps.map(stepOf)),
    ...(candidates.length > 0 ? [element('h3', {}, 'Other routes that know the path'), candidatesOf(candidates)] : []),
    ...(upstream === null ? [] : [element('h3', {}, 'What the upstream gets'), requestOf(upstream)]),
  ];
}

/**
 * @param {Explanation['refusal']} refusal
 * @param {Explanation['route']} route
 * @param {Explanation['upstream']} upstream
 */
function outcomeOf(refusal, route, upstream) {
  const by = route === null ? 'no route' : `route ${route.id} (${positionOf(route)})`;
  if (refusal !== null) return `${refusal.status} ${refusal.code}, ${by}: ${refusal.detail}`;
  return upstream === null ? by : `to ${upstream.id}, ${by}`;
}

/** @param {NonNullable<Explanation['refusal']>['errors']} errors */
function faultsOf(errors) {
  return element(
    'ul',
    {},
    ...errors.map(({ pointer, message }) =>
      element('li', {}, element('code', {}, pointer || '(all of it)'), ` ${message}`),
    ),
  );
}

/** @param {Step} step */
function stepOf({ step, verdict, message, locations }) {
  const items = locations.map((location) =>
    element('li', {}, `${positionOf(location)} `, element('code', {}, location.pointer)),
  );
  return element(
    'li',
    {},
    badge(verdict, KINDS[verdict]),
    element('b', {}, ` ${step} `),
    message,
    ...(items.length > 0 ? [element('ul', { class: 'hint' }, ...items)] : []),
  );
}

/** @param {Explanation['candidates']} candidates */
function candidatesOf(candidates) {
  return element(
    'ul',
    {},
    ...candidates.map(({ id, path, reason, otherRoute, ...location }) =>
      element(
        'li',
        {},
        `${id} `,
        element('code', {}, path),
        ` (${positionOf(location)}): ${SKIP_REASONS[reason]}${otherRoute === null ? '' : ` ${otherRoute}`}`,
      ),
    ),
  );
}

/** @param {{ file?: string, line: number }} location */
function positionOf({ file, line }) {
  return file === undefined ? `line ${line}` : `${file}, line ${line}`;
}

/** @param {UpstreamRequest} upstream */
function requestOf({ method, url, headers, bodyBytes, endpoints, timeoutsMs }) {
  const head = [`${method} ${url}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  const limits = Object.entries(timeoutsMs).map(([name, ms]) => `${name} ${ms === null ? 'none' : duration(ms)}`);
  const more = [`body: ${bodyBytes} bytes`, `endpoints: ${endpoints.join(', ')}`, `time limits: ${limits.join(', ')}`];
  return element(
    'pre',
    { tabindex: 0, 'aria-label': 'The request to the upstream' },
    [...head, '', ...more].join('\n'),
  );
}
