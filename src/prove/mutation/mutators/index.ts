import type { Mutator } from '../mutant.ts';
import { refusalText, roleAdded, roleClaim, routeRoleAdded, tokenCheckDropped } from './access.ts';
import { bodyLimitRaised, bodyRuleRemoved, mediaTypeAdded, partRuleLoosened, validationReport } from './bodies.ts';
import {
  encodedSlashKept,
  headerRuleRemoved,
  overrideHeaderKept,
  upstreamPathChanged,
  upstreamSwapped,
  websocketOpened,
} from './forwarding.ts';
import { loginRemoved, loginTokenMoved } from './login.ts';
import { parameterOptional, parameterRemoved, queryOpened } from './parameters.ts';
import { rateLimitCount, rateLimitKey, rateLimitLoosened, rateLimitRemoved, rateLimitReport } from './rate-limits.ts';
import { accessPublic, methodAdded, methodAny, pathWidened, publicRouteAdded, routeRemoved } from './routing.ts';
import { schemaLoosened } from './schemas.ts';
import { corsOpened, proxyTrusted } from './settings.ts';

/** Every mutator, in the order of reports. A test compares `docs/testing.md` with this table. */
export const MUTATORS: readonly Mutator[] = [
  accessPublic,
  publicRouteAdded,
  methodAdded,
  methodAny,
  pathWidened,
  routeRemoved,
  encodedSlashKept,
  roleAdded,
  routeRoleAdded,
  roleClaim,
  refusalText,
  tokenCheckDropped,
  loginRemoved,
  loginTokenMoved,
  rateLimitRemoved,
  rateLimitLoosened,
  rateLimitReport,
  rateLimitKey,
  rateLimitCount,
  bodyRuleRemoved,
  bodyLimitRaised,
  mediaTypeAdded,
  partRuleLoosened,
  validationReport,
  schemaLoosened,
  parameterRemoved,
  parameterOptional,
  queryOpened,
  upstreamSwapped,
  upstreamPathChanged,
  headerRuleRemoved,
  overrideHeaderKept,
  websocketOpened,
  corsOpened,
  proxyTrusted,
];
