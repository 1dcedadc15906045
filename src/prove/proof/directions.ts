import type { DiffFinding } from '../diff/difference.ts';
import type { Attempt } from './offline-side.ts';

/**
 * The effect of a difference on access. `looser`: the new manifest may let a request through that the old one refused. `stricter`: it
 * may only refuse more. `other`: it treats requests differently, but refuses the same. `same`: it treats every request alike.
 */
export type Direction = 'looser' | 'stricter' | 'other' | 'same';

/** A difference of two routes that receive the same requests, or of the settings. */
export interface ProofFinding extends DiffFinding {
  readonly direction: Direction;
  /** Returns the requests, one of which may show the difference. */
  readonly attempts: () => readonly Attempt[];
}

const STRICTER =
  'route-protected role-narrowed issuer-refused issuer-removed login-changed login-added body-tightened media-types-narrowed ' +
  'parameters-tightened validation-enforced limit-lowered rate-limit-added rate-limit-tightened rate-limit-enforced ' +
  'header-override-dropped claim-header-added websocket-closed websocket-origins-narrowed encoded-slash-refused ' +
  'token-conditions-more token-algorithms-fewer token-claims-more token-trust-less cors-narrowed form-added ' +
  'trusted-proxies-narrowed server-limits';
const OTHER =
  'token-limits role-message realm-changed upstream-settings response-paths headers-changed rate-limit-settings issuer-added ' +
  'own-response timeout-changed server-certificate server-files server-stopping server-workers server-via server-response-header ' +
  'server-response-headers rate-limit-headers store-changed self-test-added self-test-changed self-test-removed reload-changed ' +
  'log-more log-paths-plain log-paths-keyed log-secret log-replay log-changed tracing-changed listen-changed admin-files ' +
  'admin-callers admin-changed issuer-renamed upstream-ca upstream-certificate upstream-name';
const SAME = 'invariant-changed invariant-added lint-changed upstream-renamed';

const DIRECTIONS: ReadonlyMap<string, Direction> = new Map(
  Object.entries({ stricter: STRICTER, other: OTHER, same: SAME }).flatMap(([direction, rules]) =>
    rules.split(' ').map((rule): [string, Direction] => [rule, direction as Direction]),
  ),
);

/** Returns the direction of a kind of differences. A kind without an entry may be looser. */
export function directionOf(rule: string): Direction {
  return DIRECTIONS.get(rule) ?? 'looser';
}

/** The kinds that `validation: report` of the old route makes harmless: it let these requests through. */
export const VALIDATION_RULES = /^(?:body|parameters|media-types|form)-/;

/** The kinds that no request shows: they are about connections, the admin API, or manifests to come. */
export const CERTAIN_RULES =
  /^(?:invariant-(?:removed|weakened)|self-test-removed|server-plain|listen-opened|admin-(?:opened|unprotected|plain))$/;

/** The kinds that a request shows by its headers, or by those of its response: both manifests let it through. */
export const HEADER_RULES = /^(?:header-override|claim-header|websocket-opened|trusted-proxies)/;
