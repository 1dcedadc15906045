import { bodyComparisons } from './comparisons/body-comparisons.ts';
import { fileComparisons } from './comparisons/file-comparisons.ts';
import { headerComparisons } from './comparisons/header-comparisons.ts';
import { invariantComparisons } from './comparisons/invariant-comparisons.ts';
import { loginComparisons } from './comparisons/login-comparisons.ts';
import { parameterComparisons } from './comparisons/parameter-comparisons.ts';
import { rateLimitComparisons } from './comparisons/rate-limit-comparisons.ts';
import { roleComparisons } from './comparisons/role-comparisons.ts';
import { routeComparisons } from './comparisons/route-comparisons.ts';
import { sizeLimitComparisons } from './comparisons/size-limit-comparisons.ts';
import { switchComparisons, validationComparisons } from './comparisons/switch-comparisons.ts';
import { upstreamComparisons } from './comparisons/upstream-comparisons.ts';
import { valueComparisons } from './comparisons/value-comparisons.ts';
import type { Comparison, Comparisons } from './difference.ts';

/** In the order in which the docs list them. */
const TABLES: readonly Comparisons[] = [
  routeComparisons,
  roleComparisons,
  loginComparisons,
  bodyComparisons,
  parameterComparisons,
  validationComparisons,
  sizeLimitComparisons,
  rateLimitComparisons,
  upstreamComparisons,
  headerComparisons,
  switchComparisons,
  fileComparisons,
  invariantComparisons,
  valueComparisons,
];

export const COMPARISONS: readonly Comparison[] = TABLES.flatMap((table) =>
  Object.entries(table).map(([id, comparison]) => ({ id, ...comparison })),
);
