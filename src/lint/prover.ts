import type { Pattern } from '../plan/pattern.ts';
import type { Router } from '../plan/plan.ts';
import { createRouter } from '../plan/router.ts';
import { createSamplePaths, inUsualOrder } from '../plan/sample-paths.ts';
import type { Witness } from '../problem/finding.ts';
import type { RouteSubject } from './subject.ts';

/**
 * Finds requests that show what a manifest does. It proposes paths, and the router that serves decides: what is
 * said of a request is what would happen to it.
 */
export class Prover {
  readonly #routes: readonly RouteSubject[];
  readonly #router: Router;
  /** Paths of a pattern: if a route gets none of them, it gets no path of this pattern. */
  readonly pathsOf: (pattern: Pattern) => Generator<string>;
  #plain: Router | undefined;

  constructor(routes: readonly RouteSubject[], router: Router) {
    this.#routes = routes;
    this.#router = router;
    this.pathsOf = createSamplePaths(routes.map(({ pattern }) => pattern));
  }

  /** What happens to a request. */
  ask(method: string, path: string): Witness {
    return { method, path, route: this.#router.match(method, path)?.id };
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
