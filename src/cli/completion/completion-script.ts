import type { Options, Verb } from '../terminal.ts';

/** The part of a verb that a completion script needs. */
export interface CompletionVerb extends Pick<Verb, 'choices'> {
  readonly name: string;
  readonly summary: string;
  readonly options: Options;
}

/** Returns the script that completes the command line in one shell. */
export type CompletionScript = (verbs: readonly CompletionVerb[]) => string;

export const COMMAND = 'signing-gateway';

/** The command that prints words of a manifest: its arguments are the kind, and optionally the manifest. */
export const WORDS_COMMAND = 'completion --words';

export function flagsOf(name: string, short: string | undefined): string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}
