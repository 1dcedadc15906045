import { main } from '../../../src/cli/command-line.ts';
import type { CliResult } from '../../support/cli.ts';

export interface CandidateRun {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stop?: AbortSignal;
  /** True if standard error is a terminal. */
  readonly isTerminal?: boolean;
  /** Called with each text for standard error. */
  readonly onMessage?: (text: string) => void;
}

/** Runs `signing-gateway candidate` in this process. */
export async function runCandidate({
  args,
  env = {},
  stop,
  isTerminal = false,
  onMessage,
}: CandidateRun): Promise<CliResult> {
  let [out, err] = ['', ''];
  const code = await main(['candidate', ...args], {
    env,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
      onMessage?.(text);
    },
    outColour: false,
    errColour: false,
    outIsTerminal: false,
    errIsTerminal: isTerminal,
    stop: stop ?? new AbortController().signal,
    onAbruptExit: () => undefined,
    onSignal: () => undefined,
    setHungThreadCheck: () => undefined,
    openStreams: () => {
      throw new Error('no command of this test serves a protocol');
    },
  });
  return { code, out, err };
}
