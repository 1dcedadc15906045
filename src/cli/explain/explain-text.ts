import type {
  CandidateRoute,
  ExplainedUpstreamRequest,
  Explanation,
  ExplanationStep,
  SkipReason,
} from '../../explain/explanation.ts';
import { printable } from '../../problem/printable.ts';
import { formatMethods, paint } from '../format.ts';

/** An explanation as a person reads it: the steps in their order, what lost, what the upstream gets. */
export function formatExplanation(explanation: Explanation, colour: boolean): string {
  const { request, manifest, steps, candidates, route, upstream } = explanation;
  const caller = request.claims === null ? 'without a token' : `with the claims ${JSON.stringify(request.claims)}`;
  const lines = [
    `${paint(printable(`${request.method} ${request.target}`), 'bold', colour)} ${caller}`,
    '',
    ...steps.flatMap((step) => [
      formatStep(step, manifest, colour),
      ...(step.step === 'route' ? [...parameterLines(route?.parameters), ...candidates.map(formatCandidate)] : []),
      ...(step.verdict === 'refused' ? violationLines(explanation) : []),
      ...(step.step === 'forward' && upstream !== null ? upstreamLines(upstream) : []),
    ]),
    '',
    formatOutcome(explanation, colour),
  ];
  return `${lines.join('\n')}\n`;
}

const MARKS = {
  passed: ['✓', 'green'],
  refused: ['✗', 'red'],
  reported: ['!', 'yellow'],
  answered: ['•', 'cyan'],
} as const;

function formatStep({ step, verdict, because, lines }: ExplanationStep, manifest: string, colour: boolean): string {
  const [mark, style] = MARKS[verdict];
  const at = [...new Set(lines.map(({ file = manifest }) => file))].map((file) => {
    const inFile = lines.filter((place) => (place.file ?? manifest) === file);
    return `  ${file}:${[...new Set(inFile.map(({ line }) => line))].join(', ')}`;
  });
  const place = at.length === 0 ? '' : paint(printable(at.join('')), 'dim', colour);
  return `${paint(mark, style, colour)} ${step.padEnd(WIDTH)}${printable(because)}${place}`;
}

/** Of the longest step's name, and a blank. */
const WIDTH = 12;
const INDENT = ' '.repeat(WIDTH + 2);

function parameterLines(parameters: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(parameters).map(([name, value]) => `${INDENT}{${name}} is ${printable(value)}`);
}

const SKIP_REASON_TEXTS: Readonly<Record<SkipReason, (to: string) => string>> = {
  'less-specific': (to) => `is less specific than ${to}`,
  'other-method': () => 'has not this method',
  'encoded-slash': () => 'keeps no encoded slash',
  'other-reading': (to) => `is refused here, since some servers would read the path as one of ${to}`,
};

function formatCandidate({ id, methods, path, file, line, lost, to }: CandidateRoute): string {
  const place = file === undefined ? `line ${line}` : `${printable(file)} line ${line}`;
  return `${INDENT}not ${id} (${formatMethods(methods)} ${path}, ${place}): it ${SKIP_REASON_TEXTS[lost](to ?? 'another route')}`;
}

function violationLines({ refusal }: Explanation): string[] {
  return (refusal?.errors ?? []).map(
    ({ pointer, message }) => `${INDENT}${printable(`${pointer || 'the body'} ${message}`)}`,
  );
}

function upstreamLines({ targets, headers, bodyBytes, timeoutsMs }: ExplainedUpstreamRequest): string[] {
  const others = targets.length > 1 ? [`one of ${targets.join(', ')}`] : [];
  const times = Object.entries(timeoutsMs).filter(([, ms]) => ms !== null);
  return [
    ...others,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(bodyBytes > 0 ? [`a body of ${bodyBytes} bytes`] : []),
    `time limits: ${times.map(([name, ms]) => `${name} ${ms} ms`).join(', ')}`,
  ].map((text) => INDENT + printable(text));
}

function formatOutcome({ outcome, refusal, upstream }: Explanation, colour: boolean): string {
  if (refusal !== null) return paint(`refused: ${refusal.status} ${refusal.code}`, 'red', colour);
  if (outcome === 'answered') return 'answered by the gateway itself';
  return paint(printable(`forwarded: ${upstream?.method} ${upstream?.url}`), 'green', colour);
}
