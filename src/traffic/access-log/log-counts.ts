/** The reasons why a line of a log is not a logged request. */
export const SKIP_REASONS = {
  blank: 'empty lines',
  'not-json': 'lines of other programs, without JSON',
  foreign: 'JSON of other programs',
  'other-message': 'lines about the process of the gateway',
  truncated: 'lines whose JSON ends too early',
  'too-long': 'lines longer than 64 KB',
  'member-invalid': 'requests with a member of the wrong type',
} as const;

export type SkippedLineReason = keyof typeof SKIP_REASONS;

/** The skipped lines of one reason. */
interface SkippedLines {
  lines: number;
  /** The log and the number of the first of them. */
  readonly source: string;
  readonly line: number;
  /** The member of the first one that is invalid. */
  readonly member: string | undefined;
}

/** The numbers of lines that were read so far. */
export interface LogCounts {
  lines: number;
  requests: number;
  readonly skipped: Map<SkippedLineReason, SkippedLines>;
  /** The logs that could not be read to their ends: the number of lines before, and what is wrong and what to do. */
  readonly failures: { readonly source: string; readonly lines: number; readonly message: string }[];
}
