import { fetchJson, type Responses } from './api.ts';
import { type BadgeKind, badge, byId, element, setText } from './element.ts';
import { duration } from './format.ts';
import type { ListedRoute } from './route-columns.ts';

type Explanation = Responses['explain'];
type UpstreamRequest = NonNullable<Explanation['upstream']>;
type Step = Explanation['steps'][number];

const KINDS: Record<Explanation['outcome'] | Step['verdict'], BadgeKind> = {
  passed: 'good',
  responded: 'calm',
  reported: 'warn',
  refused: 'bad',
  forwarded: 'good',
};

const SKIP_REASONS: Record<Explanation['candidates'][number]['reason'], string> = {
  'less-specific': 'less specific than',
  'other-method': 'does not allow the method',
  'encoded-slash': 'does not accept an encoded slash',
  'other-reading': 'some servers would read the path as one of',
};

export class Explain {
  /** The number of the latest request. Responses to older ones are ignored. */
  #latest = 0;

  constructor() {
    byId('explain-form').addEventListener('submit', (event: Event) => {
      event.preventDefault();
      void this.#explain();
    });
  }

  /** Fills in a request and explains it: its `method`, `url` and `role`. */
  fill(query: URLSearchParams) {
    byId('explain-method').value = query.get('method') ?? 'GET';
    byId('explain-url').value = query.get('url') ?? '';
    byId('explain-role').value = query.get('role') ?? '';
    byId('explain-headers').value = '';
    byId('explain-body').value = '';
    void this.#explain();
  }

  offerRoles(roles: Iterable<string>) {
    byId('roles').replaceChildren(...[...roles].map((role) => element('option', { value: role })));
  }

  async #explain() {
    this.#latest += 1;
    const number = this.#latest;
    setText(byId('explain-error'), '');
    try {
      const explanation = await fetchJson('explain', readForm());
      if (number === this.#latest) byId('explained').replaceChildren(...resultOf(explanation));
    } catch (error) {
      if (number === this.#latest)
        setText(byId('explain-error'), error instanceof Error ? error.message : String(error));
    }
  }
}

/** Returns the URL fragment that explains an example request to a route. */
export function exampleHash({ methods, path, roles }: Pick<ListedRoute, 'methods' | 'path' | 'roles'>) {
  const url = path.replace(/\{[^}]*\}/g, '1').replace(/\/\*\*$/, '/1');
  const method = methods.includes('GET') ? 'GET' : methods[0];
  return explainHash(method ?? 'GET', url, roles[0] ?? '');
}

/** Returns the URL fragment that explains a request, without a token if the role is empty. */
export function explainHash(method: string, url: string, role = '') {
  return `#/explain?${new URLSearchParams({ method, url, ...(role === '' ? {} : { role }) })}`;
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

function readHeaders(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`"${line}" is not a header; write Name: value`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

function resultOf({ outcome, refusal, route, steps, candidates, upstream }: Explanation) {
  return [
    element('p', { class: 'outcome' }, badge(outcome, KINDS[outcome]), ` ${outcomeOf(refusal, route, upstream)}`),
    ...(refusal !== null && refusal.errors.length > 0 ? [violationsOf(refusal.errors)] : []),
    element('ol', { class: 'steps' }, ...steps.map(stepOf)),
    ...(candidates.length > 0 ? [element('h3', {}, 'Other routes that match the path'), candidatesOf(candidates)] : []),
    ...(upstream === null ? [] : [element('h3', {}, 'Upstream request'), requestOf(upstream)]),
  ];
}

function outcomeOf(refusal: Explanation['refusal'], route: Explanation['route'], upstream: Explanation['upstream']) {
  const by = route === null ? 'no route' : `route ${route.id} (${positionOf(route)})`;
  if (refusal !== null) return `${refusal.status} ${refusal.code}, ${by}: ${refusal.detail}`;
  return upstream === null ? by : `to ${upstream.id}, ${by}`;
}

function violationsOf(errors: NonNullable<Explanation['refusal']>['errors']) {
  return element(
    'ul',
    {},
    ...errors.map(({ pointer, message }) =>
      element('li', {}, element('code', {}, pointer || '(complete value)'), ` ${message}`),
    ),
  );
}

function stepOf({ step, verdict, message, locations }: Step) {
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

function candidatesOf(candidates: Explanation['candidates']) {
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

function positionOf({ file, line }: { file?: string; line: number }) {
  return file === undefined ? `line ${line}` : `${file}, line ${line}`;
}

function requestOf({ method, url, headers, bodyBytes, endpoints, timeoutsMs }: UpstreamRequest) {
  const head = [`${method} ${url}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  const limits = Object.entries(timeoutsMs).map(([name, ms]) => `${name} ${ms === null ? 'none' : duration(ms)}`);
  const more = [`body: ${bodyBytes} bytes`, `endpoints: ${endpoints.join(', ')}`, `time limits: ${limits.join(', ')}`];
  return element(
    'pre',
    { tabindex: 0, 'aria-label': 'The request to the upstream' },
    [...head, '', ...more].join('\n'),
  );
}
