import type { Mutator, Mutators } from '../mutant.ts';
import { accessMutators } from './access.ts';
import { bodyMutators } from './bodies.ts';
import { forwardingMutators } from './forwarding.ts';
import { loginMutators } from './login.ts';
import { parameterMutators } from './parameters.ts';
import { rateLimitMutators } from './rate-limits.ts';
import { routingMutators } from './routing.ts';
import { schemaMutators } from './schemas.ts';
import { settingMutators } from './settings.ts';

/** In the order of reports. */
const TABLES: readonly Mutators[] = [
  routingMutators,
  accessMutators,
  loginMutators,
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
