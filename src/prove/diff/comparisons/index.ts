import type { Comparison, Comparisons } from '../difference.ts';
import { accessComparisons } from './access.ts';
import { bodyComparisons } from './body-schema.ts';
import { fileComparisons } from './files.ts';
import { headerComparisons } from './header-rules.ts';
import { invariantComparisons } from './invariants.ts';
import { sizeLimitComparisons } from './limits.ts';
import { loginComparisons } from './login.ts';
import { mediaTypeComparisons } from './media-types.ts';
import { parameterComparisons } from './parameters.ts';
import { rateLimitComparisons } from './rate-limits.ts';
import { roleComparisons } from './roles.ts';
import { routeComparisons } from './routes.ts';
import { switchComparisons } from './switches.ts';
import { upstreamComparisons } from './upstreams.ts';
import { validationComparisons } from './validation.ts';
import { valueComparisons } from './values.ts';

/** In the order in which the docs list them. */
const TABLES: readonly Comparisons[] = [
  accessComparisons,
  routeComparisons,
  roleComparisons,
  loginComparisons,
  bodyComparisons,
  mediaTypeComparisons,
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
