import type { AddressOverrides } from '../engine/manifest/source.ts';
import { findAddressError, findListenError } from '../engine/settings/address.ts';
import { valueOption } from './parse-arguments.ts';
import { type Options, type OptionValues, UsageError } from './terminal.ts';

export const ADDRESS_OPTIONS = {
  listen: valueOption(
    'ADDRESS',
    'the host and port for clients, or unix: and the path of a unix socket; replaces "listen" of the manifest',
  ),
  admin: valueOption('ADDRESS', 'the host and port of the admin API; replaces the address in "admin" of the manifest'),
} as const satisfies Options;

/** Returns the overrides that the options name. Throws a `UsageError` for an invalid address. */
export function readOverrides(values: OptionValues<typeof ADDRESS_OPTIONS>): AddressOverrides {
  const overrides: { -readonly [Key in keyof AddressOverrides]: AddressOverrides[Key] } = {};
  for (const key of ['listen', 'admin'] as const) {
    const address = values[key];
    if (address === undefined) continue;
    const error = key === 'listen' ? findListenError(address) : findAddressError(address);
    if (error !== undefined) throw new UsageError(`--${key} ${address}: ${error}`);
    overrides[key] = address;
  }
  return overrides;
}

/** Returns a note for each override: a problem at this place of the manifest is about the address of the option. */
export function formatOverrides(overrides: AddressOverrides): string {
  const notes = Object.entries(overrides).map(
    ([key, address]) => `--${key} ${address} replaces the address of "${key}" in the manifest\n`,
  );
  return notes.join('');
}
