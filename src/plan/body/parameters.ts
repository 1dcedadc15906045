import { foldHeaderName } from '../../header-names.ts';
import { pointerStep } from '../../json-pointer.ts';
import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import { suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import { routeKeyOf } from '../route-key.ts';
import type { Pattern } from '../routing/pattern.ts';
import { withinBudget } from '../schema/cost-budget.ts';
import type { SchemaRoot } from '../schema/schema-bundle.ts';
import type { SchemaCompiler } from '../schema/schema-compiler.ts';
import type { Violation } from '../violation.ts';
import { MAX_VIOLATIONS, validateDeferred } from './deferred-values.ts';
import { createParameterValidator, type DeferredValues, type ParameterValidator } from './parameter-value.ts';
import { compileQuery } from './query.ts';
import type { CancellablePromise } from './validation-result.ts';

/** Validates what comes before the body. Pointers begin with `/params`, `/query` or `/headers`. */
export interface ParameterRules {
  /**
   * Validates at once, however long that takes.
   *
   * @param path that the path guard has passed, still encoded
   * @param query with its question mark, or empty
   * @param headers names and values in turn, as they came
   */
  readonly validate: (path: string, query: string, headers: readonly string[]) => readonly Violation[];
  /** The same on the serving thread: work that would hold it for too long goes to another thread. */
  readonly validateWithinBudget: (
    path: string,
    query: string,
    headers: readonly string[],
    client: string,
  ) => readonly Violation[] | CancellablePromise;
}

const RULE = 'parameters';

type Validate = ParameterRules['validate'];

/** What a route says of its path's parameters, its query and its headers; `undefined` when that is nothing. */
export function compileParameters(
  entry: RouteEntry,
  pattern: Pattern,
  path: Path,
  schemas: SchemaCompiler | undefined,
  findings: Finding[],
): ParameterRules | undefined {
  const { params, query, headers } = entry;
  if (params === undefined && query === undefined && headers === undefined) return undefined;
  const later: DeferredValues = { values: undefined };
  const judgesOf = (key: string, properties: object) =>
    compileValidators([...path, key, 'properties'], properties, schemas, findings, later);
  const judges = [
    params && compileParams(judgesOf('params', params.properties), pattern, path, findings),
    query && compileQuery(query, judgesOf('query', query.properties)),
    headers && compileHeaders(headers, judgesOf('headers', headers.properties), path, findings),
  ].filter((judge) => judge !== undefined);
  for (const [key, rule] of Object.entries({ query, headers })) {
    for (const list of ['required', 'repeated'] as const) {
      const names = rule !== undefined && list in rule ? rule[list as 'required'] : [];
      if (Array.isArray(names))
        findUnlisted(names, [...path, key, list], Object.keys(rule?.properties ?? {}), findings);
    }
  }
  const validate: Validate = (target, query, headers) =>
    judges.flatMap((judge) => judge(target, query, headers)).slice(0, MAX_VIOLATIONS);
  const validateWithinBudget: ParameterRules['validateWithinBudget'] = (target, query, headers, client) =>
    withinBudget(() => validate(target, query, headers)) ??
    validateDeferred({ route: routeKeyOf(path), client, root: schemas?.root as SchemaRoot }, later, () =>
      validate(target, query, headers),
    );
  return { validate, validateWithinBudget };
}

function compileValidators(
  path: Path,
  properties: object,
  schemas: SchemaCompiler | undefined,
  findings: Finding[],
  later: DeferredValues,
): Map<string, ParameterValidator> {
  const judges = new Map<string, ParameterValidator>();
  for (const name of Object.keys(properties)) {
    const at = [...path, name];
    const validate = schemas?.compile(at, findings);
    if (validate === undefined) continue;
    judges.set(name, createParameterValidator({ validate, path: at, types: schemas?.typesAt(at) ?? new Set() }, later));
  }
  return judges;
}

function compileParams(
  judges: ReadonlyMap<string, ParameterValidator>,
  pattern: Pattern,
  path: Path,
  findings: Finding[],
): Validate {
  const names = pattern.flatMap((segment) => (segment.kind === 'parameter' ? [segment.name] : []));
  const places = [...judges].map(([name, judge]) => {
    const index = pattern.findIndex((segment) => segment.kind === 'parameter' && segment.name === name);
    if (index === -1) {
      const message = `the path has no {${name}}${suggestion(name, names)}`;
      findings.push(errorAtKey([...path, 'params', 'properties', name], RULE, message));
    }
    return { index: index + 1, judge, pointer: `/params${pointerStep(name)}` };
  });
  return (target) => {
    const segments = target.split('/');
    // The path guard has refused what does not decode.
    return places.flatMap(({ index, judge, pointer }) => judge(decodeURIComponent(segments[index] ?? ''), pointer));
  };
}

function compileHeaders(
  { required }: NonNullable<RouteEntry['headers']>,
  judges: ReadonlyMap<string, ParameterValidator>,
  path: Path,
  findings: Finding[],
): Validate {
  const listed = new Map<string, { name: string; judge: ParameterValidator }>();
  for (const [name, judge] of judges) {
    const at = [...path, 'headers', 'properties', name];
    const twin = listed.get(foldHeaderName(name));
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      findings.push(errorAtKey(at, RULE, `"${name}" is not a header name; write one such as Accept-Language`));
    if (twin !== undefined)
      findings.push(errorAtKey(at, RULE, `"${twin.name}" is the same header; remove one of them`));
    listed.set(foldHeaderName(name), { name, judge });
  }
  return (_target, _query, raw) => {
    const faults: Violation[] = [];
    const missing = new Set(required);
    for (let index = 0; index < raw.length; index += 2) {
      const name = foldHeaderName(raw[index] as string);
      const value = raw[index + 1] as string;
      if (name === 'connection') faults.push(...droppedHeaderViolations(value, listed));
      const known = listed.get(name);
      if (known === undefined) continue;
      missing.delete(known.name);
      faults.push(...known.judge(value, `/headers${pointerStep(known.name)}`));
    }
    for (const name of missing) faults.push({ pointer: `/headers${pointerStep(name)}`, message: 'is missing' });
    return faults;
  };
}

/** What `Connection` names ends here (RFC 9110 section 7.6.1): the upstream would not get what was judged. */
function droppedHeaderViolations(value: string, listed: ReadonlyMap<string, { readonly name: string }>): Violation[] {
  return value.split(',').flatMap((token) => {
    const named = listed.get(foldHeaderName(token.trim()));
    return named === undefined ? [] : [{ pointer: `/headers${pointerStep(named.name)}`, message: NAMED }];
  });
}

const NAMED = 'is named in Connection, and so would go no further';

function findUnlisted(names: readonly string[], path: Path, known: readonly string[], findings: Finding[]): void {
  for (const [index, name] of names.entries()) {
    if (known.includes(name)) continue;
    const message = `"${name}" is not among the properties${suggestion(name, known)}`;
    findings.push(errorAt([...path, index], RULE, message));
  }
}
