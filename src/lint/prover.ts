import type { Pattern } from '../plan/pattern.ts';
import type { Router } from '../plan/plan.ts';
import { createRouter } from '../plan/router.ts';
import type { Witness } from '../problem/finding.ts';
import type { RouteSubject } from './subject.ts';

/**
 * Finds requests that show what a manifest does. It proposes paths, and the router that serves decides: what is
 * said of a request is what would happen to it.
 *
 * In a path, a text that no route has stands for every text of a parameter or a rest: fewer routes match it than
 * match any other text, and the most specific of those that match wins. So a route that loses these few paths
 * loses every path.
 */
export class Prover {
  readonly #routes: readonly RouteSubject[];
  readonly #router: Router;
  /** A segment that is no route's literal, in whatever letter case. */
  readonly #unknown: string;
  /** The length of the longest pattern, without its rest: what is longer is all alike. */
  readonly #depth: number;
  #plain: Router | undefined;

  constructor(routes: readonly RouteSubject[], router: Router) {
    this.#routes = routes;
    this.#router = router;
    const literals = new Set(routes.flatMap(({ pattern }) => pattern.map(foldedText)));
    let count = 0;
    while (literals.has(unknownText(count))) count += 1;
    this.#unknown = unknownText(count);
    this.#depth = routes.reduce((most, { pattern }) => Math.max(most, fixedLength(pattern)), 0);
  }

  /** What happens to a request. */
  ask(method: string, path: string): Witness {
    return { method, path, route: this.#router.match(method, path)?.id };
  }

  /** Paths of a pattern: if a route gets none of them, it gets no path of this pattern. */
  *pathsOf(pattern: Pattern): Generator<string> {
    const hasRest = pattern.at(-1)?.kind === 'rest';
    const fixed = hasRest ? pattern.slice(0, -1) : pattern;
    const segments = fixed.map((segment) => (segment.kind === 'literal' ? segment.text : this.#unknown));
    const most = hasRest ? Math.max(1, this.#depth + 1 - fixed.length) : 0;
    // One more segment is the usual case of a rest; none at all is the next.
    const lengths = most === 0 ? [0] : [1, 0, ...Array.from({ length: most - 1 }, (_, index) => index + 2)];
    for (const length of lengths) yield `/${[...segments, ...Array(length).fill(this.#unknown)].join('/')}`;
  }

  /** A request that a route gets, among those with these methods and a path of this pattern. */
  findFor(subject: RouteSubject, methods: readonly string[], pattern = subject.pattern): Witness | undefined {
    for (const path of this.pathsOf(pattern))
      for (const method of inUsualOrder(methods))
        if (this.#router.match(method, path) === subject.route) return { method, path, route: subject.route.id };
    return undefined;
  }

  /** Whether a route gets no request with this method: other routes take all of them. */
  isTaken({ route, pattern }: RouteSubject, method: string): boolean {
    return this.pathsOf(pattern).every((path) => this.#plainRouter().match(method, path)?.key !== route.key);
  }

  /** The router without what it does for servers that fold letter case: where no route asks for more than another. */
  #plainRouter(): Router {
    const nothing = {
      access: 'public',
      auth: undefined,
      login: undefined,
      body: undefined,
      parameters: undefined,
    } as const;
    this.#plain ??= createRouter(this.#routes.map(({ route }) => ({ ...route, ...nothing })));
    return this.#plain;
  }
}

const USUAL = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** What people think of first comes first. */
export function inUsualOrder(methods: readonly string[]): readonly string[] {
  return USUAL.filter((method) => methods.includes(method));
}

function unknownText(count: number): string {
  return count === 0 ? 'x' : `x${count}`;
}

function foldedText(segment: Pattern[number]): string {
  return segment.kind === 'literal' ? segment.text.toLowerCase() : '';
}

function fixedLength(pattern: Pattern): number {
  return pattern.length - (pattern.at(-1)?.kind === 'rest' ? 1 : 0);
}
