import { errorAt, type Finding, type Path } from '../../problem/finding.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Host and port of a listener, by a text that the schema has passed. */
export function compileAddress(text: string, path: Path, findings: Finding[]): ListenAddress {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(text) ?? [];
  if (Number(port) > 65_535)
    findings.push(errorAt(path, 'address', 'no port is as high as this; write a number from 0 to 65535'));
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Whether only this machine can reach a host, written with brackets or without (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(host);
}
