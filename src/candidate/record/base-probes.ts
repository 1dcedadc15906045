import { madeRequest } from '../../testing/mutation/base-requests.ts';
import { withKey } from '../../testing/mutation/limited-requests.ts';
import type { MutationContext, Probe, TestedRoute } from '../../testing/mutation/mutant.ts';
import { HANDSHAKE } from '../../testing/mutation/mutators/forwarding.ts';
import { withoutBody, withRequest } from '../../testing/mutation/probes.ts';
import type { Observation } from './observation.ts';
import type { RecordTokens } from './record-tokens.ts';

/** Everything that the search for a test case needs. */
export interface RecordContext {
  readonly context: MutationContext;
  readonly tokens: RecordTokens;
  /** Returns the paths of a route to try, the best first. */
  readonly pathsOf: (tested: TestedRoute) => readonly string[];
  /** The first path of the log that no route has. */
  readonly unknownPath: string;
}

/** Yields requests that the route forwards, with the method and the role of the observed ones. The simplest are first. */
export function* baseProbes(
  { tested, method, role, isHandshake }: Observation & { readonly tested: TestedRoute },
  { context, pathsOf }: RecordContext,
): Generator<Probe> {
  const { router } = context.plan;
  const { body } = tested.route;
  for (const path of pathsOf(tested).filter((candidate) => router.match(method, candidate) === tested.route)) {
    const made = madeRequest(context, tested, { method, path, role });
    if (isHandshake) yield withRequest(withoutBody(made), { headers: { ...made.request.headers, ...HANDSHAKE } });
    else {
      const hasBodyRule = (body?.types ?? body?.validate ?? body?.streamValidatorFor) !== undefined;
      yield* hasBodyRule ? [made, withoutBody(made)] : [withoutBody(made), made];
      yield* withLimitKeys(made, tested, context);
    }
  }
}

/** Yields the request with the keys of rate limits that refuse requests without them. */
function* withLimitKeys(made: Probe, { entry }: TestedRoute, { manifest }: MutationContext): Generator<Probe> {
  const limits = (entry.rateLimits ?? []).flatMap((id) => manifest.rateLimits[id] ?? []);
  const required = limits.filter(({ missing }) => missing === 'refuse');
  if (required.length > 0) yield required.reduce((probe, limit) => withKey(probe, limit, manifest), made);
}
