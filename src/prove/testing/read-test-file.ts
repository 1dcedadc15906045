import type { ValidateFunction } from 'ajv';
import { valueAt } from '../../engine/json-pointer.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import { type Document, parse } from '../../engine/manifest/document.ts';
import { checkAgainst } from '../../engine/manifest/read-manifest.ts';
import { describeFileError, type Source } from '../../engine/manifest/source.ts';
import { suggestion } from '../../engine/problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../engine/problem/finding.ts';
import { hasErrors, type Problem, toProblems } from '../../engine/problem/problem.ts';
import { tokenEntries } from '../../engine/tokens/token-entries.ts';
import type { TestFile, TestToken } from './test-file.generated.ts';
import { validate as generated } from './validate.generated.ts';

const validate = generated as unknown as ValidateFunction;

/** A valid test file, with defaults applied. */
export interface CheckedTestFile {
  readonly testFile: TestFile;
  readonly document: Document;
}

/** Parses and checks a test file. If it has errors, returns only the problems. */
export function readTestFile(source: Source): { testFile?: CheckedTestFile; problems: readonly Problem[] } {
  const { document, findings: syntaxErrors } = parse(source);
  if (syntaxErrors.length > 0) return { problems: toProblems(syntaxErrors, document) };
  const { checked: testFile, findings } = checkAgainst<TestFile>(validate, {
    value: document.value,
    isSecret: () => false,
  });
  // The other checks require a file that matches the schema.
  const all =
    findings.length > 0
      ? findings
      : [
          ...Object.entries(testFile.tokens).flatMap(([text, token]) => findAmbiguousToken(token, ['tokens', text])),
          ...testFile.cases.flatMap(({ request }, index) => [
            ...findExclusiveKeys(request, index),
            ...findUselessWait(request, index),
          ]),
        ];
  const problems = toProblems(all, document);
  return hasErrors(problems) ? { problems } : { testFile: { testFile, document }, problems };
}

/** Returns the problem of a manifest that cannot be read with this error code, at the key of the test file that names it. */
export function manifestProblem({ testFile, document }: CheckedTestFile, code: string): readonly Problem[] {
  const isNamed = (valueAt(document.value, ['manifest']) ?? null) !== null;
  const subject = isNamed ? 'the manifest' : `this file names no manifest, and ${testFile.manifest} beside it`;
  const message = `${subject} cannot be read: ${describeFileError(code, 'this file')}`;
  return toProblems(
    [isNamed ? errorAt(['manifest'], RULE, message) : errorAtKey(['version'], RULE, message)],
    document,
  );
}

const RULE = 'manifest-file';

function findAmbiguousToken({ role, claims, error, issuer }: TestToken, path: Path): Finding[] {
  const kinds = [role, claims, error].filter((kind) => kind !== undefined);
  if (kinds.length === 1 && (error === undefined || issuer === undefined)) return [];
  const message = 'write exactly one of "role", "claims" and "error"; a token with an error has no "issuer"';
  return [errorAt(path, 'case-conflict', message)];
}

const EXCLUSIVE_KEYS = [
  ['role', 'claims'],
  ['body', 'bodyBytes'],
] as const;

function findExclusiveKeys(request: TestFile['cases'][number]['request'], index: number): Finding[] {
  return EXCLUSIVE_KEYS.filter(([one, other]) => request[one] !== undefined && request[other] !== undefined).map(
    ([one, other]) => {
      const message = `"${one}" and "${other}" exclude each other; remove one of them`;
      return errorAtKey(['cases', index, 'request', other], 'case-conflict', message);
    },
  );
}

function findUselessWait({ times, wait }: TestFile['cases'][number]['request'], index: number): Finding[] {
  if (wait === undefined || times > 1) return [];
  const message = '"wait" has no effect without an earlier request; add "times" with at least 2, or remove "wait"';
  return [errorAtKey(['cases', index, 'request', 'wait'], 'case-conflict', message)];
}

/** Finds routes, upstreams and roles in a test file that the manifest does not have. */
export function findUnknownReferences(testFile: TestFile, { plan, manifest }: PlannedManifest): Finding[] {
  const routes = plan.routes.map(({ id }) => id);
  const upstreams = plan.upstreams.map(({ id }) => id);
  const hasAuth = manifest.auth !== undefined;
  const issuers = tokenEntries(manifest.auth).flatMap(({ name }) => name ?? []);
  return [
    ...Object.entries(testFile.tokens).flatMap(([text, token]) => [
      ...unusableRole(token, ['tokens', text, 'role'], hasAuth),
      ...unknownReference(token.issuer, issuers, ['tokens', text, 'issuer'], 'issuer'),
    ]),
    ...testFile.cases.flatMap(({ request, expect }, index) => [
      ...unusableRole(request, ['cases', index, 'request', 'role'], hasAuth),
      ...unknownReference(request.issuer, issuers, ['cases', index, 'request', 'issuer'], 'issuer'),
      ...unknownReference(expect.route, routes, ['cases', index, 'expect', 'route'], 'route'),
      ...unknownReference(expect.upstream?.id, upstreams, ['cases', index, 'expect', 'upstream', 'id'], 'upstream'),
    ]),
  ];
}

function unknownReference(
  name: string | null | undefined,
  existing: readonly string[],
  path: Path,
  kind: 'route' | 'upstream' | 'issuer',
): Finding[] {
  if (name === undefined || name === null || existing.includes(name)) return [];
  return [errorAt(path, `${kind}-unknown`, `the manifest has no ${kind} "${name}"${suggestion(name, existing)}`)];
}

function unusableRole({ role }: { readonly role?: unknown }, path: Path, hasAuth: boolean): Finding[] {
  if (role === undefined || hasAuth) return [];
  return [errorAtKey(path, 'auth-missing', 'the manifest has no "auth", so no caller has a role; remove "role"')];
}
