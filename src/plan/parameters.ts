import { foldName } from '../field-names.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { routeOf, withinEffort } from './body-judge.ts';
import type { SchemaCompiler } from './json-schema.ts';
import { MAX_FAULTS, validateLater } from './later-values.ts';
import { createParameterReader, type Later, type ParameterJudge } from './parameter-value.ts';
import type { Pattern } from './pattern.ts';
import type { Fault, Parameters } from './plan.ts';
import { pointerStep } from './pointer.ts';
import { compileQuery } from './query.ts';
import type { SchemaRoot } from './schema-files.ts';

const RULE = 'parameters';

type Validate = Parameters['validate'];

/** What a route says of its path's parameters, its query and its headers; `undefined` when that is nothing. */
export function compileParameters(
  entry: RouteEntry,
  pattern: Pattern,
  path: Path,
  schemas: SchemaCompiler | undefined,
  findings: Finding[],
): Parameters | undefined {
  const { params, query, headers } = entry;
  if (params === undefined && query === undefined && headers === undefined) return undefined;
  const later: Later = { values: undefined };
  const judgesOf = (key: string, properties: object) =>
    compileJudges([...path, key, 'properties'], properties, schemas, findings, later);
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
    judges.flatMap((judge) => judge(target, query, headers)).slice(0, MAX_FAULTS);
  const serve: Parameters['serve'] = (target, query, headers, client) =>
    withinEffort(() => validate(target, query, headers)) ??
    validateLater({ route: routeOf(path), client, root: schemas?.root as SchemaRoot }, later, () =>
      validate(target, query, headers),
    );
  return { validate, serve };
}

function compileJudges(
  path: Path,
  properties: object,
  schemas: SchemaCompiler | undefined,
  findings: Finding[],
  later: Later,
): Map<string, ParameterJudge> {
  const judges = new Map<string, ParameterJudge>();
  for (const name of Object.keys(properties)) {
    const at = [...path, name];
    const judge = schemas?.compile(at, findings);
    if (judge === undefined) continue;
    judges.set(name, createParameterReader({ judge, path: at, types: schemas?.typesAt(at) ?? new Set() }, later));
  }
  return judges;
}

function compileParams(
  judges: ReadonlyMap<string, ParameterJudge>,
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
  judges: ReadonlyMap<string, ParameterJudge>,
  path: Path,
  findings: Finding[],
): Validate {
  const listed = new Map<string, { name: string; judge: ParameterJudge }>();
  for (const [name, judge] of judges) {
    const at = [...path, 'headers', 'properties', name];
    const twin = listed.get(foldName(name));
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      findings.push(errorAtKey(at, RULE, `"${name}" is not a header name; write one such as Accept-Language`));
    if (twin !== undefined)
      findings.push(errorAtKey(at, RULE, `"${twin.name}" is the same header; remove one of them`));
    listed.set(foldName(name), { name, judge });
  }
  return (_target, _query, raw) => {
    const faults: Fault[] = [];
    const missing = new Set(required);
    for (let index = 0; index < raw.length; index += 2) {
      const name = foldName(raw[index] as string);
      const value = raw[index + 1] as string;
      if (name === 'connection') faults.push(...droppedFaults(value, listed));
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
function droppedFaults(value: string, listed: ReadonlyMap<string, { readonly name: string }>): Fault[] {
  return value.split(',').flatMap((token) => {
    const named = listed.get(foldName(token.trim()));
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
