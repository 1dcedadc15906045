import type { Upstream as UpstreamEntry } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import { isMatchingPair, readCertificate, readPrivateKey } from './pem.ts';
import type { Endpoint } from './upstream-definition.ts';

/** PEM texts, as the TLS library takes them; an absent one means what the library does by itself. */
export interface UpstreamTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Reads the files of an upstream's `tls`, and tells of those that could not serve. */
export function compileUpstreamTls(
  upstream: Path,
  { tls }: UpstreamEntry,
  targets: readonly Endpoint[],
  readFile: Environment['readFile'],
  findings: Finding[],
): UpstreamTls {
  if (tls === undefined) return {};
  const path = [...upstream, 'tls'];
  const context = { readFile, rule: 'upstream-tls', findings };
  if (targets.some(({ url }) => url.protocol !== 'https:')) {
    const message = 'TLS is for https; write https:// in front of every target of this upstream';
    findings.push(errorAtKey(path, 'upstream-tls', message));
  }
  const certificateAt = (name: 'ca' | 'certificate') =>
    tls[name] === undefined ? undefined : readCertificate(tls[name], [...path, name], context);
  const ca = certificateAt('ca');
  const certificate = certificateAt('certificate');
  const key = tls.key === undefined ? undefined : readPrivateKey(tls.key, [...path, 'key'], context);
  checkPairComplete(tls, path, findings);
  if (certificate !== undefined && key !== undefined) isMatchingPair(certificate, key, [...path, 'key'], context);
  return {
    ...(ca === undefined ? {} : { ca: ca.text }),
    ...(certificate === undefined ? {} : { cert: certificate.text }),
    ...(key === undefined ? {} : { key: key.text }),
  };
}

function checkPairComplete(tls: NonNullable<UpstreamEntry['tls']>, path: Path, findings: Finding[]): void {
  if ((tls.certificate === undefined) === (tls.key === undefined)) return;
  const [one, other] = tls.certificate === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
  const message = `"${one}" needs the "${other}" that belongs to it; add ${other}: with a PEM file`;
  findings.push(errorAtKey([...path, one as string], 'upstream-tls', message));
}
