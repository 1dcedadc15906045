import { DIRECTIVES } from '../directives.ts';
import { ERRORS } from '../errors.ts';
import { ONLINE } from '../online.ts';
import type { Rule } from '../rule.ts';
import { adminExposed } from './admin-exposed.ts';
import { adminMissing } from './admin-missing.ts';
import { arrayItemsOpen } from './array-items-open.ts';
import { arrayUnbounded } from './array-unbounded.ts';
import { authUnused } from './auth-unused.ts';
import { bodyLarge } from './body-large.ts';
import { bodyWithoutRule } from './body-without-rule.ts';
import { breakerHairTrigger } from './breaker-hair-trigger.ts';
import { corsAnyOrigin } from './cors-any-origin.ts';
import { corsNullOrigin } from './cors-null-origin.ts';
import { corsPlainOrigin } from './cors-plain-origin.ts';
import { listenExposed } from './listen-exposed.ts';
import { listenPrivileged } from './listen-privileged.ts';
import { listenTwice } from './listen-twice.ts';
import { loginWithoutGate } from './login-without-gate.ts';
import { patternUnanchored } from './pattern-unanchored.ts';
import { publicAnyMethod } from './public-any-method.ts';
import { publicCoversProtected } from './public-covers-protected.ts';
import { publicMethodGap } from './public-method-gap.ts';
import { publicOverlapsProtected } from './public-overlaps-protected.ts';
import { publicWriteUnbounded } from './public-write-unbounded.ts';
import { publicWriteWithoutSchema } from './public-write-without-schema.ts';
import { rolesRedundant } from './roles-redundant.ts';
import { routeAmbiguous } from './route-ambiguous.ts';
import { routeCaseTwin } from './route-case-twin.ts';
import { routeIdNumber } from './route-id-number.ts';
import { routeMethodUnreachable } from './route-method-unreachable.ts';
import { routeParameterNames } from './route-parameter-names.ts';
import { routeSlashTwin } from './route-slash-twin.ts';
import { routeUnreachable } from './route-unreachable.ts';
import { schemaAnything } from './schema-anything.ts';
import { schemaEnumType } from './schema-enum-type.ts';
import { schemaImpossible } from './schema-impossible.ts';
import { schemaOpen } from './schema-open.ts';
import { schemaRequiredUnknown } from './schema-required-unknown.ts';
import { schemaTypeMissing } from './schema-type-missing.ts';
import { schemaUnused } from './schema-unused.ts';
import { secretDefault } from './secret-default.ts';
import { secretEntropy } from './secret-entropy.ts';
import { secretHeader } from './secret-header.ts';
import { secretToken } from './secret-token.ts';
import { stringUnbounded } from './string-unbounded.ts';
import { tokenAlgorithmsMixed } from './token-algorithms-mixed.ts';
import { tokenCacheLong } from './token-cache-long.ts';
import { tokenClockToleranceLong } from './token-clock-tolerance-long.ts';
import { tokenIssuerElsewhere } from './token-issuer-elsewhere.ts';
import { tokenKeysPlain } from './token-keys-plain.ts';
import { tokenSecretShared } from './token-secret-shared.ts';
import { tokenStaleLong } from './token-stale-long.ts';
import { tokenSubjectOptional } from './token-subject-optional.ts';
import { tokenTypeUnchecked } from './token-type-unchecked.ts';
import { tokenWithoutAudience } from './token-without-audience.ts';
import { upstreamLoop } from './upstream-loop.ts';
import { upstreamPlainHttp } from './upstream-plain-http.ts';
import { upstreamRetryOff } from './upstream-retry-off.ts';
import { upstreamTargetTwice } from './upstream-target-twice.ts';
import { upstreamTimeoutLong } from './upstream-timeout-long.ts';
import { upstreamTimeoutOrder } from './upstream-timeout-order.ts';
import { upstreamUnused } from './upstream-unused.ts';
import { upstreamWithoutBreaker } from './upstream-without-breaker.ts';
import { upstreamWithoutHealth } from './upstream-without-health.ts';
import { websocketPublic } from './websocket-public.ts';

/** What advises: one line a rule. The order is that of the docs. */
const ADVICE: readonly Rule[] = [
  routeUnreachable,
  routeMethodUnreachable,
  routeAmbiguous,
  routeCaseTwin,
  routeSlashTwin,
  publicCoversProtected,
  publicOverlapsProtected,
  publicMethodGap,
  publicAnyMethod,
  routeParameterNames,
  routeIdNumber,
  authUnused,
  loginWithoutGate,
  publicWriteUnbounded,
  publicWriteWithoutSchema,
  websocketPublic,
  rolesRedundant,
  tokenWithoutAudience,
  tokenKeysPlain,
  tokenIssuerElsewhere,
  tokenSecretShared,
  tokenAlgorithmsMixed,
  tokenCacheLong,
  tokenStaleLong,
  tokenClockToleranceLong,
  tokenTypeUnchecked,
  tokenSubjectOptional,
  corsAnyOrigin,
  corsNullOrigin,
  corsPlainOrigin,
  bodyWithoutRule,
  bodyLarge,
  schemaUnused,
  schemaAnything,
  schemaOpen,
  schemaTypeMissing,
  schemaRequiredUnknown,
  schemaImpossible,
  schemaEnumType,
  stringUnbounded,
  arrayUnbounded,
  arrayItemsOpen,
  patternUnanchored,
  upstreamUnused,
  upstreamPlainHttp,
  upstreamLoop,
  upstreamTargetTwice,
  upstreamWithoutHealth,
  upstreamWithoutBreaker,
  upstreamRetryOff,
  upstreamTimeoutLong,
  upstreamTimeoutOrder,
  breakerHairTrigger,
  adminExposed,
  adminMissing,
  listenExposed,
  listenTwice,
  listenPrivileged,
  secretToken,
  secretHeader,
  secretDefault,
  secretEntropy,
];

/** Everything that `lint` tells of, by family. */
export const RULES: readonly Rule[] = [...ERRORS, ...ADVICE, ...DIRECTIVES, ...ONLINE];
