import type { Plan } from '../../engine/plan/plan.ts';
import { TOKEN_ERRORS } from '../../engine/token-errors.ts';
import type { TestFile } from '../../prove/testing/test-file.generated.ts';

export type RecordTokens = ReturnType<typeof createRecordTokens>;

/** Returns the tokens that recorded test cases can use, by their text. @param otherRole a role that the manifest does not allow */
export function createRecordTokens({ auth }: Plan, otherRole: string) {
  const byRole = new Map<string, string>();
  const texts = new Set<string>();
  for (const role of [...(auth?.role.required ?? []), otherRole]) {
    const name = `token-of-${role.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
    const text = texts.has(name) ? `${name}-${texts.size}` : name;
    texts.add(text);
    byRole.set(role, text);
  }
  const errors = TOKEN_ERRORS.map((error) => [errorText(error), { error }] as const);
  return {
    all: Object.fromEntries([
      ...[...byRole].map(([role, text]) => [text, { role }] as const),
      ...errors,
    ]) satisfies TestFile['tokens'],
    ofRole: (role: string) => byRole.get(role) ?? '',
    /** Returns `undefined` if no token of a test file is invalid for this reason. */
    ofError: (reason: string) => (TOKEN_ERRORS.some((error) => error === reason) ? errorText(reason) : undefined),
  };
}

function errorText(error: string): string {
  return `token-with-${error.replaceAll('_', '-')}`;
}
