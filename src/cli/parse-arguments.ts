import { parseArgs } from 'node:util';
import { didYouMean, suggestion } from '../engine/problem/did-you-mean.ts';
import type { Option, Options } from './terminal.ts';
import { UsageError } from './terminal.ts';

interface Config<Known extends Options> {
  readonly args: string[];
  readonly options: Known;
  readonly allowPositionals: true;
  readonly tokens: true;
}

/**
 * Parses arguments as `parseArgs` of Node does in its strict mode. Throws a `UsageError` if they are invalid, since the errors of
 * `parseArgs` contain hints for programmers.
 */
export function parseArguments<const Known extends Options>(
  args: readonly string[],
  options: Known,
  allowsPositionals = true,
): ReturnType<typeof parseArgs<Config<Known>>> {
  const config: Config<Known> = { args: [...args], options, allowPositionals: true, tokens: true };
  for (const token of parseArgs({ ...config, strict: false }).tokens) {
    if (token.kind === 'option') rejectInvalidOption(token, options);
    else if (token.kind === 'positional' && !allowsPositionals)
      throw new UsageError(`unexpected argument "${token.value}"; remove it`);
  }
  return parseArgs(config);
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

/**
 * Returns the word of the command line, or else the default. Throws a `UsageError` for a word that is not among these.
 *
 * @param noun names the word in a sentence, such as `--format`
 */
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
