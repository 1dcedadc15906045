import { compilePointer } from '../json-pointer.ts';
import type { Role as RoleEntry } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import type { Principal } from './verifier.ts';

export interface RoleRule {
  /** Equal for rules that allow the same callers. */
  readonly key: string;
  readonly allows: (principal: Principal) => boolean;
  /** Returns those of `redactedRoles` that the caller has, in the order of the manifest. */
  readonly heldBy: (principal: Principal) => readonly string[];
  /** The caller needs one of these roles. */
  readonly required: readonly string[];
  /** `required` as it may be printed. */
  readonly redactedRoles: readonly string[];
  /** The text of the 403; `undefined` if it came from the environment, which clients may not see. */
  readonly message: string | undefined;
}

/**
 * @param entry the rule of `auth.role`
 * @param required the roles of `allow` that the route accepts, at `path`
 */
export function compileRole(
  entry: RoleEntry,
  { isSecret, redactValue }: Secrets,
  required: readonly string[] = entry.allow,
  path: Path = ['auth', 'role', 'allow'],
): RoleRule {
  const roleAt = compilePointer(entry.claim);
  const names = new Set<unknown>(required);
  const isRequired = (role: unknown) => names.has(role);
  // `array` in the manifest says that the claim is a list. A claim in the other form never matches.
  const hasRole = entry.array ? (claim: unknown) => Array.isArray(claim) && claim.some(isRequired) : isRequired;
  const allows = ({ claims }: Principal) => hasRole(roleAt(claims));
  const redactedRoles = redactValue(required, path);
  const heldBy = ({ claims }: Principal) => {
    const claim = roleAt(claims);
    const held = new Set<unknown>(entry.array ? (Array.isArray(claim) ? claim : []) : [claim]);
    return redactedRoles.filter((_role, index) => held.has(required[index]));
  };
  const key = JSON.stringify([entry.claim, entry.array, required]);
  const message = isSecret(['auth', 'role', 'message']) ? undefined : entry.message;
  return Object.freeze({ key, allows, heldBy, required, redactedRoles, message });
}
