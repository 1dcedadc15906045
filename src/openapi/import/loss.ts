import type { Path } from '../../engine/problem/finding.ts';

/** A part of an OpenAPI document that the routes do not express. */
export interface Loss {
  /** Its place in the document of version 3.1. */
  readonly path: Path;
  /** `looser`: the gateway accepts what the document does not. `stricter`: it refuses what the document accepts. */
  readonly effect: 'looser' | 'stricter' | 'none';
  /** A sentence in lower case and without a full stop. */
  readonly message: string;
}

/** Records a loss. */
export type ReportLoss = (path: Path, effect: Loss['effect'], message: string) => void;
