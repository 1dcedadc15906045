import type { Judge } from './judges.ts';
import type { Fault } from './plan.ts';

/** Judges one value of a parameter, decoded; `pointer` is where its faults are told. */
export type ParameterJudge = (text: string, pointer: string) => readonly Fault[];

/** RFC 8259 section 6: what every server reads as the same number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/**
 * A parameter is a string, read as a number or a boolean only where its schema asks for one, and only to be
 * judged: what goes on is what was sent. `0x10`, `+1` and `007` are no numbers here, and `1e2` is no integer:
 * servers read them differently.
 *
 * @param types the types that the schema speaks of
 */
export function createParameterReader(judge: Judge, types: ReadonlySet<string>): ParameterJudge {
  return (text, pointer) => {
    const reading = readingOf(text, types);
    const faults = judge(reading, text.length);
    if (faults.length === 0) return faults;
    // A schema may speak of strings too.
    if (reading !== text && types.has('string') && judge(text, text.length).length === 0) return [];
    return faults.map((fault) => ({ ...fault, pointer }));
  };
}

function readingOf(text: string, types: ReadonlySet<string>): string | number | boolean {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const grammar = types.has('number') ? NUMBER : types.has('integer') ? INTEGER : undefined;
  return grammar?.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
}
