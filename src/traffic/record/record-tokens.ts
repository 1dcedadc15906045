import type { Plan } from '../../engine/plan/plan.ts';
import type { TestFile } from '../../prove/testing/test-file.generated.ts';

type TestTokens = TestFile['tokens'];

/** The reasons of an invalid token that a test file can have. */
const ERRORS = [
  'token_malformed',
  'token_inactive',
  'token_expired',
  'token_not_yet_valid',
  'type_wrong',
  'issuer_wrong',
  'audience_wrong',
  'algorithm_not_allowed',
  'key_unknown',
  'signature_wrong',
  'claims_wrong',
  'keys_unavailable',
] as const;

/** The tokens that recorded test cases can use, by their text. */
export interface RecordTokens {
  readonly all: TestTokens;
  readonly ofRole: (role: string) => string;
  /** Returns `undefined` if no token of a test file is invalid for this reason. */
  readonly ofError: (reason: string) => string | undefined;
}

/** @param otherRole a role that the manifest does not allow */
export function createRecordTokens({ auth }: Plan, otherRole: string): RecordTokens {
  const byRole = new Map<string, string>();
  const texts = new Set<string>();
  for (const role of [...(auth?.role.required ?? []), otherRole]) {
    const name = `token-of-${role.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
    const text = texts.has(name) ? `${name}-${texts.size}` : name;
    texts.add(text);
    byRole.set(role, text);
  }
  const errors = ERRORS.map((error) => [errorText(error), { error }] as const);
  return {
    all: Object.fromEntries([...[...byRole].map(([role, text]) => [text, { role }] as const), ...errors]),
    ofRole: (role) => byRole.get(role) ?? '',
    ofError: (reason) => (ERRORS.some((error) => error === reason) ? errorText(reason) : undefined),
  };
}

function errorText(error: string): string {
  return `token-with-${error.replaceAll('_', '-')}`;
}
