import { foldHeaderName } from '../header-names.ts';
import { pointerStep } from '../json-pointer.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Pattern } from '../routing/pattern.ts';
import { withinBudget } from '../schema/cost-budget.ts';
import type { SchemaCompiler } from '../schema/schema-compiler.ts';
import type { Violation } from '../schema/value-validator.ts';
import { type Parameter, parameterFindings } from './parameter-findings.ts';
import { compileQuery } from './query.ts';
import {
  type CancellablePromise,
  createParameterValidator,
  MAX_VIOLATIONS,
  type ParametersCheck,
  type ParameterValidator,
  routeKeyOf,
  validationPool,
} from './request-rules.ts';

/** Validates path parameters, query and headers. Pointers begin with `/params`, `/query` or `/headers`. */
export interface ParameterRules {
  /** Validates synchronously, without a limit. */
  readonly validate: ParametersCheck;
  /** Validates on the serving thread; work that would block it for too long goes to another thread. */
  readonly validateWithinBudget: (
    path: string,
    query: string,
    headers: readonly string[],
    client: string,
  ) => readonly Violation[] | CancellablePromise;
  /** The rules of path parameters, by the index of their segment in the path, from 0. */
  readonly pathValues: ReadonlyMap<number, PathValueRule>;
}

export interface PathValueRule {
  /** The values that the manifest lists with `enum` or `const`, except those from the environment. */
  readonly listed: ReadonlySet<string>;
  /** @param value still encoded; `undefined` if the validation takes too long for the serving thread */
  readonly isValid: (value: string) => boolean | undefined;
}

/** The parts of the schema compiler that parameters need. */
type ParameterSchemas = Pick<SchemaCompiler, 'root' | 'compile' | 'typesAt' | 'listedValuesAt'>;

const RULE = 'parameters';

/** Compiles the rules of a route for path parameters, query and headers. */
export function compileParameters(
  entry: RouteEntry,
  pattern: Pattern,
  path: Path,
  schemas: ParameterSchemas | undefined,
  findings: Finding[],
): ParameterRules {
  const { params, query, headers } = entry;
  const validatorsOf = (kind: Parameter['kind'], section: ParameterSection) =>
    compileValidators(kind, section, path, schemas, findings);
  const paramValidators = params && validatorsOf('params', params);
  const rules = [
    paramValidators && compileParams(paramValidators, pattern, path, findings),
    query && compileQuery(query, validatorsOf('query', query)),
    headers && compileHeaders(headers, validatorsOf('headers', headers), path, findings),
  ].filter((rule) => rule !== undefined);
  for (const key of ['query', 'headers'] as const) {
    const rule = entry[key];
    if (rule === undefined) continue;
    for (const list of ['required', 'repeated'] as const) {
      const names = list in rule ? rule[list as 'required'] : [];
      if (Array.isArray(names)) findUnlisted(names, [...path, key, list], Object.keys(rule.properties ?? {}), findings);
    }
  }
  const pathValues = compilePathValues(paramValidators ?? new Map(), pattern, path, schemas);
  return createParameterRules(rules, pathValues, path, schemas?.root);
}

/** A function of its own, because closures beside the compiler would keep it in memory, and with it the plan before this one. */
function createParameterRules(
  rules: readonly ParametersCheck[],
  pathValues: ParameterRules['pathValues'],
  path: Path,
  root: ParameterSchemas['root'] | undefined,
): ParameterRules {
  const validate: ParametersCheck = (...request) => rules.flatMap((rule) => rule(...request)).slice(0, MAX_VIOLATIONS);
  const route = routeKeyOf(path);
  const validateWithinBudget: ParameterRules['validateWithinBudget'] = (requestPath, query, headers, client) => {
    const request = [requestPath, query, headers] as const;
    const work = { kind: 'parameters', routeIndex: Number(path[1]), request } as const;
    return (
      withinBudget(() => validate(...request)) ??
      validationPool.validate({ route, client, root, work, body: Buffer.alloc(0) })
    );
  };
  return { validate, validateWithinBudget, pathValues };
}

interface ParameterSection {
  readonly properties: object;
  readonly required?: readonly string[];
}

function compileValidators(
  kind: Parameter['kind'],
  { properties, required = [] }: ParameterSection,
  path: Path,
  schemas: ParameterSchemas | undefined,
  findings: Finding[],
): Map<string, ParameterValidator> {
  const validators = new Map<string, ParameterValidator>();
  for (const name of Object.keys(properties)) {
    const at = [...path, kind, 'properties', name];
    const compiled = schemas?.compile(at, findings);
    if (compiled === undefined || schemas === undefined) continue;
    const types = schemas.typesAt(at);
    const validate = createParameterValidator({ validate: compiled, types });
    const parameter = { kind, path: at, types, isRequired: required.includes(name), validate };
    findings.push(...parameterFindings(schemas.root, parameter));
    validators.set(name, validate);
  }
  return validators;
}

