import { stringify } from 'yaml';
import { type TypedValue, typedValues } from './typed-values.ts';

/** Returns a number from 0 up to, but without, a limit. */
export type Random = (limit: number) => number;

/** A way to write a value differently with the same meaning; `undefined` where it does not apply. */
type Rewrite = (value: TypedValue, random: Random) => void;

type Json = Record<string, unknown>;

/** Lists whose order means nothing. */
const UNORDERED = new Set([
  'auth.role.allow',
  'auth.tokens.jwt.algorithms',
  'auth.tokens.jwt.requiredClaims',
  'auth.tokens.introspection.requiredClaims',
  'auth.tokens.userinfo.requiredClaims',
  'cors.origins',
  'cors.methods',
  'cors.headers',
  'cors.exposedHeaders',
  'server.trustedProxies',
  'upstreams.*.urls',
  'routes',
  'routes.*.method',
  'routes.*.roles',
  'routes.*.websocket.origins',
  'routes.*.login.token',
  'routes.*.body.types',
  'routes.*.body.multipart.parts.*.types',
  'routes.*.requestHeaders.remove',
  'routes.*.requestHeaders.keep',
  'routes.*.responseHeaders.remove',
]);

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const SIZES: Readonly<Record<string, number>> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The rewrites of a value, by its definition in the schema or by its path. */
const REWRITES: Readonly<Record<string, Rewrite>> = {
  Duration: (value, random) => replaceQuantity(value, UNITS, random),
  Timeout: (value, random) => replaceQuantity(value, UNITS, random),
  Size: (value, random) => replaceQuantity(value, SIZES, random),
  Address: ({ holder, key }, random) => {
    const [, host = '', port] = /^(.*):(\d+)$/.exec(String(holder[key])) ?? [];
    const others = SAME_HOSTS.find((names) => names.includes(host)) ?? [host];
    holder[key] = `${others[random(others.length)]}:${random(2) === 0 ? port : `0${port}`.slice(-5)}`;
  },
  UpstreamUrl: ({ holder, key }, random) => {
    const url = String(holder[key]).replace(/\/$/, '');
    const port = url.startsWith('https:') ? ':443' : ':80';
    const withPort = /:\d+$/.test(url) ? url : `${url}${port}`;
    const forms = [url, `${url}/`, withPort, url.replace(/\/\/(.*)/, (text) => text.toUpperCase())];
    holder[key] = forms[random(forms.length)];
  },
  EndpointUrl: ({ holder, key }) => {
    if (typeof holder[key] === 'string')
      holder[key] = String(holder[key]).replace(
        /^https:\/\/([^/:]+)(?=\/)/,
        (_text, host) => `https://${host.toUpperCase()}:443`,
      );
  },
  HeaderName: changeCase,
  MediaType: changeCase,
  'routes.*.responseHeaders.remove.*': changeCase,
  'routes.*.requestHeaders.remove.*': changeCase,
  'routes.*.requestHeaders.keep.*': changeCase,
  'server.trustedProxies.*': ({ holder, key }, random) => {
    const others = SAME_BLOCKS.find((names) => names.includes(String(holder[key])));
    if (others !== undefined) holder[key] = others[random(others.length)];
  },
  'auth.tokens.jwt.type': ({ holder, key }, random) => {
    const forms = [String(holder[key]).toLowerCase(), String(holder[key]).toUpperCase(), `application/${holder[key]}`];
    if (!String(holder[key]).includes('/')) holder[key] = forms[random(forms.length)];
  },
  'server.workers': ({ holder, key }, random) => {
    const workers = holder[key];
    if (workers !== 'auto') holder[key] = [Number(workers), String(workers)][random(2)];
  },
  admin: ({ holder, key }) => {
    const entry = holder[key];
    if (typeof entry === 'string') holder[key] = { listen: entry };
    else if (Object.keys(entry as Json).length === 1) holder[key] = (entry as Json)['listen'];
  },
  'upstreams.*': ({ holder, key }) => {
    const { url, urls, ...rest } = holder[key] as { url?: string; urls?: string[] };
    if (url !== undefined) holder[key] = { ...rest, urls: [url] };
    else if (urls?.length === 1) holder[key] = { url: urls[0], ...rest };
  },
  'routes.*.method': ({ holder, key }) => {
    const method = holder[key];
    if (method === 'any') holder[key] = [...METHODS];
    else if (typeof method === 'string') holder[key] = [method];
    else if ((method as unknown[]).length === 1) holder[key] = (method as unknown[])[0];
    else if ((method as unknown[]).length === METHODS.length) holder[key] = 'any';
  },
  'routes.*.login.token': ({ holder, key }) => {
    const token = holder[key];
    if (typeof token === 'string') holder[key] = [token];
    else if ((token as unknown[]).length === 1) holder[key] = (token as unknown[])[0];
  },
  'routes.*.requestHeaders.set': renameKeys,
  'routes.*.responseHeaders.set': renameKeys,
};

