import type { Options } from '../terminal.ts';

/** What a shell is told of a verb. */
export interface CompletionVerb {
  readonly name: string;
  readonly summary: string;
  readonly options: Options;
  /** What its arguments may be; left out: files. */
  readonly choices?: readonly string[];
}

/** The script that makes a shell complete the calls of the command. */
export type CompletionScript = (verbs: readonly CompletionVerb[]) => string;

export const COMMAND = 'signing-gateway';

/** An option in each of its spellings. */
export function flagsOf(name: string, short: string | undefined): string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}
