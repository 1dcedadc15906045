import type { Responses } from './api.ts';
import { badge, byId, element } from './element.ts';
import { integer, quantity } from './format.ts';

type ProblemGroup = Extract<
  NonNullable<Responses['status']['last_reload']>,
  { result: 'rejected' }
>['problems'][number];

const MAX_GROUPS = 5;

/** Shows the problems of a rejected manifest. Equal problems are one entry. */
export function showProblems(reload: Responses['status']['last_reload']) {
  const { problems, problem_count } = reload?.result === 'rejected' ? reload : { problems: [], problem_count: 0 };
  const link = element('a', { href: '#/manifest' }, `Show ${quantity(problem_count, 'problem')} in the manifest`);
  const last = problem_count === 0 ? [] : [element('p', {}, link)];
  byId('problems').replaceChildren(...problemElements(problems, problem_count), ...last);
}

/** Returns the elements of the first problems, and the number of the others. `count` is that of all problems. */
export function problemElements(problems: readonly ProblemGroup[], count: number) {
  const groups = problems.slice(0, MAX_GROUPS);
  const rest = count - groups.reduce((sum, group) => sum + group.count, 0);
  const more = rest === 0 ? [] : [element('p', {}, `and ${integer(rest)} more.`)];
  return [...groups.map(groupElement), ...more];
}

export function severityKind(severity: string) {
  return severity === 'error' ? 'bad' : severity === 'warning' ? 'warn' : 'calm';
}

function groupElement({ file, line, column, severity, message, rule, frame, count, others }: ProblemGroup) {
  const lines = others.map((other) => (other.file === file ? `${other.line}` : `${other.file}:${other.line}`));
  const more = count - 1 - others.length;
  const elsewhere = `${quantity(count - 1, 'equal problem')} in ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${more > 0 ? ' …' : ''}`;
  return element(
    'article',
    { class: 'problem' },
    element(
      'p',
      {},
      badge(severity, severityKind(severity)),
      ' ',
      element('code', {}, `${file}:${line}:${column}`),
      ` ${message} `,
      element('span', { class: 'hint' }, `[${rule}]`),
    ),
    element('pre', { tabindex: 0, role: 'region', 'aria-label': `Lines around ${file}:${line}:${column}` }, frame),
    ...(count === 1 ? [] : [element('p', { class: 'hint' }, elsewhere)]),
  );
}
