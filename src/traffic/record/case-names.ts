import { formatMethods } from '../../engine/http1/http-methods.ts';
import type { RecordedCase } from './merge-cases.ts';
import type { Observation } from './observation.ts';

/** Returns a name for each case. Cases that would have the same name begin with their methods, and then end with a number. */
export function nameCases(cases: readonly RecordedCase[]): readonly string[] {
  const plain = cases.map(plainName);
  const repeated = repeatedTexts(plain);
  const names = plain.map((name, index) =>
    repeated.has(name) ? `${formatMethods(cases[index]?.methods ?? []).replaceAll(',', ' ')} ${name}` : name,
  );
  const counts = new Map<string, number>();
  const stillRepeated = repeatedTexts(names);
  return names.map((name) => {
    if (!stillRepeated.has(name)) return name;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name} (${count})`;
  });
}

function repeatedTexts(texts: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(texts.filter((text) => seen.size === seen.add(text).size));
}

function plainName({ observation, roles, testCase }: RecordedCase): string {
  const { tested, isMatched, result } = observation;
  if (result.kind === 'server-options') return 'the options of the server have a response';
  if (result.kind === 'preflight') return `a preflight for ${tested?.entry.id} has a response`;
  const caller = roles.length === 0 ? '' : ` as ${roles.join(' or ')}`;
  const subject = isMatched
    ? `${tested?.entry.id}${caller}`
    : tested === undefined
      ? 'a request'
      : `the path of ${tested.entry.id}`;
  return `${subject} ${resultText(observation, testCase.expect.status)}`;
}

function resultText({ result, isHandshake }: Observation, status: number | undefined): string {
  if (result.kind === 'refused')
    return `is refused with ${result.code}${result.reason === result.code ? '' : ` for ${result.reason}`}`;
  const reported = result.kind === 'forwarded' ? result.reported : [];
  const suffix = reported.length === 0 ? '' : ` and reports ${reported.join(' and ')}`;
  if (isHandshake && status === undefined) return `opens a WebSocket${suffix}`;
  return status === undefined || status < 300 ? `is forwarded${suffix}` : `forwards the status ${status}${suffix}`;
}
