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
export interface SkippedLines {
  readonly lines: number;
  /** The log and the number of the first of them. */
  readonly source: string;
  readonly line: number;
  /** The member of the first one that is invalid. */
  readonly member: string | undefined;
}

/** A log that could not be read to its end. */
export interface LogFailure {
  readonly source: string;
  /** The number of lines before it. */
  readonly lines: number;
  /** Says what is wrong and what to do. */
  readonly message: string;
}

/** The numbers of lines that were read so far. */
export interface LogCounts {
  readonly lines: number;
  readonly requests: number;
  readonly skipped: ReadonlyMap<SkippedLineReason, SkippedLines>;
  readonly failures: readonly LogFailure[];
}

/** Counts the lines of logs. */
export class LogCounter implements LogCounts {
  lines = 0;
  requests = 0;
  readonly skipped = new Map<
    SkippedLineReason,
    { lines: number; source: string; line: number; member: string | undefined }
  >();
  readonly failures: LogFailure[] = [];

  skip(reason: SkippedLineReason, source: string, line: number, member?: string): void {
    const counted = this.skipped.get(reason);
    if (counted === undefined) this.skipped.set(reason, { lines: 1, source, line, member });
    else counted.lines += 1;
  }
}
