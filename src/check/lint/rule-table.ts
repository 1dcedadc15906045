import { DIRECTIVE_RULES } from './directives.ts';
import { ERROR_RULES } from './error-rules.ts';
import { ONLINE_RULES } from './online-checks.ts';
import type { Rule } from './rule.ts';
import * as manifestRules from './rules/index.ts';

/** All rules of `lint`, in the order in which the docs list them. */
export const RULES: readonly Rule[] = [
  ...ERROR_RULES,
  ...Object.values(manifestRules),
  ...DIRECTIVE_RULES,
  ...ONLINE_RULES,
];
