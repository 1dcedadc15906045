import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Upstream as UpstreamEntry } from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Target, TlsRule } from './plan.ts';

type Entry = NonNullable<UpstreamEntry['tls']>;

/** Reads the files of an upstream's `tls`, and tells of those that could not serve. No text of a file is ever told. */
export function compileTls(
  upstream: Path,
  { tls }: UpstreamEntry,
  targets: readonly Target[],
  readFile: World['readFile'],
  findings: Finding[],
): TlsRule {
  if (tls === undefined) return {};
  const path = [...upstream, 'tls'];
  if (targets.some(({ url }) => url.protocol !== 'https:')) {
    const message = 'TLS is for https; write https:// in front of every target of this upstream';
    findings.push(errorAtKey(path, 'upstream-tls', message));
  }
  const read = (name: 'ca' | 'certificate' | 'key') => readPart(tls, name, path, readFile, findings);
  const ca = read('ca');
  const cert = read('certificate');
  const key = read('key');
  findHalves(tls, path, findings);
  if (cert !== undefined && key !== undefined && !isPair(cert, key)) {
    const message = 'this key is not that of the certificate; name the two files that belong together';
    findings.push(errorAt([...path, 'key'], 'upstream-tls', message));
  }
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function readPart(
  tls: Entry,
  name: 'ca' | 'certificate' | 'key',
  path: Path,
  readFile: World['readFile'],
  findings: Finding[],
): string | undefined {
  const file = tls[name];
  if (file === undefined) return undefined;
  const what = name === 'key' ? 'a private key without a passphrase' : 'a certificate';
  try {
    const text = readFile(file);
    if (name === 'key') createPrivateKey(text);
    else new X509Certificate(text);
    return text;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = /^E[A-Z]+$/.test(code) ? `cannot be read (${code})` : `does not hold ${what}`;
    const message = `this file ${reason}; name a PEM file by a path relative to the manifest`;
    findings.push(errorAt([...path, name], 'upstream-tls', message));
    return undefined;
  }
}

function findHalves(tls: Entry, path: Path, findings: Finding[]): void {
  const [one, other] = tls.certificate === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
  if ((tls.certificate === undefined) === (tls.key === undefined)) return;
  const message = `"${one}" needs the "${other}" that belongs to it; add ${other}: with a PEM file`;
  findings.push(errorAtKey([...path, one as string], 'upstream-tls', message));
}

function isPair(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
}
