import type { Cors as CorsEntry } from '../../manifest/manifest.generated.ts';
import { durationMs } from '../../manifest/units.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';

/** What pages of other origins may do in a browser: the CORS protocol of the Fetch standard. */
export interface Cors {
  /** Equal for equal definitions. */
  readonly key: string;
  /** What an answer to a page of this origin says, names and values in turn: nothing when the origin is not allowed. */
  readonly headersFor: (origin: string | undefined) => readonly string[];
  /** What the answer to a preflight says besides. */
  readonly preflightHeaders: readonly string[];
  /** The methods that a preflight allows; `undefined`: those of the path's routes. */
  readonly methods: readonly string[] | undefined;
  /** Whether answers differ by origin, so that a cache must keep them apart. */
  readonly isOriginDependent: boolean;
}

const NOTHING: readonly string[] = [];

/** The headers of the CORS protocol of the Fetch standard, made once for each origin. */
export function compileCors(entry: CorsEntry, findings: Finding[]): Cors {
  const isAny = entry.origins.includes('*');
  checkCors(entry, findings);
  const always = [
    ...(entry.credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
    ...listed('Access-Control-Expose-Headers', entry.exposedHeaders),
  ];
  const answers = new Map(
    entry.origins.map((origin) => [origin, ['Access-Control-Allow-Origin', origin, ...always] as readonly string[]]),
  );
  const any = answers.get('*');
  return Object.freeze({
    key: JSON.stringify(entry),
    headersFor: any === undefined ? (origin = '') => answers.get(origin) ?? NOTHING : () => any,
    preflightHeaders: [
      ...listed('Access-Control-Allow-Headers', entry.headers),
      'Access-Control-Max-Age',
      String(Math.floor(durationMs(entry.maxAge) / 1000)),
    ],
    methods: entry.methods,
    isOriginDependent: !isAny,
  });
}

function listed(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [name, values.join(', ')];
}

function checkCors({ origins, credentials }: CorsEntry, findings: Finding[]): void {
  const anyone = origins.find((origin) => origin === '*' || origin === 'null');
  if (anyone !== undefined && credentials) {
    // Any site can open a sandboxed frame, whose origin is null.
    const message = `with "${anyone}" any site could act for its visitors; list the origins, or remove "credentials"`;
    findings.push(errorAtKey(['cors', 'credentials'], 'cors-credentials', message));
  }
  checkOrigins(origins, ['cors', 'origins'], findings);
}

/** Reports what is not an origin as browsers write it. */
export function checkOrigins(origins: readonly string[], path: Path, findings: Finding[]): void {
  for (const [index, origin] of origins.entries()) {
    const reason = origin === '*' ? wildcardError(origins) : originError(origin);
    if (reason !== undefined) findings.push(errorAt([...path, index], 'cors-origin', reason));
  }
}

function wildcardError(origins: readonly string[]): string | undefined {
  return origins.length === 1 ? undefined : '"*" is any origin; remove it, or the others';
}

/** RFC 6454 section 6.2, less what browsers never write: they fold letter case and leave the default port out. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

function originError(text: string): string | undefined {
  if (text === 'null') return undefined;
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (ORIGIN.test(text) && (isWeb ? url.origin === text : url !== null)) return undefined;
  if (text.includes('*')) return `"${text}" is a pattern; write each origin out, or "*" alone for any`;
  const meant = isWeb && ORIGIN.test(url.origin) ? url.origin : 'scheme, host and port, such as https://app.example';
  return `"${text}" is not an origin as browsers write it; write ${meant}`;
}
