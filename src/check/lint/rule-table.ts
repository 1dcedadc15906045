import { DIRECTIVE_RULES } from './directives.ts';
import { ERROR_RULES } from './error-rules.ts';
import { ONLINE_RULES } from './online-checks.ts';
import type { Rule } from './rule.ts';
import { ACCESS_RULES } from './rules/access.ts';
import { BODY_RULES } from './rules/bodies.ts';
import { OPERATION_RULES } from './rules/operations.ts';
import { ORIGIN_RULES } from './rules/origins.ts';
import { OVERLAPPING_ROUTE_RULES } from './rules/overlapping-routes.ts';
import { PUBLIC_ROUTE_RULES } from './rules/public-routes.ts';
import { RATE_LIMIT_RULES } from './rules/rate-limits.ts';
import { ROUTE_RULES } from './rules/routes.ts';
import { SCHEMA_RULES } from './rules/schemas.ts';
import { SECRET_RULES } from './rules/secrets.ts';
import { TOKEN_RULES } from './rules/tokens.ts';
import { UPSTREAM_RULES } from './rules/upstreams.ts';

/** The rules for a manifest that loads. */
const MANIFEST_RULES = [
  ...ACCESS_RULES,
  ...BODY_RULES,
  ...OPERATION_RULES,
  ...ORIGIN_RULES,
  ...OVERLAPPING_ROUTE_RULES,
  ...PUBLIC_ROUTE_RULES,
  ...RATE_LIMIT_RULES,
  ...ROUTE_RULES,
  ...SCHEMA_RULES,
  ...SECRET_RULES,
  ...TOKEN_RULES,
  ...UPSTREAM_RULES,
];

/** All rules of `lint`, in the order in which the docs list them. */
export const RULES: readonly Rule[] = [
  ...ERROR_RULES,
  ...MANIFEST_RULES.sort((one, other) => (one.id < other.id ? -1 : 1)),
  ...DIRECTIVE_RULES,
  ...ONLINE_RULES,
];
