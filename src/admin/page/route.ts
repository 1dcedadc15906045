import { fetchJson, type Responses } from './api.ts';
import { badge, byId, decisionsHash, decisionsLink, element, factElements, setText } from './element.ts';
import { exampleHash } from './explain.ts';
import { duration, integer, NONE, size } from './format.ts';
import { modeBadges, ruleOf } from './limits.ts';
import { yamlLines } from './manifest-lines.ts';
import { showRefusals } from './refusals.ts';
import { accessElement, checksOf, methodsOf, pathElement } from './route-columns.ts';
import { createTrafficPlots } from './traffic-plots.ts';

const REFRESH_MS = 10_000;

type Details = Responses['route'];

export class RouteView {
  #plots = createTrafficPlots(
    'route-range',
    { rate: 'route-rate', latency: 'route-latency', errors: 'route-errors' },
    () => this.#details && this.#showPlots(this.#details),
  );
  #details: Details | undefined;
  #id = '';
  #fetchedAt = Number.NEGATIVE_INFINITY;

  open(id: string) {
    if (id === this.#id) return;
    this.#id = id;
    this.#fetchedAt = Number.NEGATIVE_INFINITY;
    this.#details = undefined;
    byId('route-content').hidden = true;
    setText(byId('route-error'), '');
    setText(byId('route-title'), id);
  }

  /** Fetches the route if the displayed data is old. */
  async refresh() {
    if (byId('route').hidden || performance.now() - this.#fetchedAt < REFRESH_MS) return;
    const id = this.#id;
    this.#fetchedAt = performance.now();
    try {
      const details = await fetchJson('route', undefined, { id });
      if (id === this.#id) this.#show(details);
    } catch (error) {
      if ((error as { status?: number }).status !== 404) throw error;
      byId('route-content').hidden = true;
      setText(byId('route-error'), `The active manifest has no route "${id}".`);
    }
  }

  #show(details: Details) {
    const { id, source, refusals, statuses } = details;
    const isSameSource = this.#details !== undefined && this.#details.source.text === source.text;
    this.#details = details;
    byId('route-content').hidden = false;
    setText(byId('route-error'), '');
    byId('route-request').replaceChildren(`${methodsOf(details)} `, pathElement(details.path));
    byId('route-watch').href = decisionsHash(`route:${id}`);
    byId('route-explain').href = exampleHash(details);
    byId('route-facts').replaceChildren(...factElements(factsOf(details)));
    showRefusals('route-refusals', refusals, statuses, id);
    // Selected text stays selected.
    if (!isSameSource) {
      setText(byId('route-source-title'), `Manifest: ${source.file}, line ${source.line}`);
      byId('route-source').replaceChildren(yamlLines(source.text, source.line, `Lines of ${id} in the manifest`));
    }
    this.#showPlots(details);
  }

  #showPlots(details: Details) {
    this.#plots.show(details.intervals, {
      '4xx': ({ client_errors }) => client_errors,
      '5xx': ({ server_errors }) => server_errors,
    });
  }
}

function factsOf(details: Details): [string, ...(Node | string)[]][] {
  const { body, upstream, upstream_timeouts_ms: timeouts, upstream_limits: limits } = details;
  const limitsOfTime = Object.entries(timeouts ?? {}).map(
    ([name, ms]) => `${name.replace('_', ' ')} ${ms === null ? 'none' : duration(ms)}`,
  );
  const connections = limits && `${integer(limits.connections)} to each of ${integer(limits.endpoints)}`;
  return [
    ['Access', accessElement({ route: details })],
    [
      'Checks',
      checksOf(details) || 'none',
      ...(details.validation === 'report' ? [' ', badge('report only', 'warn')] : []),
    ],
    ['Rate limits', ...(details.limits.length === 0 ? [NONE] : details.limits.flatMap(limitElements))],
    ['Body limit', body === undefined || body === null ? NONE : size(body.limit_bytes)],
    ['Time limits', limitsOfTime.join(', ') || NONE],
    [
      'Upstream',
      upstream === null ? `the gateway responds with ${details.status}` : decisionsLink('upstream', upstream),
    ],
    ['Connections', limits ? `${connections}; ${integer(limits.queue)} requests may wait` : NONE],
  ];
}

function limitElements(limit: Details['limits'][number]) {
  return [decisionsLink('limits', limit.id), `: ${ruleOf(limit)}`, ...modeBadges(limit), element('br')];
}