const SAME_HOSTS = [
  ['[::1]', '[0:0:0:0:0:0:0:1]', '[0::1]', '[::0001]'],
  ['[::]', '[::0]', '[0::0]'],
  ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost'],
];
const SAME_BLOCKS = [
  ['10.0.0.0/8', '10.1.2.3/8', '::ffff:10.0.0.0/104', '::ffff:a00:0/104'],
  ['127.0.0.1', '127.0.0.1/32', '::ffff:127.0.0.1', '::ffff:7f00:1/128'],
  ['::1', '0:0::1', '::1/128', '::0001'],
  ['2001:db8::/32', '2001:DB8:0::/32', '2001:db8::7/32'],
];

function replaceQuantity({ holder, key }: TypedValue, units: Readonly<Record<string, number>>, random: Random): void {
  const [, number = '', unit = ''] = /^(\d+)([A-Za-z]+)$/.exec(String(holder[key])) ?? [];
  const total = Number(number) * (units[unit] ?? Number.NaN);
  const forms = Object.entries(units)
    .filter(([, factor]) => total % factor === 0)
    .map(([name, factor]) => `${total / factor}${name}`)
    .flatMap((text) => [text, `00${text}`])
    .filter((text) => /^\d{1,9}[A-Z]+$/i.test(text));
  if (forms.length > 0) holder[key] = forms[random(forms.length)];
}

function changeCase({ holder, key }: TypedValue, random: Random): void {
  const text = String(holder[key]);
  holder[key] = random(2) === 0 ? text.toLowerCase() : text.toUpperCase();
}

function renameKeys({ holder, key }: TypedValue): void {
  const entries = Object.entries(holder[key] as Json);
  holder[key] = Object.fromEntries(entries.map(([name, text]) => [name.toUpperCase(), text]));
}

/** Returns a manifest with the same meaning that is written differently. */
export function rewrite<Manifest extends object>(manifest: Manifest, random: Random): Manifest {
  const copy = structuredClone(manifest);
  for (const value of [...typedValues(copy)]) {
    const { holder, key, path, definitions } = value;
    if (!Object.hasOwn(holder, key) || random(3) > 0) continue;
    const list = holder[key];
    if (Array.isArray(list) && UNORDERED.has(path)) shuffle(list, random);
    const name = [path, ...definitions].find((candidate) => Object.hasOwn(REWRITES, candidate));
    if (name !== undefined) REWRITES[name]?.(value, random);
  }
  return (random(2) === 0 ? reorder(copy, random) : copy) as Manifest;
}

function shuffle(list: unknown[], random: Random): void {
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = random(index + 1);
    [list[index], list[other]] = [list[other], list[index]];
  }
}

/** Returns a copy with the keys of every map in another order. */
function reorder(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, random));
  if (value === null || typeof value !== 'object') return value;
  const entries: unknown[] = Object.entries(value).map(([key, item]) => [key, reorder(item, random)]);
  shuffle(entries, random);
  return Object.fromEntries(entries as [string, unknown][]);
}

/** Scalars that clients may read, and keys and secrets: from the environment they have another effect. */
const NEVER_FROM_ENVIRONMENT = /^(?:auth\.role\.message|auth\.realm|.*\.types\.\*|.*[sS]ecret|admin\.token|version)$/;

/** Writes a manifest in any YAML style, with anchors, included files and defaults of the environment. */
export function write(manifest: object, random: Random): { text: string; files: Record<string, string> } {
  const copy = structuredClone(manifest) as Json;
  let count = 0;
  for (const { holder, key, path } of [...typedValues(copy)]) {
    const text = holder[key];
    if (typeof text !== 'string' || random(12) > 0 || NEVER_FROM_ENVIRONMENT.test(path) || /[$}]/.test(text)) continue;
    if (holder[key] === undefined) continue;
    holder[key] = `\${VALUE_${count++}:-${text}}`;
  }
  const files: Record<string, string> = {};
  const options = {
    defaultStringType: STRING_TYPES[random(STRING_TYPES.length)] ?? 'PLAIN',
    aliasDuplicateObjects: true,
  } as const;
  if (random(3) === 0 && Array.isArray(copy['routes']) && copy['routes'].length > 1) {
    const { defaults } = copy;
    files['routes/more.yaml'] = stringify(
      { ...(defaults !== undefined && { defaults }), routes: copy['routes'].splice(1) },
      options,
    );
    copy['include'] = 'routes/more.yaml';
  }
  const text =
    random(3) === 0
      ? JSON.stringify(copy)
      : stringify(copy, { ...options, collectionStyle: COLLECTIONS[random(3)] ?? 'any' });
  return { text, files };
}

const STRING_TYPES = ['PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE'] as const;
const COLLECTIONS = ['any', 'block', 'flow'] as const;
