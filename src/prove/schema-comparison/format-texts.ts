/** Texts that have a format, or nearly have it. Each differs from another one in a respect that some format checks. */
export const FORMAT_TEXTS: readonly string[] = [
  'a@example.com | a@example | a+b@example.com | a.@example.com | A@EXAMPLE.COM',
  '2026-01-02 | 2026-13-02 | 2026-02-30',
  '2026-01-02T03:04:05Z | 2026-01-02T03:04:05z | 2026-01-02T03:04:05.6+01:00 | 2026-01-02T03:04:05',
  '2026-01-02 03:04:05Z | 2026-01-02T25:04:05Z | 03:04:05Z | 03:04:05+01:00 | 03:04:05 | 25:04:05Z',
  'P1D | PT1H | P',
  'https://example.com/x | https://example.com | http://localhost | ftp://example.com/x | mailto:a@example.com | urn:x:y',
  '//example.com/x | /x | /x/0 | /~2 | #/x | # | 0/x | 0# | {x} | /{x} | {',
  'example.com | EXAMPLE.com. | a_b.example | -a.example',
  '192.0.2.1 | 192.0.2.256 | 192.0.2 | 2001:db8::1 | ::1 | 2001:db8::g',
  '0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e | urn:uuid:0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e',
  '0B7D8C9E-2F4A-4B1C-9D3E-5F6A7B8C9D0E | 0b7d8c9e2f4a4b1c9d3e5f6a7b8c9d0e',
  'abcd | [a-z]+ | [ | (?=a) | a b | % | \\',
].flatMap((line) => line.split(' | '));

/** Patterns whose matches mostly have the format. They combine a format with a pattern or a length. */
export const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  date: '^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])$',
  time: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])$',
  'iso-time': '^(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])?$',
  'date-time':
    '^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])$',
  'iso-date-time':
    '^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])?$',
  duration: '^P(?:[0-9]+[YMD]|T[0-9]+[HMS])$',
  uri: '^[a-z]+:(?://)?[A-Za-z0-9][A-Za-z0-9._~/-]*$',
  'uri-reference': '^[A-Za-z0-9._~/-]*$',
  'uri-template': '^[A-Za-z0-9._~/-]*(?:\\{[a-z]+\\})?$',
  email: '^[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\\.)+[A-Za-z0-9]+$',
  hostname: '^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$',
  ipv4: '^(?:(?:[1-9]?[0-9]|1[0-9]{2})\\.){3}(?:[1-9]?[0-9]|1[0-9]{2})$',
  ipv6: '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$',
  uuid: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$',
  'json-pointer': '^(?:/[^~/]*)*$',
  'relative-json-pointer': '^(?:0|[1-9][0-9]*)(?:#|(?:/[^~/]*)*)$',
  'json-pointer-uri-fragment': '^#(?:/[A-Za-z0-9_.-]*)*$',
  regex: '^[A-Za-z0-9]*$',
};

/** The texts that `contentEncoding: base64` accepts. */
export const BASE64_PATTERN = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$';
