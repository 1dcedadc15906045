import type { Comparison } from '../difference.ts';
import { routeProtected, routePublic } from './access.ts';
import { bodyChanged, bodyLoosened, bodyTightened } from './body-schema.ts';
import { adminAuthorities, adminFiles, serverFiles, tokenFiles, tokenMethod } from './files.ts';
import { upstreamChanged, upstreamPathChanged } from './forwarding.ts';
import { headersChanged } from './header-rules.ts';
import { invariantAdded, invariantChanged, invariantRemoved, invariantWeakened } from './invariants.ts';
import { limitLowered, limitRaised } from './limits.ts';
import { loginAdded, loginChanged, loginLoosened, loginRemoved } from './login.ts';
import { mediaTypesNarrowed, mediaTypesWidened } from './media-types.ts';
import { headerOverrideDropped, headerOverrideKept } from './override-headers.ts';
import { parametersChanged, parametersLoosened, parametersTightened } from './parameters.ts';
import {
  rateLimitAdded,
  rateLimitEnforced,
  rateLimitKey,
  rateLimitLoosened,
  rateLimitRemoved,
  rateLimitReported,
  rateLimitSettings,
  rateLimitTightened,
} from './rate-limits.ts';
import { roleNarrowed, roleWidened } from './roles.ts';
import { routeAdded, routeAddedPublic, routeNarrowed, routeRemoved, routeShadowed } from './routes.ts';
import { encodedSlashKept, encodedSlashRefused, websocketClosed, websocketOpened } from './switches.ts';
import {
  upstreamCa,
  upstreamCaRemoved,
  upstreamCertificate,
  upstreamHost,
  upstreamName,
  upstreamPlain,
  upstreamRenamed,
} from './upstreams.ts';
import { validationEnforced, validationReported } from './validation.ts';
import { valueComparisons } from './values.ts';
import { websocketOriginsNarrowed, websocketOriginsWidened } from './websocket-origins.ts';

/** All comparisons, in the order in which the docs list them. */
export const COMPARISONS: readonly Comparison[] = [
  routePublic,
  routeProtected,
  routeShadowed,
  routeRemoved,
  routeNarrowed,
  routeAdded,
  routeAddedPublic,
  roleWidened,
  roleNarrowed,
  loginRemoved,
  loginLoosened,
  loginChanged,
  loginAdded,
  bodyLoosened,
  bodyTightened,
  bodyChanged,
  mediaTypesWidened,
  mediaTypesNarrowed,
  parametersLoosened,
  parametersTightened,
  parametersChanged,
  validationReported,
  validationEnforced,
  limitRaised,
  limitLowered,
  rateLimitRemoved,
  rateLimitLoosened,
  rateLimitReported,
  rateLimitKey,
  rateLimitAdded,
  rateLimitTightened,
  rateLimitEnforced,
  rateLimitSettings,
  upstreamChanged,
  upstreamRenamed,
  upstreamPathChanged,
  upstreamHost,
  upstreamPlain,
  upstreamCaRemoved,
  upstreamCa,
  upstreamCertificate,
  upstreamName,
  headersChanged,
  headerOverrideKept,
  headerOverrideDropped,
  websocketOpened,
  websocketClosed,
  websocketOriginsWidened,
  websocketOriginsNarrowed,
  encodedSlashKept,
  encodedSlashRefused,
  tokenMethod,
  tokenFiles,
  serverFiles,
  adminFiles,
  adminAuthorities,
  invariantRemoved,
  invariantWeakened,
  invariantChanged,
  invariantAdded,
  ...valueComparisons,
];
