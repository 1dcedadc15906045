import type { Path } from '../../engine/problem/finding.ts';
import { isMap, referenceTo } from '../../engine/schema/schema-walk.ts';
import type { ImportContext, Operation } from './imported-route.ts';
import { ownRoles } from './own-members.ts';

/** Returns `access` and `roles` of a route. Only `security: []` makes an operation public. */
export function accessOf(operation: Operation, { document, report, options }: ImportContext): object {
  const { value, origin } = operation;
  const [security, path]: [unknown, Path] =
    value['security'] === undefined
      ? [document.value['security'], ['security']]
      : [value['security'], [...origin, 'security']];
  if (security === undefined) return { access: options.access };
  if (!Array.isArray(security)) {
    report(path, 'stricter', 'this is not a list of security schemes; requests without a token are refused');
    return { access: 'protected' };
  }
  if (security.length === 0) return { access: 'public' };
  const roles = new Set<string>();
  let hasRoles = true;
  for (const alternative of security as unknown[]) {
    if (!isMap(alternative)) continue;
    const names = Object.keys(alternative);
    if (names.length === 0)
      report(path, 'stricter', 'requests without a token are refused; write access: public to allow them');
    const scopes = names.flatMap((name) => (Array.isArray(alternative[name]) ? (alternative[name] as unknown[]) : []));
    const mapped = [...new Set(scopes.map((scope) => options.roles.get(String(scope))))];
    for (const scope of new Set(scopes.map(String)))
      if (!options.roles.has(scope))
        report(
          path,
          'looser',
          `the scope ${JSON.stringify(scope)} stands for no role; name one with --role ${scope}=ROLE`,
        );
    if (mapped.length > 1) report(path, 'looser', 'a token needs one of the roles, not all of them');
    const known = mapped.filter((role) => role !== undefined);
    for (const role of known) roles.add(role);
    // An alternative without a role lets every role pass.
    if (known.length === 0) hasRoles = false;
    const others = names.filter((name) => !isToken(name));
    for (const name of others) reportScheme(name, others.length < names.length);
  }
  const needed = ownRoles(operation) ?? (hasRoles ? [...roles].sort() : []);
  return { access: 'protected', ...(needed.length > 0 ? { roles: needed } : {}) };

  function isToken(name: string): boolean {
    const scheme = document.follow({ $ref: schemePath(name) }, [])?.value;
    const { type, scheme: kind } = isMap(scheme) ? scheme : {};
    return type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && /^bearer$/i.test(String(kind)));
  }

  function reportScheme(name: string, isBesideToken: boolean): void {
    const scheme = JSON.stringify(name);
    if (isBesideToken)
      report(path, 'looser', `the gateway verifies the token, but not the security scheme ${scheme} beside it`);
    else
      report(
        ['components', 'securitySchemes', name],
        'stricter',
        `the gateway requires a bearer token instead of the security scheme ${scheme}`,
      );
  }
}

function schemePath(name: string): string {
  return referenceTo(['components', 'securitySchemes', name]);
}
