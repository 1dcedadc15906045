import { BODYLESS_METHODS, sortMethods } from '../../engine/http1/http-methods.ts';
import type { TokenEntry } from '../../engine/tokens/token-entries.ts';
import type { TestResult } from '../testing/run-test-file.ts';
import type { MutationContext, TestedRoute } from './context.ts';
import type { Probe } from './mutant.ts';
import {
  acceptedMethod,
  MULTIPART_TYPE,
  multipartBody,
  withHeader,
  withJsonBody,
  withPathParameter,
  withQuery,
  withRole,
  withTextBody,
} from './probes.ts';

/** The number of requests of a route that the search for a missing case begins with. */
const MAX_BASES = 4;

/** Yields requests that the route should accept: first those of the test file, then made ones. */
export function* baseRequests(context: MutationContext, tested: TestedRoute, results: readonly TestResult[]) {
  const methods = new Map<string, Probe>();
  for (const result of results) {
    const { route, refusal } = result.outcome.record;
    if (route?.id !== tested.route.id || refusal !== undefined || methods.has(result.method)) continue;
    methods.set(result.method, probeOf(result));
  }
  yield* [...methods.values()].slice(0, MAX_BASES);
  yield* madeRequests(context, tested);
}

function probeOf({ testCase, method, url, role }: TestResult): Probe {
  const { role: _role, wait: _wait, ...rest } = testCase.request;
  return {
    request: { ...rest, times: 1, method, url, ...(role !== undefined && { role }) },
    ...(testCase.response && { response: testCase.response }),
  };
}

function* madeRequests(context: MutationContext, tested: TestedRoute): Generator<Probe> {
  const { route, pattern } = tested;
  const [role] = route.auth?.role.required ?? [];
  for (const path of context.samplePaths(pattern))
    for (const method of sortMethods(route.methods)) {
      if (context.plan.router.match(method, path) !== route) continue;
      yield madeRequest(context, tested, { method, path, role });
      break;
    }
}

/** A caller of a protected route, and the method of the token; by default the first one that allows the role. */
interface MadeCaller {
  readonly role: string | undefined;
  readonly issuer?: string | undefined;
}

/** Returns a request with the parameters and the body that a route requires. */
export function madeRequest(
  context: MutationContext,
  tested: TestedRoute,
  { method, path, role, ...caller }: MadeCaller & { readonly method: string; readonly path: string },
): Probe {
  const bare: Probe = { request: { method, url: path, headers: {}, times: 1 } };
  const isMeant = ({ allow }: TokenEntry) => role === undefined || allow.includes(role);
  const issuer = caller.issuer ?? acceptedMethod(context.manifest, tested, isMeant)?.issuer;
  const named = tested.route.access === 'protected' && role !== undefined ? withRole(bare, role, issuer) : bare;
  const complete = withRequiredParameters(context, tested, named);
  return BODYLESS_METHODS.has(method) ? complete : withValidBody(context, tested, complete);
}

function withRequiredParameters(context: MutationContext, { path, entry }: TestedRoute, bare: Probe): Probe {
  let probe = bare;
  for (const name of Object.keys(entry.params?.properties ?? {})) {
    const text = context.validTexts([...path, 'params', 'properties', name])[0];
    if (text !== undefined) [probe = probe] = withPathParameter(probe, entry.path, name, text);
  }
  for (const name of entry.query?.required ?? [])
    probe = withQuery(probe, name, context.validTexts([...path, 'query', 'properties', name])[0] ?? 'x');
  for (const name of entry.headers?.required ?? [])
    probe = withHeader(probe, name, context.validTexts([...path, 'headers', 'properties', name])[0] ?? 'x');
  return probe;
}

function withValidBody(context: MutationContext, { path, entry }: TestedRoute, probe: Probe): Probe {
  const { body } = entry;
  if (body === undefined) return probe;
  const [type] = (body.types ?? []).map((listed) => listed.replace('/*', '/x'));
  if (body.schema !== undefined) {
    const json = withJsonBody(probe, context.validValues([...path, 'body', 'schema'])[0] ?? {});
    return type === undefined || body.types?.includes('application/json')
      ? json
      : withHeader(json, 'Content-Type', type);
  }
  if (body.csv !== undefined) {
    const { header, delimiter } = body.csv;
    return withTextBody(probe, type ?? 'text/csv', `${header.join(delimiter)}\n`);
  }
  if (body.multipart !== undefined) return withTextBody(probe, MULTIPART_TYPE, multipartBody(body.multipart));
  return withTextBody(probe, type ?? 'text/plain', 'x');
}
