import type { Requirement } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';
import type { Pattern } from '../routing/pattern.ts';

/** A rule about all requests: each one that meets the condition goes to a route that fulfils the requirement. */
export interface Invariant {
  readonly id: string;
  /** Its place in the manifest: `['invariants', 3]`. */
  readonly path: Path;
  readonly when: Condition;
  readonly except: readonly Exception[];
  readonly require: Requirement;
  readonly why: string | undefined;
}

/** The requests that an invariant is about. `undefined` means any. */
export interface Condition {
  readonly patterns: readonly Pattern[] | undefined;
  readonly methods: readonly string[] | undefined;
  readonly upstreams: readonly string[] | undefined;
  readonly access: 'public' | 'protected' | undefined;
}

/** A route whose requests need not fulfil the requirement. */
export interface Exception {
  readonly route: string;
  /** `undefined` if the reason is that of the invariant. */
  readonly reason: string | undefined;
  /** The last day, such as `2027-01-31`. */
  readonly until: string | undefined;
}
