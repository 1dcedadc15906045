/** @import { Responses } from './api.js' */
import { badge, element, showRows } from './element.js';
import { integer, NONE } from './format.js';

/**
 * The colours of the states. Nothing is known about an upstream that is neither checked nor used.
 *
 * @type {Record<Responses['status']['upstreams'][number]['health'], 'good' | 'bad' | 'calm'>}
 */
const HEALTH_KINDS = { healthy: 'good', unhealthy: 'bad', unknown: 'calm' };

/** The upstreams as they are displayed. The table is redrawn only when they change, so that selected text stays selected. */
let displayedUpstreams = '';

/** @param {Responses['status']['upstreams']} upstreams */
export function showUpstreams(upstreams) {
  const text = JSON.stringify(upstreams);
  if (text === displayedUpstreams) return;
  displayedUpstreams = text;
  const rows = upstreams.flatMap((upstream) => {
    const { id, waiting, retries, endpoints } = upstream;
    return endpoints.map(({ url, health, reason, breaker, busy, connections, resolution }, index) => {
      const span = { rowspan: endpoints.length };
      const first = [
        element('th', { scope: 'rowgroup', ...span }, id),
        element('td', span, healthBadge(upstream.health)),
      ];
      const last = [
        element('td', { class: 'number', ...span }, integer(waiting)),
        element('td', { class: 'number', ...span }, integer(retries)),
      ];
      return element(
        'tr',
        {},
        ...(index === 0 ? first : []),
        element('td', {}, element('code', {}, url), ...nameBadges(resolution)),
        element('td', {}, healthBadge(health), ...(reason === null ? [] : [' ', element('code', {}, reason)])),
        element('td', {}, breaker === null ? NONE : breaker === 'closed' ? 'closed' : badge(breaker, 'warn')),
        element('td', { class: 'number' }, integer(busy)),
        element('td', { class: 'number' }, integer(connections)),
        ...(index === 0 ? last : []),
      );
    });
  });
  showRows('upstreams', rows, 'None.');
}

/** @param {Responses['status']['upstreams'][number]['health']} health */
function healthBadge(health) {
  return badge(health, HEALTH_KINDS[health]);
}

/**
 * Returns badges for a host name that does not resolve.
 *
 * @param {Responses['status']['upstreams'][number]['endpoints'][number]['resolution']} resolution
 */
function nameBadges(resolution) {
  if (resolution === null || resolution.reason === null) return [];
  const { state, reason } = resolution;
  return [' ', state === 'stale' ? badge(`stale addresses: ${reason}`, 'warn') : badge(reason, 'bad')];
}
