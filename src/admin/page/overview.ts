import type { Responses } from './api.ts';
import { byId, element, setText, showFacts } from './element.ts';
import { ago, dateAndTime, decimal, duration, integer, NONE, quantity } from './format.ts';
import { showLimits } from './limits.ts';
import { showProblems } from './problems.ts';
import { isFailure, showRefusals } from './refusals.ts';
import { createTrafficPlots, perSecond } from './traffic-plots.ts';
import { showUpstreams, showUpstreamTraffic } from './upstreams.ts';

type Reload = Responses['status']['last_reload'];
type Intervals = Responses['history']['intervals'];

/** The shares of 5xx responses from which the tile warns. The second one is that of the alert. */
const FAILED_SHARES = [0.01, 0.05] as const;
/** The shares of the connection limit from which the tile warns. */
const CONNECTION_SHARES = [0.8, 1] as const;

/** The windows of the values, which the tiles state. */
const LAST_MINUTE = 'last 30 to 60 s';
const LAST_INTERVAL = 'last 10 s';

/** The first view: the state, the traffic and the upstreams of the gateway. */
export class Overview {
  #plots = createTrafficPlots(
    'overview-range',
    { rate: 'plot-rate', latency: 'plot-latency', errors: 'plot-refusals' },
    () => this.#history && this.showHistory(this.#history),
  );
  #tiles = {
    upstreams: tileOf('Healthy upstreams', 'now'),
    rate: tileOf('Requests per second', LAST_MINUTE),
    latency: tileOf('Latency p95', LAST_INTERVAL),
    failed: tileOf('5xx responses', LAST_MINUTE),
    refused: tileOf('Refused per second', LAST_INTERVAL),
    inFlight: tileOf('In flight', 'now'),
    connections: tileOf('Connections', 'now'),
  };
  /** The reload whose problems are displayed. They are redrawn only for another one, so that selected text stays selected. */
  #reloadAt: string | undefined;
  /** Shown only if the gateway has several workers. */
  #workers: HTMLElement | undefined;
  #connectionLimit = Number.POSITIVE_INFINITY;
  #limits: Pick<Responses['status'], 'rate_limits' | 'stores'> = { rate_limits: [], stores: [] };
  #history: Responses['history'] | undefined;

  showStatus(status: Responses['status']) {
    const now = Date.now();
    const { manifest, tokens } = status;
    showFacts(byId('manifest'), [
      ['State', status.reasons.length === 0 ? status.status : `${status.status}: ${status.reasons.join('; ')}`],
      ['Active', `${manifest.hash.slice(0, 12)}, ${quantity(manifest.routes, 'route')}`],
      ['Activated', `${dateAndTime(manifest.loaded_at)}, ${ago(manifest.loaded_at, now)}`],
      ['Process started', `${dateAndTime(status.started_at)}, ${ago(status.started_at, now)}`],
      ['Last reload', describeReload(status.last_reload)],
      ['Needs a restart', status.needs_restart.join(', ') || 'nothing'],
      ['Certificates', certificatesOf(status)],
      ['Heartbeats', heartbeatsOf(status.workers)],
      ['Failures', failuresOf(status)],
      ['Token keys', tokens === null ? 'no route needs a token' : keysOf(tokens)],
    ]);
    if (status.last_reload?.at !== this.#reloadAt) showProblems(status.last_reload);
    this.#reloadAt = status.last_reload?.at;
    this.#connectionLimit = status.client_connections.limit;
    this.#limits = status;
    this.#showHealth(status.upstreams);
    this.#showWorkers(status.workers);
    showUpstreams(status.upstreams);
  }

  showTraffic({ seconds, routes, upstreams, limits, in_flight, connections, tunnels }: Responses['traffic']) {
    showUpstreamTraffic(upstreams, seconds);
    showLimits(this.#limits, limits, seconds);
    const requests = sumOf(routes.map((route) => route.requests));
    const failed = sumOf(routes.map((route) => route.server_errors));
    setText(this.#tiles.rate, seconds === 0 ? NONE : decimal(requests / seconds));
    setText(this.#tiles.failed, requests === 0 ? NONE : `${decimal((100 * failed) / requests)} %`);
    setAlarm(this.#tiles.failed, alarmOf(failed / requests, FAILED_SHARES));
    setText(this.#tiles.inFlight, integer(in_flight));
    setText(
      this.#tiles.connections,
      tunnels === 0 ? integer(connections) : `${integer(connections)}, ${integer(tunnels)} of them tunnels`,
    );
    setAlarm(this.#tiles.connections, alarmOf(connections / this.#connectionLimit, CONNECTION_SHARES));
  }

  showHistory(history: Responses['history']) {
    this.#history = history;
    const { statuses } = history;
    const refused = ({ refusals }: Intervals[number]) =>
      sumOf(Object.entries(refusals).map(([code, count]) => (isFailure(statuses[code]) ? 0 : count)));
    const intervals = this.#plots.show(history.intervals, {
      refused,
      '5xx': ({ server_errors }) => server_errors,
    });
    const latest = intervals.at(-1);
    setText(this.#tiles.latency, duration(latest?.p95_ms));
    setText(this.#tiles.refused, latest === undefined ? NONE : decimal(perSecond(latest, refused(latest))));
    setText(byId('refusals-window'), `in the last ${this.#plots.minutes()} minutes`);
    showRefusals('refusals', countsOf(intervals), statuses);
  }

  #showHealth(upstreams: Responses['status']['upstreams']) {
    const countOf = (state: string) => upstreams.filter(({ health }) => health === state).length;
    const [unhealthy, unknown] = [countOf('unhealthy'), countOf('unknown')];
    const details = [
      unhealthy === 0 ? '' : `${integer(unhealthy)} unhealthy`,
      unknown === 0 ? '' : `${integer(unknown)} unknown`,
    ].filter((detail) => detail !== '');
    const healthy = `${integer(countOf('healthy'))} of ${integer(upstreams.length)}`;
    setText(this.#tiles.upstreams, [healthy, ...details].join(', '));
    setAlarm(this.#tiles.upstreams, unhealthy === 0 ? '' : 'bad');
  }

  #showWorkers({ count, serving, failures }: Responses['status']['workers']) {
    if (count === 1) return;
    this.#workers ??= tileOf('Workers', 'now');
    const ended = failures === 0 ? '' : `, ${integer(failures)} ended unexpectedly`;
    setText(this.#workers, `${integer(serving)} of ${integer(count)}${ended}`);
    setAlarm(this.#workers, serving < count ? 'bad' : '');
  }
}

export function describeReload(reload: Reload) {
  if (reload === null) return 'none since the process started';
  const time = dateAndTime(reload.at);
  if ('reason' in reload) return `${reload.result} (${time}): ${reload.reason}`;
  if (reload.result === 'rejected') return `rejected (${time}); the active manifest stays`;
  return `accepted (${time}): ${reload.summary}`;
}

const MAX_CERTIFICATES = 5;

/** Returns the certificates with problems, then those that expire first. */
function certificatesOf({ certificates }: Responses['status']) {
  const rows = certificates
    .toSorted((a, b) => Number(a.problem === null) - Number(b.problem === null) || a.days_left - b.days_left)
    .slice(0, MAX_CERTIFICATES)
    .map(({ key, days_left, problem }) => `${key}: ${quantity(days_left, 'day')} left${problem ? `, ${problem}` : ''}`);
  const more = certificates.length - rows.length;
  return [...rows, ...(more > 0 ? [`${integer(more)} more`] : [])].join('; ') || 'none';
}

/** The main thread, worker 0, responds to the page. */
function heartbeatsOf({ heartbeats }: Responses['status']['workers']) {
  const others = heartbeats.map(({ index, listening, silent_ms }) => {
    const beat = silent_ms === 0 ? 'in the last second' : `none for ${duration(silent_ms)}`;
    return `worker ${index}: ${listening ? '' : 'not listening, '}${beat}`;
  });
  return ['worker 0: now', ...others].join('; ');
}

function failuresOf(status: Responses['status']) {
  const { streams, file_descriptors, client_connections, watch_error, admin, stores } = status;
  const log = streams.stdout;
  const failures = [
    ...stores.filter(({ state }) => state === 'down').map(({ id, reason }) => `store ${id} of rate limits: ${reason}`),
    log.error === null ? '' : `the log cannot be written: ${log.error}`,
    log.dropped_lines === 0 ? '' : `${quantity(log.dropped_lines, 'log line')} dropped`,
    client_connections.refused === 0
      ? ''
      : `${quantity(client_connections.refused, 'connection')} closed because the limit was reached`,
    file_descriptors.shortages + client_connections.unaccepted === 0
      ? ''
      : 'connections closed because no file descriptor was free',
    watch_error === null ? '' : `files cannot be watched and are polled: ${watch_error}`,
    admin.evictions + admin.refusals === 0 ? '' : 'requests to the admin API refused because there were too many',
  ];
  return failures.filter((failure) => failure !== '').join('; ') || 'none';
}

function keysOf({ keys, cause, entries, refused }: NonNullable<Responses['status']['tokens']>) {
  const state = cause === null ? keys : `${keys}: ${cause}`;
  return `${state}; cached tokens: ${integer(entries)} valid, ${integer(refused)} refused`;
}

/** Returns the refusals of all intervals by code. */
function countsOf(intervals: Intervals) {
  const counts: Record<string, number> = {};
  for (const { refusals } of intervals)
    for (const [code, count] of Object.entries(refusals)) counts[code] = (counts[code] ?? 0) + count;
  return counts;
}

function sumOf(numbers: readonly number[]) {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** Adds a tile and returns the element of its value. `window` is the time that the value covers. */
function tileOf(name: string, window: string) {
  const value = element('dd', {}, NONE);
  const title = element('dt', {}, `${name} `, element('span', { class: 'window' }, window));
  byId('tiles').append(element('div', {}, title, value));
  return value;
}

/** Returns the alarm of a share; none for NaN. */
function alarmOf(share: number, [warn, bad]: readonly [number, number]) {
  return share >= bad ? 'bad' : share >= warn ? 'warn' : '';
}

/** Colours the tile of a value. */
function setAlarm(value: HTMLElement, alarm: '' | 'warn' | 'bad') {
  if (value.parentElement !== null) value.parentElement.className = alarm;
}
