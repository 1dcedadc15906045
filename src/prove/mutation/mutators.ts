import type { Mutator, Mutators } from './mutant.ts';
import { accessMutators } from './mutators/access-mutators.ts';
import { bodyMutators } from './mutators/body-mutators.ts';
import { forwardingMutators } from './mutators/forwarding-mutators.ts';
import { parameterMutators } from './mutators/parameter-mutators.ts';
import { rateLimitMutators } from './mutators/rate-limit-mutators.ts';
import { routingMutators } from './mutators/routing-mutators.ts';
import { schemaMutators } from './mutators/schema-mutators.ts';
import { settingMutators } from './mutators/setting-mutators.ts';

/** In the order of reports. */
const TABLES: readonly Mutators[] = [
  routingMutators,
  accessMutators,
  rateLimitMutators,
  bodyMutators,
  schemaMutators,
  parameterMutators,
  forwardingMutators,
  settingMutators,
];

/** Every mutator. A test compares `docs/testing.md` with this table. */
export const MUTATORS: readonly Mutator[] = TABLES.flatMap((table) =>
  Object.entries(table).map(([id, mutator]) => ({ id, ...mutator })),
);
