import type { PlannedManifest } from '../../engine/load.ts';
import type { RateLimit as RateLimitEntry } from '../../engine/manifest/manifest.generated.ts';
import type { RateLimit, RateLimitStage } from '../../engine/rate-limits/rate-limit.ts';
import { rateLimitKeyText } from '../rate-limit-key-text.ts';
import type { ExplainContext, StepExplanation } from './explain-context.ts';

/** Returns the function that explains the rate limits that apply at one stage of a request. */
export function limitsExplainer(stage: RateLimitStage): (context: ExplainContext) => StepExplanation | undefined {
  return (context) => {
    const { route, routePath, refusal, planned } = context;
    const limits = route?.rateLimits?.[stage] ?? [];
    if (limits.length === 0) return undefined;
    const placesOf = (ids: readonly string[]) => [[...routePath, 'rateLimits'], ...ids.map((id) => ['rateLimits', id])];
    if (refusal?.limit !== undefined)
      return { message: `${refusal.limit}: ${refusal.detail}`, paths: placesOf([refusal.limit]) };
    const texts = limits.map((limit) => {
      const skipped = lacksKey(limit, context) ? ', skipped because the request lacks the key' : '';
      return `${limit.id} (${limitText(planned, limit.id)}${skipped})`;
    });
    return { message: `counts against ${texts.join(', ')}`, paths: placesOf(limits.map(({ id }) => id)) };
  };
}

/** Describes a limit: its rate, the kinds of its key, and how it differs from a limit of requests that is enforced. */
function limitText({ manifest, secrets }: PlannedManifest, id: string): string {
  const entry = secrets.redactValue(manifest.rateLimits[id] as RateLimitEntry, ['rateLimits', id]);
  const { key, allow, burst, count, mode } = entry;
  const details = [
    ...(burst === undefined ? [] : [`at most ${burst} at once`]),
    ...(count === 'failures' ? ['failures only'] : []),
    ...(mode === 'report' ? ['only reported'] : []),
  ];
  return [`${allow} by ${rateLimitKeyText(key)}`, ...details].join(', ');
}

function lacksKey({ missing, readValue }: RateLimit, { route, request, outcome }: ExplainContext): boolean {
  if (missing === undefined || route === undefined) return false;
  const facts = {
    route,
    clientAddress: '',
    client: '',
    request: { rawHeaders: request.headers },
    principal: outcome.principals[0],
    body: request.body,
  };
  return readValue(facts) === undefined;
}
