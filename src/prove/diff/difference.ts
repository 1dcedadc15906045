import type { Path, Range, Severity } from '../../engine/problem/finding.ts';
import type { RoutePair, SampleRequest } from './route-pairing.ts';
import type { DiffRoute, DiffSide } from './side.ts';

/** The severity of a kind of difference, and a sentence for the documentation, with a capital letter and a full stop. */
export type DiffRule = readonly [severity: Severity, description: string];

/** The kinds of differences of one subject, and the function that finds them. */
export interface Comparison {
  /** By their ids: kebab-case, stable across versions. */
  readonly rules: Readonly<Record<string, DiffRule>>;
  readonly find: (sides: DiffContext) => Iterable<DiffFinding>;
}

export interface DiffContext {
  readonly old: DiffSide;
  readonly next: DiffSide;
  /** Routes that receive the same requests, or have the same id. */
  readonly pairs: readonly RoutePair<DiffRoute>[];
}

/** A difference without its line. */
export interface DiffFinding {
  /** One of the rules of the comparison. */
  readonly rule: string;
  /** A sentence about the change, in lower case and without a full stop. */
  readonly message: string;
  /** The path in the new manifest or, with `side: 'old'`, in the old one. */
  readonly path: Path;
  readonly side?: 'old';
  readonly witness?: DiffWitness | undefined;
  /** The routes that receive the request of the witness, to complete it with a caller and a body. */
  readonly pair?: MatchedRoutePair;
  /** False if the witness is a request without a token. */
  readonly hasCaller?: boolean;
  /** True if a search for an example of the opposite was cut short: the change may be one in both directions. */
  readonly isOpen?: boolean;
}

/** A pair that has both an old and a new route. */
export interface MatchedRoutePair extends RoutePair<DiffRoute> {
  readonly from: DiffRoute;
  readonly to: DiffRoute;
}

/** An example of a difference: a request that the two manifests handle differently. */
export interface DiffWitness {
  /** Absent only if no request is known that both routes receive. */
  readonly request?: DiffRequest;
  /** The body of the request as JSON: one manifest refuses it, and the other accepts it. */
  readonly body?: unknown;
}

export interface DiffRequest extends SampleRequest {
  /** Alternating names and values. Absent if the difference does not depend on headers. */
  readonly headers?: readonly string[];
  /** The role of the caller. Absent if the request has no token. */
  readonly role?: string;
  /** The method that verifies the token. Absent if it is the first one that allows the role. */
  readonly issuer?: string;
  /** The members of the header of the token, and its claims, if they matter. `exp` is in seconds from now; default: one hour. */
  readonly token?: Readonly<Record<string, unknown>>;
  /** The address of the client. Absent if it does not matter. */
  readonly peer?: string;
  /** The text of the body. */
  readonly body?: string;
  /** The size of the body in bytes. Blanks follow the text up to this size. Without a text, its contents mean nothing. */
  readonly bodyBytes?: number;
}

/** A difference with its file and line, as printed. */
export interface Difference {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly range: Range;
  readonly counterpart: Counterpart;
  readonly witness?: DiffWitness;
}

/** The place on the other side of a difference, and the ids of the routes of both sides. */
export interface Counterpart {
  readonly file: string;
  readonly range: Range;
  readonly oldId?: string;
  readonly nextId?: string;
}
