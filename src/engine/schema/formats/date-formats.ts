const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?$/;
const OFFSET = /(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
/** `duration` of RFC 3339 appendix A: no fractions, no gaps between the units, and weeks only alone. */
const DURATION =
  /^P(?=\d|T\d)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/;
const MINUTES_PER_DAY = 1_440;

export const DATE_FORMATS = {
  'date-time': isDateTime,
  date: isDate,
  time: isTime,
  duration: (text: string) => DURATION.test(text),
} as const;

/** The forms of ISO 8601 that OpenAPI documents use. */
export const ISO_FORMATS = { 'iso-time': isIsoTime, 'iso-date-time': isIsoDateTime } as const;

/** `full-date` of RFC 3339 section 5.6, with the days of each month (appendix C: leap years). */
function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  return day !== undefined && Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month));
}

/** `full-time` of RFC 3339 section 5.6: with an offset. Second 60 is valid only at 23:59 UTC (section 5.7). */
function isTime(text: string): boolean {
  const offset = OFFSET.exec(text);
  return offset !== null && minuteOf(text, offset) !== undefined;
}

/**
 * `date-time` of RFC 3339 section 5.6: date and time with `T` between them, in any letter case. Second 60 is valid only in
 * the last minute of a month in UTC (section 5.7). Years with leap seconds are not listed, because they are announced late.
 */
function isDateTime(text: string): boolean {
  const date = text.slice(0, 10);
  const offset = OFFSET.exec(text);
  if (offset === null || !/[Tt]/.test(text.charAt(10)) || !isDate(date)) return false;
  const minute = minuteOf(text.slice(11), offset);
  return minute !== undefined && (minute !== 'leap' || isMonthEnd(date, text.slice(11), offset));
}

/** As `isTime`, but the offset is optional (ISO 8601 local time, as in OpenAPI documents). */
function isIsoTime(text: string): boolean {
  return isTime(text) || isTime(`${text}Z`);
}

/** As `isDateTime`, but the offset is optional, and a space may stand for `T`. */
function isIsoDateTime(text: string): boolean {
  const joined = text.charAt(10) === ' ' ? `${text.slice(0, 10)}T${text.slice(11)}` : text;
  return isDateTime(joined) || isDateTime(`${joined}Z`);
}

function daysIn(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

/** Returns the minute of the day in local time, `leap` for a leap second, or `undefined` if the time is invalid. */
function minuteOf(text: string, offset: RegExpExecArray): number | 'leap' | undefined {
  const [, hours, minutes, seconds] = TIME.exec(text.slice(0, text.length - offset[0].length)) ?? [];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  if (seconds === undefined || hour > 23 || minute > 59 || second > 60) return undefined;
  if (Number(offset[2] ?? 0) > 23 || Number(offset[3] ?? 0) > 59) return undefined;
  if (second < 60) return hour * 60 + minute;
  const utcMinute = (hour * 60 + minute - offsetMinutes(offset) + MINUTES_PER_DAY) % MINUTES_PER_DAY;
  return utcMinute === MINUTES_PER_DAY - 1 ? 'leap' : undefined;
}

/** True if the minute after a local time begins a month in UTC. */
function isMonthEnd(date: string, time: string, offset: RegExpExecArray): boolean {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const [hour, minute] = time.split(':').map(Number) as [number, number];
  const next = new Date(0);
  next.setUTCFullYear(year, month - 1, day);
  next.setUTCHours(hour, minute + 1 - offsetMinutes(offset));
  return next.getUTCDate() === 1;
}

function offsetMinutes([, sign, hours, minutes]: RegExpExecArray): number {
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
}
