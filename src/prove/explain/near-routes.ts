import type { Route } from '../../engine/plan/route-definition.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import { editSteps, isNear } from '../../engine/problem/did-you-mean.ts';
import type { Pattern } from '../../engine/routing/pattern.ts';

const MAX_ROUTES = 3;
/** The time of a comparison grows with the square of the length. */
const MAX_LENGTH = 200;

/**
 * Finds the routes whose paths resemble a path that no route has: a misspelt segment, or segments that are missing at its start
 * or its end. The nearest comes first.
 */
export function* findNearRoutes(routes: readonly Route[], path: string): SlicedWork<readonly Route[]> {
  const written = path.slice(0, MAX_LENGTH);
  if (written === '/' || written === '') return [];
  const segments = written.split('/').slice(1);
  const near: { route: Route; steps: number }[] = [];
  for (const route of routes) {
    yield;
    const example = examplePath(route.pattern, segments);
    if (isNear(written, example) || isPart(written, example)) near.push({ route, steps: editSteps(written, example) });
  }
  return near
    .toSorted((a, b) => a.steps - b.steps)
    .slice(0, MAX_ROUTES)
    .map(({ route }) => route);
}

function isPart(path: string, example: string): boolean {
  return example.endsWith(path) || example.startsWith(`${path}/`) || path.startsWith(`${example}/`);
}

/** Returns a path of the route that has the requested segments in place of its parameters. */
function examplePath(pattern: Pattern, segments: readonly string[]): string {
  const parts = pattern.flatMap((segment, index) => {
    if (segment.kind === 'literal') return [segment.text];
    if (segment.kind === 'parameter') return [segments[index] ?? `{${segment.name}}`];
    return segments.slice(index);
  });
  return `/${parts.join('/')}`.slice(0, MAX_LENGTH);
}
