import type { DiffRequest, MatchedRoutePair } from '../difference.ts';
import type { DiffSide } from '../side.ts';

/** Returns the request with the role of a caller that both routes allow, if one of them requires a token. */
export function withCaller(request: DiffRequest, { from, to }: MatchedRoutePair): DiffRequest {
  if (request.role !== undefined || [from, to].every(({ route }) => route.access === 'public')) return request;
  const [required = [], other = []] = [from, to].flatMap(({ route }) =>
    route.access === 'protected' ? [route.auth?.role.required ?? []] : [],
  );
  const role = required.find((role) => other.length === 0 || other.includes(role));
  return role === undefined ? request : { ...request, role };
}

/** Returns a value with the variables in place of values from the environment of both manifests. */
export function withoutSecrets<Value>(value: Value, sides: readonly DiffSide[]): Value {
  return sides.reduce<unknown>((text, { secrets }) => secrets.redactTexts(text), value) as Value;
}
