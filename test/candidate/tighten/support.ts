import { Readable } from 'node:stream';
import { load, type PlannedManifest } from '../../../src/engine/load.ts';
import { createMemoryEnvironment, type Source } from '../../../src/engine/manifest/source.ts';
import { readLogs } from '../../../src/traffic/access-log/read-logs.ts';
import { type TightenResult, tighten } from '../../../src/traffic/tighten/tighten.ts';
import { type Usage, UsageCounter } from '../../../src/traffic/tighten/usage.ts';

/** The members of a line that a test sets; all others have values. */
export type Line = Readonly<Record<string, unknown>>;

const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 60_000;

/** Returns the lines of a log. Each request is a minute after the one before. */
export function logText(lines: readonly Line[]): string {
  return lines
    .map((line, index) => {
      const time = START_MS + index * STEP_MS;
      const defaults = {
        level: 30,
        time,
        msg: 'request',
        id: `r${index}`,
        status: 200,
        gatewayMs: 1,
        peer: '192.0.2.1',
      };
      return `${JSON.stringify({ ...defaults, ...line })}\n`;
    })
    .join('');
}

export function loadText(
  text: string,
  files: Readonly<Record<string, string>> = {},
  path = 'gateway.yaml',
): PlannedManifest {
  const loaded = load({ path, text }, createMemoryEnvironment({}, files));
  if (loaded.plan === undefined)
    throw new Error(`${loaded.problems.map(({ message }) => message).join('\n')}\n${text}`);
  return loaded;
}

export async function usageOf(loaded: PlannedManifest, log: string, name = 'access.log'): Promise<Usage> {
  const counter = new UsageCounter(loaded);
  for await (const batch of readLogs([{ name, open: () => Readable.from([Buffer.from(log)]) }]))
    for (const request of batch) counter.add(request);
  return counter.usage;
}

/** Returns the proposals for a manifest and a log. Fails if `only` names no proposal. */
export async function tightenText(
  text: string,
  log: string,
  {
    files = {},
    only = [],
  }: { readonly files?: Readonly<Record<string, string>>; readonly only?: readonly string[] } = {},
): Promise<TightenResult> {
  const loaded = loadText(text, files);
  const result = tighten(loaded, await usageOf(loaded, log), createMemoryEnvironment({}, files), only);
  if ('unknown' in result)
    throw new Error(`unknown proposals: ${result.unknown.join(', ')}; known: ${result.known.join(', ')}`);
  return result;
}

export const idsOf = ({ proposals }: TightenResult): string[] => proposals.map(({ proposal }) => proposal.id).sort();

/** Returns the text of the manifest after the proposals. */
export function textAfter({ after }: TightenResult): string {
  return after[0]?.text ?? '';
}

/** Returns the included files after the proposals, by their paths. */
export function filesAfter(after: readonly Source[]): Record<string, string> {
  return Object.fromEntries(after.slice(1).map(({ path, text }) => [path, text]));
}
