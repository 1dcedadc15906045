/** @import { Answers } from './ask.js' */
import { badge, byId, element, say } from './element.js';
import { ago, counted, dated, duration, NONE, short, whole } from './numbers.js';
import { Plot } from './plot.js';

/**
 * @typedef {Answers['status']['last_reload']} Reload
 * @typedef {Answers['history']['moments']} Moments
 */

const TOLD_PROBLEMS = 20;

/** How the gateway is: what the operators look at first. */
export class Overview {
  #rate = new Plot(byId('plot-rate'), short);
  #latency = new Plot(byId('plot-latency'), duration);
  #refusals = new Plot(byId('plot-refusals'), short);
  #tiles = {
    rate: tileOf('Requests a second'),
    latency: tileOf('Latency p95'),
    failed: tileOf('Answered 5xx'),
    refused: tileOf('Refused'),
    inFlight: tileOf('In flight'),
    connections: tileOf('Connections'),
  };
  /** @type {string | undefined} */
  #shownReload;

  /** @param {Answers['status']} status */
  showStatus(status) {
    const now = Date.now();
    const { manifest, tokens } = status;
    showFacts(byId('manifest'), [
      ['State', status.why.length === 0 ? status.status : `${status.status}: ${status.why.join('; ')}`],
      ['In force', `${manifest.hash.slice(0, 12)}, ${counted(manifest.routes, 'route')}`],
      ['Taken over', `${dated(manifest.loaded_at)}, ${ago(manifest.loaded_at, now)}`],
      ['Process began', `${dated(status.started_at)}, ${ago(status.started_at, now)}`],
      ['Last save', reloadOf(status.last_reload)],
      ['Needs a restart', status.needs_restart.join(', ') || 'nothing'],
      ['Losses', lossesOf(status)],
      ['Token keys', tokens === null ? 'no route asks for a token' : keysOf(tokens)],
    ]);
    this.#showProblems(status.last_reload);
    showUpstreams(status.upstreams);
  }

  /** @param {Answers['traffic']} traffic */
  showTraffic({ seconds, routes, in_flight, connections, tunnels }) {
    const requests = sumOf(routes.map((route) => route.requests));
    const failed = sumOf(routes.map((route) => route.server_errors));
    say(this.#tiles.rate, seconds === 0 ? NONE : short(requests / seconds));
    say(this.#tiles.failed, requests === 0 ? NONE : `${short((100 * failed) / requests)} %`);
    say(this.#tiles.inFlight, whole(in_flight));
    say(
      this.#tiles.connections,
      tunnels === 0 ? whole(connections) : `${whole(connections)}, ${whole(tunnels)} of them tunnels`,
    );
  }

  /** @param {Moments} moments */
  showHistory(moments) {
    const times = moments.map(({ at }) => new Date(at).getTime());
    const rate = (/** @type {(moment: Moments[number]) => number} */ count) =>
      moments.map((moment) => (moment.seconds === 0 ? 0 : count(moment) / moment.seconds));
    const refused = rate(({ refusals }) => sumOf(Object.values(refusals)));
    this.#rate.show({ times, lines: [{ name: 'all', values: rate(({ requests }) => requests) }] });
    this.#latency.show({
      times,
      lines: [
        { name: 'p50', values: moments.map(({ p50_ms }) => p50_ms) },
        { name: 'p95', values: moments.map(({ p95_ms }) => p95_ms) },
        { name: 'p99', values: moments.map(({ p99_ms }) => p99_ms) },
      ],
    });
    this.#refusals.show({
      times,
      lines: [
        { name: 'refused', values: refused },
        { name: '5xx', values: rate(({ server_errors }) => server_errors) },
      ],
    });
    say(this.#tiles.latency, duration(moments.at(-1)?.p95_ms));
    say(this.#tiles.refused, moments.length === 0 ? NONE : `${short(refused.at(-1) ?? 0)} a second`);
    showRefusals(moments);
  }

  /** @param {Reload} reload */
  #showProblems(reload) {
    if (reload?.at === this.#shownReload) return;
    this.#shownReload = reload?.at;
    const { problems, problem_count } = reload?.kind === 'rejected' ? reload : { problems: [], problem_count: 0 };
    const shown = problems.slice(0, TOLD_PROBLEMS).map((problem) => {
      const { file, line, column, severity, message, rule, frame } = problem;
      const kind = severity === 'error' ? 'bad' : severity === 'warning' ? 'warn' : 'calm';
      return element(
        'article',
        { class: 'problem' },
        element(
          'p',
          {},
          badge(severity, kind),
          ' ',
          element('code', {}, `${file}:${line}:${column}`),
          ` ${message} `,
          element('span', { class: 'hint' }, `[${rule}]`),
        ),
        element('pre', { tabindex: 0, 'aria-label': `The lines around ${line}:${column}` }, frame),
      );
    });
    const more = problem_count - shown.length;
    if (more > 0)
      shown.push(element('p', { class: 'hint' }, `and ${whole(more)} more; signing-gateway lint tells them all`));
    byId('problems').replaceChildren(...shown);
  }
}

