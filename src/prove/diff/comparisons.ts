import { bodyComparison, sizeLimitComparison } from './comparisons/body-comparisons.ts';
import { fileComparison } from './comparisons/file-comparisons.ts';
import { claimComparison, headerComparison } from './comparisons/header-comparisons.ts';
import { invariantComparison } from './comparisons/invariant-comparisons.ts';
import { parameterComparison } from './comparisons/parameter-comparisons.ts';
import { rateLimitComparison } from './comparisons/rate-limit-comparisons.ts';
import { roleComparison, routeComparison } from './comparisons/route-comparisons.ts';
import { loginComparison, switchComparison, validationComparison } from './comparisons/switch-comparisons.ts';
import { tokenComparison } from './comparisons/token-comparisons.ts';
import { upstreamComparison } from './comparisons/upstream-comparisons.ts';
import { valueComparison } from './comparisons/value-comparisons.ts';
import type { Comparison } from './difference.ts';

/** In the order in which the docs list them. */
export const COMPARISONS: readonly Comparison[] = [
  routeComparison,
  roleComparison,
  tokenComparison,
  loginComparison,
  bodyComparison,
  parameterComparison,
  validationComparison,
  sizeLimitComparison,
  rateLimitComparison,
  upstreamComparison,
  headerComparison,
  claimComparison,
  switchComparison,
  fileComparison,
  invariantComparison,
  valueComparison,
];
