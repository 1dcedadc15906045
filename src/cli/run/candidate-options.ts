import { type Options, type OptionValues, UsageError } from '../terminal.ts';
import type { CandidateFile } from './watch-candidate.ts';

export const CANDIDATE_OPTIONS = {
  candidate: {
    type: 'string',
    valueName: 'FILE',
    summary: 'a manifest to compare the requests with; it decides about none of them',
  },
  'candidate-sample': {
    type: 'string',
    valueName: 'SHARE',
    summary: 'the share of the requests to compare, above 0 and at most 1 (default 1)',
  },
} as const satisfies Options;

/** Returns the file that the options name. Throws a `UsageError` for an invalid share. */
export function readCandidate(values: OptionValues<typeof CANDIDATE_OPTIONS>): CandidateFile | undefined {
  const { candidate: path, 'candidate-sample': share } = values;
  const sample = share === undefined ? 1 : Number(share);
  if (!(sample > 0 && sample <= 1)) throw new UsageError(`--candidate-sample ${share}: write a number such as 0.1`);
  if (path !== undefined) return { path, sample };
  if (share !== undefined) throw new UsageError('--candidate-sample needs --candidate FILE');
  return undefined;
}
