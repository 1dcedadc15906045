import { formatText } from '../../check/fmt/format-text.ts';
import { formatMethods } from '../../engine/http1/http-methods.ts';
import { formatFlow } from '../../engine/manifest/yaml-text.ts';
import { formatTestCase } from '../../prove/mutation/missing-case.ts';
import type { TestFile } from '../../prove/testing/test-file.generated.ts';
import type { Observation, UnrecordedCounts } from './observe-requests.ts';
import type { RecordedCase } from './recorded-cases.ts';

interface RecordedFile {
  /** The path of the manifest, and values for the environment variables that it requires. */
  readonly manifest: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly tokens: TestFile['tokens'];
  readonly cases: readonly RecordedCase[];
  readonly requests: number;
  readonly unrecorded: UnrecordedCounts;
}

/** Formats a test file, as `fmt` formats it. The cases of a route are together. */
export function formatRecording(recording: RecordedFile): string {
  const { manifest, environment, cases, requests, unrecorded } = recording;
  const names = nameCases(cases);
  const lines = [
    `# Recorded from ${pluralizeRequests(requests)} of an access log.`,
    'version: 1',
    `manifest: ${formatFlow(manifest)}`,
    ...mapLines('environment', environment),
    ...mapLines('tokens', usedTokens(recording)),
    'cases:',
    ...cases.flatMap((recorded, index) => [
      ...(index > 0 && recorded.observation.tested !== cases[index - 1]?.observation.tested ? [''] : []),
      ...caseLines(recorded, names[index] ?? '').map((line) => `  ${line}`),
    ]),
    ...unrecordedLines(unrecorded),
  ];
  return formatText(`${lines.join('\n')}\n`);
}

function mapLines(name: string, map: object): string[] {
  const entries = Object.entries(map);
  return entries.length === 0
    ? []
    : [`${name}:`, ...entries.map(([key, value]) => `  ${formatFlow(key)}: ${formatFlow(value)}`)];
}

function caseLines(recorded: RecordedCase, name: string): string[] {
  const { testCase, requests, hasLoggedRole, roles } = recorded;
  const note = roles.length > 0 && !hasLoggedRole ? ', without a role in the log' : '';
  return [
    `# ${pluralizeRequests(requests)}${note}`,
    ...formatTestCase({ ...testCase, name })
      .trimEnd()
      .split('\n'),
  ];
}

/** Returns the tokens whose text a case contains. */
function usedTokens({ tokens, cases }: RecordedFile): TestFile['tokens'] {
  const text = JSON.stringify(cases.map(({ testCase }) => [testCase.request.headers, testCase.response]));
  const ends = '[" ]';
  return Object.fromEntries(Object.entries(tokens).filter(([token]) => new RegExp(`${ends}${token}"`).test(text)));
}

function unrecordedLines(unrecorded: UnrecordedCounts): string[] {
  if (unrecorded.size === 0) return [];
  const reasons = [...unrecorded].map(([reason, requests]) => `# - ${pluralizeRequests(requests)}: ${reason}`);
  return ['', '# Requests without a test case:', ...reasons];
}

/** Formats a number of requests. It is an estimate if the log has a sample of them. */
export function pluralizeRequests(requests: number): string {
  const rounded = Math.round(requests);
  return `${rounded} request${rounded === 1 ? '' : 's'}`;
}

/** Returns a name for each case. Cases that would have the same name begin with their methods, and then end with a number. */
function nameCases(cases: readonly RecordedCase[]): readonly string[] {
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
  const of = observation.issuer === undefined ? '' : ` of ${observation.issuer}`;
  const caller = roles.length === 0 ? '' : ` as ${roles.join(' or ')}${of}`;
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
