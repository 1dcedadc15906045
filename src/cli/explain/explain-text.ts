import { formatMethods } from '../../engine/http1/http-methods.ts';
import { printable } from '../../engine/problem/problem.ts';
import type { Explanation } from '../../prove/explain/explain-request.ts';
import { paint } from '../../report/text.ts';

type CandidateRoute = Explanation['candidates'][number];
type NearRoute = Explanation['near'][number];
type Invariant = Explanation['invariants'][number];

/** Formats an explanation as text: the steps in order, the skipped routes, and the request to the upstream. */
export function formatExplanation(explanation: Explanation, colour: boolean): string {
  const { request, manifest, steps, candidates, near, route, upstream, loggedPath } = explanation;
  const caller = request.claims === null ? 'without a token' : `with the claims ${JSON.stringify(request.claims)}`;
  const lines = [
    `${paint(printable(`${request.method} ${request.target}`), 'bold', colour)} ${caller}`,
    '',
    ...steps.flatMap((step) => [
      formatStep(step, manifest, colour),
      ...(step.step === 'route'
        ? [...parameterLines(route?.parameters), ...candidates.map(formatCandidate), ...near.map(formatNearRoute)]
        : []),
      ...(step.verdict === 'refused' ? violationLines(explanation) : []),
      ...(step.step === 'forward' && upstream !== null ? upstreamLines(upstream) : []),
    ]),
    ...explanation.invariants.map((invariant) => formatInvariant(invariant, manifest, colour)),
    ...(loggedPath === 'keyed' ? [formatLoggedPath(colour)] : []),
    '',
    formatOutcome(explanation, colour),
  ];
  return `${lines.join('\n')}\n`;
}

const MARKS = {
  passed: ['✓', 'green'],
  refused: ['✗', 'red'],
  reported: ['!', 'yellow'],
  responded: ['•', 'cyan'],
} as const;

function formatStep(
  { step, verdict, message, locations }: Explanation['steps'][number],
  manifest: string,
  colour: boolean,
): string {
  const [mark, style] = MARKS[verdict];
  const positions = [...new Set(locations.map(({ file = manifest }) => file))].map((file) => {
    const inFile = locations.filter((location) => (location.file ?? manifest) === file);
    return `  ${file}:${[...new Set(inFile.map(({ line }) => line))].join(', ')}`;
  });
  const suffix = positions.length === 0 ? '' : paint(printable(positions.join('')), 'dim', colour);
  return `${paint(mark, style, colour)} ${step.padEnd(WIDTH)}${printable(message)}${suffix}`;
}

/** The longest step name and a space. */
const WIDTH = 12;
const INDENT = ' '.repeat(WIDTH + 2);

function formatInvariant({ id, why, exception, ...place }: Invariant, manifest: string, colour: boolean) {
  const reason = exception ?? why;
  const text = `${id}${exception === null ? '' : ' excepts this route'}${reason === null ? '' : `: ${reason}`}`;
  const suffix = paint(printable(`  ${place.file ?? manifest}:${place.line}`), 'dim', colour);
  return `${paint('•', 'cyan', colour)} ${'invariant'.padEnd(WIDTH)}${printable(text)}${suffix}`;
}

/** Printed only if the log differs from the request, because a search in the log would not find the path. */
function formatLoggedPath(colour: boolean): string {
  return `${paint('•', 'cyan', colour)} ${'log'.padEnd(WIDTH)}the path has surrogates in place of its identifiers`;
}

function parameterLines(parameters: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(parameters).map(([name, value]) => `${INDENT}{${name}} is ${printable(value)}`);
}

const SKIP_REASON_TEXTS: Readonly<Record<CandidateRoute['reason'], (otherRoute: string) => string>> = {
  'less-specific': (otherRoute) => `is less specific than ${otherRoute}`,
  'other-method': () => 'does not allow this method',
  'encoded-slash': () => 'does not accept an encoded slash',
  'other-reading': (otherRoute) => `does not apply, since some servers would read the path as one of ${otherRoute}`,
};

function formatCandidate(candidate: CandidateRoute): string {
  const { reason, otherRoute } = candidate;
  return `${INDENT}not ${formatRoute(candidate)}: it ${SKIP_REASON_TEXTS[reason](otherRoute ?? 'another route')}`;
}

function formatNearRoute(route: NearRoute): string {
  return `${INDENT}near: ${formatRoute(route)}`;
}

function formatRoute({ id, methods, path, file, line }: NearRoute): string {
  const position = file === undefined ? `line ${line}` : `${printable(file)} line ${line}`;
  return `${id} (${formatMethods(methods)} ${path}, ${position})`;
}

function violationLines({ refusal }: Explanation): string[] {
  return (refusal?.errors ?? []).map(
    ({ pointer, message }) => `${INDENT}${printable(`${pointer || 'the body'} ${message}`)}`,
  );
}

function upstreamLines({ endpoints, headers, bodyBytes, timeoutsMs }: NonNullable<Explanation['upstream']>): string[] {
  const others = endpoints.length > 1 ? [`one of ${endpoints.join(', ')}`] : [];
  const limits = Object.entries(timeoutsMs).filter(([, ms]) => ms !== null);
  return [
    ...others,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(bodyBytes > 0 ? [`a body of ${bodyBytes} bytes`] : []),
    `time limits: ${limits.map(([name, ms]) => `${name} ${ms} ms`).join(', ')}`,
  ].map((text) => INDENT + printable(text));
}

function formatOutcome({ outcome, refusal, upstream }: Explanation, colour: boolean): string {
  if (refusal !== null) return paint(`refused: ${refusal.status} ${refusal.code}`, 'red', colour);
  if (outcome === 'responded') return 'the gateway responded itself';
  return paint(printable(`forwarded: ${upstream?.method} ${upstream?.url}`), 'green', colour);
}
