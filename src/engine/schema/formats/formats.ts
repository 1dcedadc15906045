import { isDate, isDateTime, isDuration, isIsoDateTime, isIsoTime, isTime } from './date-formats.ts';
import { isHostname, isIdnHostname, isIpv4, isIpv6 } from './host-formats.ts';
import { isEmail, isIdnEmail } from './mail-formats.ts';
import { isJsonPointer, isJsonPointerFragment, isRegex, isRelativeJsonPointer, isUuid } from './pointer-formats.ts';
import { URI_FORMATS } from './uri-formats.ts';

/** The formats of strings: those of JSON Schema (validation, section 7.3), and three more. Each takes linear time. */
export const TEXT_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  date: isDate,
  time: isTime,
  duration: isDuration,
  email: isEmail,
  'idn-email': isIdnEmail,
  hostname: isHostname,
  'idn-hostname': isIdnHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  ...URI_FORMATS,
  uuid: isUuid,
  'json-pointer': isJsonPointer,
  'relative-json-pointer': isRelativeJsonPointer,
  regex: isRegex,
  'iso-time': isIsoTime,
  'iso-date-time': isIsoDateTime,
  'json-pointer-uri-fragment': isJsonPointerFragment,
};

/** The formats of numbers, of the OpenAPI format registry. */
export const NUMBER_FORMATS: Readonly<Record<string, (number: number) => boolean>> = {
  int32: (number) => Number.isInteger(number) && number >= -(2 ** 31) && number < 2 ** 31,
  int64: (number) => Number.isInteger(number) && number >= -(2 ** 63) && number < 2 ** 63,
};
