import { isMap } from '../plan/schema/schema-walk.ts';
import type { Path } from '../problem/finding.ts';
import type { ImportContext, Operation } from './imported-route.ts';

/** Returns `access` and `roles` of a route. Only `security: []` makes an operation public. */
export function accessOf({ value, origin }: Operation, { document, report, options }: ImportContext): object {
  const [security, path]: [unknown, Path] =
    value['security'] === undefined
      ? [document.value['security'], ['security']]
      : [value['security'], [...origin, 'security']];
  if (!Array.isArray(security)) return { access: options.access };
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
    for (const name of names) reportScheme(name);
  }
  return { access: 'protected', ...(hasRoles && roles.size > 0 ? { roles: [...roles].sort() } : {}) };

  function reportScheme(name: string): void {
    const scheme = document.resolve(`#/components/securitySchemes/${name}`)?.value;
    const { type, scheme: kind } = isMap(scheme) ? scheme : {};
    const isToken =
      type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && /^bearer$/i.test(String(kind)));
    if (!isToken)
      report(
        ['components', 'securitySchemes', name],
        'stricter',
        `the gateway requires a bearer token instead of the security scheme ${JSON.stringify(name)}`,
      );
  }
}
