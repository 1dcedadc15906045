/** @import { Responses } from './api.js' */
import { badge, element, showRows } from './element.js';
import { integer, NONE } from './format.js';

/** The upstreams as they are displayed. The table is redrawn only when they change, so that selected text stays selected. */
let displayedUpstreams = '';

/** @param {Responses['status']['upstreams']} upstreams */
export function showUpstreams(upstreams) {
  const text = JSON.stringify(upstreams);
  if (text === displayedUpstreams) return;
  displayedUpstreams = text;
  const rows = upstreams.flatMap(({ id, healthy, waiting, retries, endpoints }) =>
    endpoints.map(({ url, healthy: isHealthy, breaker, busy, connections, resolution }, index) => {
      const span = { rowspan: endpoints.length };
      const first = [
        element('th', { scope: 'rowgroup', ...span }, id),
        element('td', span, healthy ? badge('healthy', 'good') : badge('unhealthy', 'bad')),
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
        element(
          'td',
          {},
          isHealthy === null ? 'not checked' : isHealthy ? badge('healthy', 'good') : badge('unhealthy', 'bad'),
        ),
        element('td', {}, breaker === null ? NONE : breaker === 'closed' ? 'closed' : badge(breaker, 'warn')),
        element('td', { class: 'number' }, integer(busy)),
        element('td', { class: 'number' }, integer(connections)),
        ...(index === 0 ? last : []),
      );
    }),
  );
  showRows('upstreams', rows, 'None.');
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
