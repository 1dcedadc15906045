import { DIRECTIVE_RULES } from './directives.ts';
import { ERROR_RULES } from './error-rules.ts';
import { ONLINE_RULES } from './online-checks.ts';
import type { Rule } from './rule.ts';
import * as advice from './rules/index.ts';

/** Everything that `lint` tells of. */
export const RULES: readonly Rule[] = [...ERROR_RULES, ...Object.values(advice), ...DIRECTIVE_RULES, ...ONLINE_RULES];
