import { type ParseArgsConfig, parseArgs } from 'node:util';
import { didYouMean } from '../engine/problem/did-you-mean.ts';
import type { Option, Options } from './terminal.ts';
import { UsageError } from './terminal.ts';

/**
 * Parses arguments as `parseArgs` of Node does in its strict mode. Throws a `UsageError` if they are invalid, since the errors of
 * `parseArgs` contain hints for programmers.
 */
export function parseArguments<const Config extends ParseArgsConfig & { readonly options?: Options }>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  const { args = [], options = {}, allowPositionals = false } = config;
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'option') rejectInvalidOption(token, options);
    else if (token.kind === 'positional' && !allowPositionals)
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
