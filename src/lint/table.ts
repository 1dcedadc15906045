import { DIRECTIVES } from './directives.ts';
import { ERRORS } from './errors.ts';
import { ONLINE } from './online.ts';
import type { Rule } from './rule.ts';
import * as advice from './rules/index.ts';

/** Everything that `lint` tells of. */
export const RULES: readonly Rule[] = [...ERRORS, ...Object.values(advice), ...DIRECTIVES, ...ONLINE];
