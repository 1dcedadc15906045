/** Everything that a verb may use of the process. `main.ts` creates it. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes results to standard output. */
  readonly out: (text: string) => void;
  /** Writes messages for a person to standard error. */
  readonly err: (text: string) => void;
  /** True if standard output is a terminal that shows colour. */
  readonly outColour: boolean;
  /** True if standard error is a terminal that shows colour. */
  readonly errColour: boolean;
  /** True if standard output is a terminal, so a person reads it. */
  readonly outIsTerminal: boolean;
  /** True if standard error is a terminal, which can show progress. */
  readonly errIsTerminal: boolean;
  /** Opens standard input and output as streams, for a protocol. Nothing else may write to the output afterwards. */
  readonly openStreams: () => { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };
  /** Aborted when the process must stop. The reason is the signal. */
  readonly stop: AbortSignal;
  /** Calls the listener, which must write at once, when the process exits before the verb returns: with the uncaught error, if any. */
  readonly onAbruptExit: (listener: (error?: unknown) => void) => void;
  /** Calls the listener for every signal that does not stop the process, including signals that arrived earlier. */
  readonly onSignal: (listener: (signal: NodeJS.Signals) => void) => void;
  /** Sets a check that returns true while a thread hangs in the kernel. The exit of the process does not wait for such a thread. */
  readonly setHungThreadCheck: (check: () => boolean) => void;
}

/** 0: success. 1: problems found. 2: wrong usage, or the command failed. */
export type ExitCode = 0 | 1 | 2;

/** An option of a verb: the members that `parseArgs` takes, and those for help and completion. */
export interface Option {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  readonly multiple?: boolean;
  /** Placeholder for the value in the help, for example `FILE`. */
  readonly valueName?: string;
  /** The only valid values. Default: any. */
  readonly choices?: readonly string[];
  /** Starts of values that completion offers; other values are valid too. */
  readonly starts?: readonly string[];
  /** Completion offers these words of the manifest, which `completion --words` prints; other values are valid too. */
  readonly manifestWords?: 'roles' | 'claims' | 'issuers';
  readonly summary: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The values of options, as `parseArguments` returns them. */
export type OptionValues<Known extends Options> = {
  readonly [Name in keyof Known]?: Value<Known[Name]> | undefined;
};

type Value<Known extends Option> = Known['type'] extends 'boolean'
  ? boolean
  : Known extends { readonly multiple: true }
    ? string[]
    : string;

/** The arguments of a verb, as `parseArguments` returns them. */
export interface Arguments<Known extends Options> {
  readonly values: OptionValues<Known>;
  readonly positionals: readonly string[];
  /** The options in the order of the command line. */
  readonly tokens: readonly { readonly kind: string; readonly name?: string; readonly value?: string | undefined }[];
}

/** A command of the program: `signing-gateway VERB`. */
export interface Verb<Known extends Options = Options> {
  readonly usage: string;
  readonly options: Known;
  /** The words that are valid as the first argument; none if there are no arguments. Default: file names. */
  readonly choices?: readonly string[];
  readonly examples: readonly string[];
  run(terminal: Terminal, given: Arguments<Known>): Promise<ExitCode>;
}

/** Declares a verb, whose `run` gets the values of its options. */
export function defineVerb<const Known extends Options>(verb: Verb<Known>): Verb<Known> {
  return verb;
}

/** The verbs of the command line by name. */
export type VerbTable = Readonly<
  Record<string, { readonly summary: string; readonly load: () => Promise<{ readonly verb: Verb }> }>
>;

/** The command line is invalid. The message says what to type. */
export class UsageError extends Error {}

/** The command failed for a reason other than the manifest, such as an unreadable file. */
export class CommandError extends Error {
  readonly code: ExitCode = 2;
}

/** A file that the command needs has errors, which are the message. */
export class InvalidFileError extends CommandError {
  override readonly code: ExitCode;

  constructor(problems: string, code: ExitCode) {
    super(problems.trimEnd());
    this.code = code;
  }
}

/** Returns the code of an error of the system, and any other error as a text. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
