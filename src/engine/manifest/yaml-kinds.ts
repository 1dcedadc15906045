import type { YamlValue } from './yaml-values.ts';

export function isList(value: YamlValue | undefined): value is readonly YamlValue[] {
  return Array.isArray(value);
}

export function isMap(value: YamlValue | undefined): value is { readonly [key: string]: YamlValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
