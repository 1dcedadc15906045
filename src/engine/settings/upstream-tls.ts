import { isIP } from 'node:net';
import type { Upstream as UpstreamEntry } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import { errorAtKey, type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import { hostError } from './host.ts';
import { isMatchingPair, readCertificate, readPrivateKey } from './pem.ts';
import { isUsablePair } from './tls.ts';
import type { Endpoint, UpstreamTls } from './upstream-definition.ts';

/** Reads the files of an upstream's `tls`, and reports invalid ones. */
export function compileUpstreamTls(
  upstream: Path,
  { tls }: UpstreamEntry,
  endpoints: readonly Endpoint[],
  readFile: Environment['readFile'],
  findings: Finding[],
): UpstreamTls {
  if (tls === undefined) return {};
  const path = [...upstream, 'tls'];
  const context = { readFile, rule: 'upstream-tls', findings };
  if (endpoints.some(({ url }) => url.protocol !== 'https:')) {
    const message = '"tls" needs https; write https:// for every endpoint of this upstream';
    findings.push(errorAtKey(path, 'upstream-tls', message));
  }
  const certificateAt = (name: 'ca' | 'certificate') =>
    tls[name] === undefined ? undefined : readCertificate(tls[name], [...path, name], context);
  const ca = certificateAt('ca');
  const certificate = certificateAt('certificate');
  const key = tls.key === undefined ? undefined : readPrivateKey(tls.key, [...path, 'key'], context);
  checkPairComplete(tls, path, findings);
  if (certificate !== undefined && key !== undefined && isMatchingPair(certificate, key, [...path, 'key'], context))
    isUsablePair({ cert: certificate.text, key: key.text }, [...path, 'certificate'], context);
  if (tls.serverName !== undefined) checkServerName(tls.serverName, [...path, 'serverName'], findings);
  return {
    ...(ca === undefined ? {} : { ca: ca.text }),
    ...(certificate === undefined ? {} : { cert: certificate.text }),
    ...(key === undefined ? {} : { key: key.text }),
  };
}

/** Node refuses to connect with an IP address as the name for SNI (RFC 6066 section 3). */
function checkServerName(name: string, path: Path, findings: Finding[]): void {
  const reason = isIP(name) === 0 ? hostError(name) : 'TLS has no server names that are IP addresses';
  if (reason === undefined) return;
  const message = `${reason}; write the host name of the certificate, or remove "serverName"`;
  findings.push(quoteFreeErrorAt(path, 'upstream-tls', message));
}

function checkPairComplete(tls: NonNullable<UpstreamEntry['tls']>, path: Path, findings: Finding[]): void {
  if ((tls.certificate === undefined) === (tls.key === undefined)) return;
  const [given, missing] = tls.certificate === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
  const message = `"${given}" needs the matching "${missing}"; add ${missing}: with a PEM file`;
  findings.push(errorAtKey([...path, given as string], 'upstream-tls', message));
}
