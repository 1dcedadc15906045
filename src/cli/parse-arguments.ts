import { parseArgs } from 'node:util';
import { didYouMean, suggestion } from '../engine/problem/did-you-mean.ts';
import { type Arguments, type Option, type Options, UsageError } from './terminal.ts';

/** Parses arguments as `parseArgs` of Node does. Throws a `UsageError`: the errors of `parseArgs` contain hints for programmers. */
export function parseArguments(
  args: readonly string[],
  options: Options,
  allowsPositionals: boolean,
): Arguments<Options> {
  const config = { args: [...args], options, allowPositionals: true, tokens: true } as const;
  for (const token of parseArgs({ ...config, strict: false }).tokens) {
    if (token.kind === 'option') rejectInvalidOption(token, options);
    else if (token.kind === 'positional' && !allowsPositionals)
      throw new UsageError(`unexpected argument "${token.value}"; remove it`);
  }
  return parseArgs(config) as Arguments<Options>;
}

interface OptionToken {
  readonly name: string;
  /** As written: `-f` or `--format`. */
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function rejectInvalidOption({ name, rawName, value, inlineValue }: OptionToken, options: Options): void {
  const option: Option | undefined = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) throw new UsageError(`unknown option "${rawName}"${nearOption(name, options)}`);
  if (option.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value; remove "=${value}"`);
    return;
  }
  const placeholder = option.valueName ?? 'VALUE';
  if (value === undefined) throw new UsageError(`${rawName} needs a value; write ${rawName} ${placeholder}`);
  // "-f --output" is more likely a forgotten value than the value "--output".
  if (!inlineValue && value.length > 1 && value.startsWith('-'))
    throw new UsageError(`${rawName} needs a value before "${value}"; if that is the value, write --${name}=${value}`);
}

function nearOption(name: string, options: Options): string {
  const near = name.length === 1 ? undefined : didYouMean(name, [...Object.keys(options), 'help']);
  return near === undefined ? '' : `; did you mean "--${near}"?`;
}

/** Parses a count. Throws a `UsageError` if it is not an integer. */
export function parseCount(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${option} takes an integer, not "${text}"`);
  return Number(text);
}

/** Parses the largest number of lines to print. 0 means no limit. */
export function parseLimit(option: string, text: string | undefined, defaultLimit: number): number {
  return text === undefined ? defaultLimit : parseCount(option, text) || Number.POSITIVE_INFINITY;
}

/** Returns the word of the command line, or the default. Throws a `UsageError` about `noun`, such as `--format`, for another word. */
export function parseChoice<Word extends string, Default = Word>(
  noun: string,
  text: string | undefined,
  words: readonly Word[],
  defaultWord: Default,
): Word | Default {
  if (text === undefined) return defaultWord;
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new UsageError(`unknown ${noun} "${text}"${suggestion(text, words)}`);
  return word;
}

/** Returns an option with a value. `more` has its other members. */
export function valueOption<const More extends Partial<Option> = object>(
  valueName: string,
  summary: string,
  more?: More,
): { readonly type: 'string'; readonly valueName: string; readonly summary: string } & NoInfer<More> {
  return { type: 'string', valueName, summary, ...(more as NoInfer<More>) };
}

/** Returns the option `--format` of a verb, whose first format is the default. */
export function formatOption(formats: Readonly<Record<string, unknown>>, summary: string) {
  return valueOption('FORMAT', summary, { short: 'f', choices: Object.keys(formats) });
}

/** Returns the name of the format that `--format` states, or of the first one. Throws a `UsageError` for an unknown name. */
export function parseFormat<Name extends string>(formats: Readonly<Record<Name, unknown>>, text: string | undefined) {
  const names = Object.keys(formats) as Name[];
  return parseChoice('--format', text, names, names[0] as Name);
}

/** Parses a share of the requests. Throws a `UsageError` if it is not above 0 and at most 1. */
export function parseShare(option: string, text = '1'): number {
  const share = Number(text);
  if (!(share > 0 && share <= 1))
    throw new UsageError(`--${option} ${text}: write a number above 0 and at most 1, such as 0.1`);
  return share;
}
