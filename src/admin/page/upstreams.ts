import type { Responses } from './api.ts';
import { type BadgeKind, badge, cell, decisionsLink, element, setText, showRows } from './element.ts';
import { decimal, duration, integer, NONE } from './format.ts';

/** The colours of the states. Nothing is known about an upstream that is neither checked nor used. */
const HEALTH_KINDS: Record<Responses['status']['upstreams'][number]['health'], BadgeKind> = {
  healthy: 'good',
  unhealthy: 'bad',
  unknown: 'calm',
};

/** The upstreams as they are displayed. The table is redrawn only when they change, so that selected text stays selected. */
let displayedUpstreams = '';
const trafficCells: Map<string, { update: (traffic: UpstreamTraffic | undefined, seconds: number) => void }> =
  new Map();

type UpstreamTraffic = Responses['traffic']['upstreams'][number];

export function showUpstreams(upstreams: Responses['status']['upstreams']) {
  const text = JSON.stringify(upstreams);
  if (text === displayedUpstreams) return;
  displayedUpstreams = text;
  trafficCells.clear();
  const rows = upstreams.flatMap((upstream) => {
    const { id, waiting, retries, endpoints } = upstream;
    const traffic = trafficCellsOf(endpoints.length);
    trafficCells.set(id, traffic);
    return endpoints.map(({ url, health, reason, breaker, busy, connections, resolution }, index) => {
      const span = { rowspan: endpoints.length };
      const first = [
        element('th', { scope: 'rowgroup', ...span }, decisionsLink('upstream', id)),
        element('td', span, healthBadge(upstream.health)),
        ...traffic.cells,
      ];
      const last = [
        element('td', { class: 'number', ...span }, integer(waiting)),
        element('td', { class: 'number', ...span }, integer(retries)),
      ];
      return element(
        'tr',
        {},
        ...(index === 0 ? first : []),
        cell('long', element('code', {}, url), ...nameBadges(resolution)),
        cell('', healthBadge(health), ...(reason === null ? [] : [' ', element('code', { class: 'reason' }, reason)])),
        cell('', breaker === null ? NONE : breaker === 'closed' ? 'closed' : badge(breaker, 'warn')),
        cell('number', integer(busy)),
        cell('number', integer(connections)),
        ...(index === 0 ? last : []),
      );
    });
  });
  showRows('upstreams', rows);
}

/** Shows the requests that were forwarded to each upstream. */
export function showUpstreamTraffic(upstreams: readonly UpstreamTraffic[], seconds: number) {
  const byUpstream = new Map(upstreams.map((upstream) => [upstream.id, upstream]));
  for (const [id, { update }] of trafficCells) update(byUpstream.get(id), seconds);
}

function trafficCellsOf(rowspan: number) {
  const cells = ['number', 'number wide-only', 'number', 'number'].map((name) =>
    element('td', { class: name, rowspan }, NONE),
  );
  const update = (traffic: UpstreamTraffic | undefined, seconds: number) => {
    const isIdle = traffic === undefined || traffic.requests === 0 || seconds === 0;
    const texts = isIdle
      ? [NONE, NONE, NONE, NONE]
      : [
          `${decimal(traffic.requests / seconds)}/s`,
          duration(traffic.p50_ms),
          duration(traffic.p95_ms),
          integer(traffic.server_errors),
        ];
    for (const [index, cell] of cells.entries()) setText(cell, texts[index] ?? NONE);
  };
  return { cells, update };
}

function healthBadge(health: Responses['status']['upstreams'][number]['health']) {
  return badge(health, HEALTH_KINDS[health]);
}

/** Returns badges for a host name that does not resolve. */
function nameBadges(resolution: Responses['status']['upstreams'][number]['endpoints'][number]['resolution']) {
  if (resolution === null || resolution.reason === null) return [];
  const { state, reason } = resolution;
  return [' ', state === 'stale' ? badge(`stale addresses: ${reason}`, 'warn') : badge(reason, 'bad')];
}