function compileParams(
  validators: ReadonlyMap<string, ParameterValidator>,
  pattern: Pattern,
  path: Path,
  findings: Finding[],
): ParametersCheck {
  const names = pattern.flatMap((segment) => (segment.kind === 'parameter' ? [segment.name] : []));
  const segmentRules = [...validators].map(([name, validate]) => {
    const index = pattern.findIndex((segment) => segment.kind === 'parameter' && segment.name === name);
    if (index === -1) {
      const message = `the path has no {${name}}${suggestion(name, names)}`;
      findings.push(errorAtKey([...path, 'params', 'properties', name], RULE, message));
    }
    return { index: index + 1, validate, pointer: `/params${pointerStep(name)}` };
  });
  return (requestPath) => {
    const segments = requestPath.split('/');
    // The path guard has refused paths that do not decode.
    return segmentRules.flatMap(({ index, validate, pointer }) =>
      validate(decodeURIComponent(segments[index] ?? ''), pointer),
    );
  };
}

/** The cost that one check of a value for the log may have: about 20 microseconds. */
const VALUE_BUDGET = 1_000;

function compilePathValues(
  validators: ReadonlyMap<string, ParameterValidator>,
  pattern: Pattern,
  path: Path,
  schemas: ParameterSchemas | undefined,
): ParameterRules['pathValues'] {
  const rules = new Map<number, PathValueRule>();
  for (const [index, segment] of pattern.entries()) {
    const validate = segment.kind === 'parameter' ? validators.get(segment.name) : undefined;
    if (segment.kind !== 'parameter' || validate === undefined) continue;
    const listed = schemas?.listedValuesAt([...path, 'params', 'properties', segment.name]);
    rules.set(index, {
      listed: new Set(listed),
      isValid: (value) => withinBudget(() => validate(decodeURIComponent(value), '').length === 0, VALUE_BUDGET),
    });
  }
  return rules;
}

function compileHeaders(
  { required }: NonNullable<RouteEntry['headers']>,
  validators: ReadonlyMap<string, ParameterValidator>,
  path: Path,
  findings: Finding[],
): ParametersCheck {
  const listed = new Map<string, { name: string; validate: ParameterValidator }>();
  for (const [name, validate] of validators) {
    const at = [...path, 'headers', 'properties', name];
    const twin = listed.get(foldHeaderName(name));
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      findings.push(errorAtKey(at, RULE, `"${name}" is not a header name; write one such as Accept-Language`));
    if (twin !== undefined)
      findings.push(errorAtKey(at, RULE, `"${twin.name}" is the same header; remove one of them`));
    listed.set(foldHeaderName(name), { name, validate });
  }
  return (_path, _query, raw) => {
    const violations: Violation[] = [];
    const missing = new Set(required);
    for (let index = 0; index < raw.length; index += 2) {
      const name = foldHeaderName(raw[index] as string);
      const value = raw[index + 1] as string;
      if (name === 'connection') violations.push(...droppedHeaderViolations(value, listed));
      const header = listed.get(name);
      if (header === undefined) continue;
      missing.delete(header.name);
      violations.push(...header.validate(value, `/headers${pointerStep(header.name)}`));
    }
    for (const name of missing) violations.push({ pointer: `/headers${pointerStep(name)}`, message: 'is missing' });
    return violations;
  };
}

/** Refuses listed headers that `Connection` names (RFC 9110 section 7.6.1): the upstream would not receive the validated value. */
function droppedHeaderViolations(value: string, listed: ReadonlyMap<string, { readonly name: string }>): Violation[] {
  return value.split(',').flatMap((token) => {
    const named = listed.get(foldHeaderName(token.trim()));
    return named === undefined ? [] : [{ pointer: `/headers${pointerStep(named.name)}`, message: NOT_FORWARDED }];
  });
}

const NOT_FORWARDED = 'is named in Connection, so it would not be forwarded';

function findUnlisted(names: readonly string[], path: Path, known: readonly string[], findings: Finding[]): void {
  for (const [index, name] of names.entries()) {
    if (known.includes(name)) continue;
    const message = `"${name}" is not among the properties${suggestion(name, known)}`;
    findings.push(errorAt([...path, index], RULE, message));
  }
}