/** @param {Reload} reload */
export function reloadOf(reload) {
  if (reload === null) return 'none since the process began';
  const when = dated(reload.at);
  if (reload.kind === 'unreadable') return `cannot be read (${when}): ${reload.reason}`;
  if (reload.kind === 'rejected') return `refused (${when}); the last good one stays in force`;
  return `taken over (${when}): ${reload.summary}`;
}

/** @param {Answers['status']} status */
function lossesOf({ streams: { stdout: log }, file_descriptors, client_connections, watch_error, admin }) {
  const losses = [
    log.error === null ? '' : `the log cannot be written: ${log.error}`,
    log.dropped_lines === 0 ? '' : `${counted(log.dropped_lines, 'line')} of the log`,
    client_connections.refused === 0 ? '' : `${counted(client_connections.refused, 'connection')} over the limit`,
    file_descriptors.shortages + client_connections.unaccepted === 0 ? '' : 'connections without a file descriptor',
    watch_error === null ? '' : `files are polled, not watched: ${watch_error}`,
    admin.evictions + admin.refusals === 0 ? '' : 'requests of operators: too many at a time',
  ];
  return losses.filter((loss) => loss !== '').join('; ') || 'none';
}

/** @param {NonNullable<Answers['status']['tokens']>} tokens */
function keysOf({ keys, cause, good, refused }) {
  const state = cause === null ? keys : `${keys}: ${cause}`;
  return `${state}; remembered: ${whole(good)} good, ${whole(refused)} refused`;
}

/**
 * Adds a tile, and returns where its value stands.
 *
 * @param {string} name
 */
function tileOf(name) {
  const value = element('dd', {}, NONE);
  byId('tiles').append(element('div', {}, element('dt', {}, name), value));
  return value;
}

/**
 * @param {HTMLElement} list
 * @param {[string, string][]} facts
 */
function showFacts(list, facts) {
  if (list.childElementCount === 0)
    list.append(...facts.map(([name]) => element('div', {}, element('dt', {}, name), element('dd'))));
  for (const [index, value] of list.querySelectorAll('dd').entries()) say(value, facts[index]?.[1] ?? '');
}

/** @param {Moments} moments */
function showRefusals(moments) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { refusals } of moments)
    for (const [code, count] of Object.entries(refusals)) counts.set(code, (counts.get(code) ?? 0) + count);
  const rows = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, element('code', {}, code)),
        element('td', { class: 'number' }, whole(count)),
      ),
    );
  showRows('refusals', rows, 'None.');
}

/** Draws only what has changed: who marks a text to copy it keeps it marked. */
let shownUpstreams = '';

/** @param {Answers['status']['upstreams']} upstreams */
function showUpstreams(upstreams) {
  const told = JSON.stringify(upstreams);
  if (told === shownUpstreams) return;
  shownUpstreams = told;
  const rows = upstreams.flatMap(({ id, healthy, waiting, retries, endpoints }) =>
    endpoints.map(({ url, healthy: isHealthy, breaker, busy, connections, resolution }, index) => {
      const span = { rowspan: endpoints.length };
      const first = [
        element('th', { scope: 'rowgroup', ...span }, id),
        element('td', span, healthy ? badge('up', 'good') : badge('down', 'bad')),
      ];
      const last = [
        element('td', { class: 'number', ...span }, whole(waiting)),
        element('td', { class: 'number', ...span }, whole(retries)),
      ];
      return element(
        'tr',
        {},
        ...(index === 0 ? first : []),
        element('td', {}, element('code', {}, url), ...nameBadges(resolution)),
        element(
          'td',
          {},
          isHealthy === null ? 'not checked' : isHealthy ? badge('healthy', 'good') : badge('unhealthy', 'bad'),
        ),
        element('td', {}, breaker === null ? NONE : breaker === 'closed' ? 'closed' : badge(breaker, 'warn')),
        element('td', { class: 'number' }, whole(busy)),
        element('td', { class: 'number' }, whole(connections)),
        ...(index === 0 ? last : []),
      );
    }),
  );
  showRows('upstreams', rows, 'None.');
}

/**
 * Shows that the host name of an endpoint does not resolve.
 *
 * @param {Answers['status']['upstreams'][number]['endpoints'][number]['resolution']} resolution
 */
function nameBadges(resolution) {
  if (resolution === null || resolution.reason === null) return [];
  const { state, reason } = resolution;
  return [' ', state === 'stale' ? badge(`stale addresses: ${reason}`, 'warn') : badge(reason, 'bad')];
}

/**
 * @param {string} table
 * @param {HTMLElement[]} rows
 * @param {string} otherwise
 */
function showRows(table, rows, otherwise) {
  const columns = byId(table).querySelectorAll('thead th').length;
  const none = element('tr', {}, element('td', { colspan: columns, class: 'empty' }, otherwise));
  byId(table).tBodies[0].replaceChildren(...(rows.length === 0 ? [none] : rows));
}

/** @param {readonly number[]} numbers */
function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
