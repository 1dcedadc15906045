import type { Path } from '../../engine/problem/finding.ts';
import type { Evidence } from './evidence.ts';
import type { ManifestChange } from './manifest-change.ts';

/** The kinds of proposals, in the order of the report, with their titles. */
export const PROPOSAL_KINDS = {
  route: 'Routes that nobody used',
  wildcard: 'Wildcards that could be named paths',
  method: 'Methods that nobody used',
  role: 'Roles that nobody needed',
  websocket: 'WebSockets that nobody opened',
  'encoded-slash': 'Encoded slashes that nobody sent',
  type: 'Body types that nobody sent',
  'rate-limit': 'Rate limits that would have refused nobody',
  unused: 'Definitions that nothing uses after these changes',
} as const;

export type ProposalKind = keyof typeof PROPOSAL_KINDS;

/** A change of the manifest that the log supports. */
export interface Proposal {
  /** The kind and the name of what changes: `method/contacts`. */
  readonly id: string;
  readonly kind: ProposalKind;
  /** In lower case, without a full stop. */
  readonly message: string;
  /** The id of the route; `undefined` for other parts of the manifest. */
  readonly route: string | undefined;
  /** The place in the manifest that it was found in. */
  readonly path: Path;
  readonly changes: readonly ManifestChange[];
  /** The methods that the route stops to accept, at least for some paths. Other routes must not get these requests. */
  readonly closes?: readonly string[];
  /** The allowed requests of the route, or of all routes that are concerned. */
  readonly evidence: Evidence;
  /** The number of refused requests of the route. */
  readonly refused: number;
}

/** A part of the manifest that a person should look at. It has no change, because the log cannot prove one. */
export interface Hint {
  readonly route: string;
  readonly message: string;
  readonly evidence: Evidence;
}
