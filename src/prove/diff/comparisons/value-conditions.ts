import { isLoopback } from '../../../engine/dns/loopback.ts';
import { HTTP_METHODS } from '../../../engine/http1/http-methods.ts';
import { valueAt } from '../../../engine/json-pointer.ts';
import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { parseAddress } from '../../../engine/settings/address.ts';
import { mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import type { DiffContext } from '../difference.ts';
import { addressRanges, coversRanges } from '../settings/address-ranges.ts';

/** Decides about the effects of an old and a new value. `undefined` stands for a missing value. */
export type ValueCondition = (old: unknown, next: unknown, sides: Pick<DiffContext, 'old' | 'next'>) => boolean;

export const isNew: ValueCondition = (old) => old === undefined;

export const isPresent: ValueCondition = (old) => old !== undefined;

export const isRemoved: ValueCondition = (_old, next) => next === undefined;

export const isTrue: ValueCondition = (_old, next) => next === true;

/** True if a number, a size or a duration grew. */
export const isMore: ValueCondition = (old, next) => Number(next) > Number(old);

/** True if the log has surrogates in fewer paths. By default only the paths of public routes have them. */
export const isPlainer: ValueCondition = (old, next) => LOG_PATHS.indexOf(next) > LOG_PATHS.indexOf(old);

const LOG_PATHS: readonly unknown[] = ['keyed', undefined, 'plain'];

export const hasAdded: ValueCondition = (old, next) => toList(next).some((item) => !toList(old).includes(item));

export const hasRemoved: ValueCondition = (old, next, sides) => hasAdded(next, old, sides);

/** `*` stands for every origin. */
export const hasAddedOrigin: ValueCondition = (old, next, sides) =>
  !toList(old).includes('*') && hasAdded(old, next, sides);

/** Without a list, a preflight allows all methods that the routes accept. */
export const hasAddedMethod: ValueCondition = (old, next, sides) =>
  hasAdded(old ?? HTTP_METHODS, next ?? HTTP_METHODS, sides);

/** True if peers are trusted that were not. */
export const hasAddedAddress: ValueCondition = (_old, _next, { old, next }) => {
  const [before, now] = [old, next].map(({ manifest }) => addressRanges(manifest.server.trustedProxies));
  return !coversRanges(before ?? [], now ?? []);
};

/** True if a listener moved from loopback to other addresses, or from one address to all of them. */
export const isOpened: ValueCondition = (old, next) => reachOf(next) > reachOf(old);

export const isOpenedAdmin: ValueCondition = (old, next) =>
  old === undefined && isMap(next) && reachOf(next['listen']) > 0;

/** True if the admin API lost TLS, and other machines reach it. */
export const isPlainAdmin: ValueCondition = (old, next, sides) =>
  old !== undefined && next === undefined && reachOf(valueAt(sides.next.effective, ['admin', 'listen'])) > 0;

/** True if client certificates were required, and TLS was removed with them. */
export const hasLostClientCa: ValueCondition = (old, next) =>
  next === undefined && isMap(old) && old['clientCa'] !== undefined;

/** True if the parts of a form may be more, larger, of other types, or missing. `undefined` stands for any body. */
export const isLooserForm: ValueCondition = (old, next) => {
  if (!isMap(old)) return false;
  if (!isMap(next)) return true;
  const before = old['parts'] as FormParts;
  return (
    Object.entries(next['parts'] as FormParts).some(([name, part]) => isLooserPart(before[name], part)) ||
    Object.entries(before).some(([name, part]) => part.required && !Object.hasOwn(next['parts'] as FormParts, name))
  );
};

type FormParts = NonNullable<NonNullable<RouteEntry['body']>['multipart']>['parts'];
type FormPart = FormParts[string];

function isLooserPart(old: FormPart | undefined, next: FormPart): boolean {
  if (old === undefined) return true;
  const hasMoreTypes = old.types !== undefined && !next.types?.every(mediaTypeMatcher(old.types));
  return (
    hasMoreTypes || next.maxBytes > old.maxBytes || next.maxCount > old.maxCount || (old.required && !next.required)
  );
}

const ALL_ADDRESSES = new Set(['0.0.0.0', '::']);

/** Ranks an address by who reaches it: this machine, one network, every network. */
function reachOf(listen: unknown): number {
  if (typeof listen !== 'string') return 0;
  const { host } = parseAddress(listen);
  if (isLoopback(host)) return 0;
  return ALL_ADDRESSES.has(host) ? 2 : 1;
}

function toList(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
