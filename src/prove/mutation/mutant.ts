import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { Pattern } from '../../engine/routing/pattern.ts';
import type { CaseRequest, CaseResponse } from '../testing/test-file.generated.ts';

/** One kind of change that makes a manifest weaker, or gives requests to another part of it. */
export interface Mutator {
  /** Kebab-case, stable across versions. */
  readonly id: string;
  /** The change, for the documentation, in lower case and without a full stop. */
  readonly summary: string;
  readonly find: (original: MutationContext) => Iterable<Mutant>;
}

export type Mutators = Readonly<Record<string, Omit<Mutator, 'id'>>>;

/** A changed manifest. A good test file has a case that passes with the original and fails with this one. */
export interface Mutant {
  /** The location of the change in the original manifest. */
  readonly path: Path;
  /** The effect of the change, in lower case and without a full stop. */
  readonly message: string;
  readonly manifest: Manifest;
  /** The routes whose requests can show the change. */
  readonly routes: readonly TestedRoute[];
  /** Yields requests that may show the change, made from a request that the route forwards. */
  readonly probes: (base: Probe, route: TestedRoute) => Iterable<Probe>;
  /** The reason why no test case can notice the change, if it is known. */
  readonly invisible?: string;
  /** Printed if no request of the search shows the change, because the test file lacks something that a case needs. */
  readonly advice?: string | undefined;
}

/** One request, with the response of the upstream. */
export interface Probe {
  readonly request: Omit<CaseRequest, 'method' | 'url' | 'role'> & {
    readonly method: string;
    readonly url: string;
    readonly role?: string;
  };
  readonly response?: CaseResponse;
}

/** A route as written and as compiled. */
export interface TestedRoute {
  /** For example `['routes', 3]`. */
  readonly path: Path;
  readonly entry: RouteEntry;
  readonly route: Route;
  readonly pattern: Pattern;
}

/** The original manifest, and facts about its test file that mutators use. */
export interface MutationContext {
  readonly manifest: Manifest;
  readonly plan: Plan;
  readonly routes: readonly TestedRoute[];
  /** A role that the manifest does not allow. If the test file uses such roles, it is one of these. */
  readonly otherRole: string;
  /** An origin that the manifest does not allow, taken from the test file if possible. */
  readonly otherOrigin: string;
  readonly sendsOrigin: boolean;
  /** Returns a token of the test file that has this role. */
  readonly tokenOfRole: (role: string) => string | undefined;
  /** Yields sample paths of a pattern; see `createSamplePaths`. */
  readonly samplePaths: (pattern: Pattern) => Iterable<string>;
  /** Returns a value that the schema at a path accepts in the changed manifest, and not in the original; none if no sample shows it. */
  readonly newValues: (path: Path, changed: Manifest) => readonly unknown[];
  /** Does the same for the text of a parameter. */
  readonly newTexts: (path: Path, changed: Manifest) => readonly string[];
  /** Returns a value that the schema at a path accepts; none if no sample is valid. */
  readonly validValues: (path: Path) => readonly unknown[];
  /** Does the same for the text of a parameter. */
  readonly validTexts: (path: Path) => readonly string[];
  /** Returns texts that the schema of a parameter does not accept. */
  readonly invalidTexts: (path: Path) => readonly string[];
}
