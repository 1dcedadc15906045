/** What a verb may do to the world: everything that `main.ts` takes from the process. */
export interface Terminal {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results, and nothing but results. */
  readonly out: (text: string) => void;
  /** Everything that is said to a person on the way. */
  readonly err: (text: string) => void;
  /** Whether `out` and `err` are terminals that show colour. */
  readonly outColour: boolean;
  readonly errColour: boolean;
  /** Whether `out` is a terminal, where a person reads. */
  readonly outIsTerminal: boolean;
  /** Aborted when the process is asked to stop; the reason is the signal. */
  readonly stop: AbortSignal;
  /**
   * Calls back when the process ends before the verb does, by a fault that nobody caught or, without one, by a second signal:
   * what there is to write must be written at once.
   */
  readonly onAbruptExit: (listener: (fault?: unknown) => void) => void;
  /** Calls back on every signal that does not stop the process, and on those that arrived before. */
  readonly onSignal: (listener: (signal: NodeJS.Signals) => void) => void;
  /** `check` returns true while a thread waits for the kernel, perhaps for ever: the end of the process must not wait for it. */
  readonly setHungThreadCheck: (check: () => boolean) => void;
}

/** 0: clean; 1: problems were found; 2: wrong usage, or the work could not be done. */
export type ExitCode = 0 | 1 | 2;

/** An option of a verb, as `parseArgs` takes it; its help and the shell's completion are made of the rest. */
export interface Option {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  readonly multiple?: boolean;
  /** What is written behind it, `FILE` say. */
  readonly valueName?: string;
  /** The only words that may be written behind it. */
  readonly choices?: readonly string[];
  readonly summary: string;
}

export type Options = Readonly<Record<string, Option>>;

/** A verb of the command line. */
export interface Verb {
  readonly usage: string;
  readonly options?: Options;
  /** What its arguments may be; left out: files. */
  readonly choices?: readonly string[];
  readonly examples: readonly string[];
  readonly run: (terminal: Terminal) => Promise<ExitCode>;
}

/** The call cannot be understood; the message says what to type. */
export class UsageError extends Error {}

/** The work cannot be done, for a reason that is not the manifest's. */
export class CommandError extends Error {}
