import { resolve } from 'node:path';
import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Planned } from '../load.ts';
import { parse } from '../manifest/document.ts';
import { type Kept, keepOutside, sha256 } from '../manifest/files.ts';
import type { Parse } from '../manifest/include.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import { readManifest, sourcesOf, type Written } from '../manifest/read-manifest.ts';
import { secretsAt } from '../manifest/secrets.ts';
import type { Source } from '../manifest/source.ts';

import type { Finding } from '../problem/finding.ts';
import { toProblems } from '../problem/problem.ts';
import { worldOf } from '../world.ts';
import { counted } from './counted.ts';
import type { Place, Placed, Question, ReadText, Unreadable } from './reading-thread.ts';
import type { Begun } from './thread.ts';

interface Read extends Pick<ReadText, 'outside' | 'own'> {
  readonly written: Written;
}

// The YAML parser looks for a variable at each token, and each time the system is asked: a sixth of the whole time.
process.env = {};

/** The other side of `reading-thread.ts`: answers one question after the other. */
const { path, env, operations } = workerData as Begun<Place>;
const world = counted(worldOf(path, env), operations);
/** Who begins the thread to ask it something has asked by then. */
const UNASKED_MS = 100;

/** What was read last. */
let last: { readonly written: Written; readonly kept: Kept } | undefined;

parentPort?.on('message', async ({ id, question }: { id: number; question: Question }) => {
  if (question.ask === 'read') answer(id, told(read()));
  else if (question.ask === 'place') answer(id, place(question.findings));
  else answer(id, await test());
});

// Nobody asks as the gateway starts. What is there is read all the same: at first that takes half as long again.
setTimeout(() => {
  if (last === undefined) read();
}, UNASKED_MS);

function answer(id: number, given: ReadText | Unreadable | Placed): void {
  const ports = 'routes' in given && given.routes !== undefined ? [given.routes] : [];
  parentPort?.postMessage({ id, answer: given }, ports);
}

function read(): Read | Unreadable {
  let text: string;
  try {
    text = world.readFile(resolve(path));
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
  const { outside, world: kept } = keepOutside(world);
  const written = readManifest({ path, text }, kept, parseNew);
  forgetOthers(written);
  last = { written, kept };
  return { written, outside, own: sha256(text) };
}

function told(found: Read | Unreadable): ReadText | Unreadable {
  if ('reason' in found) return found;
  const { written, outside, own } = found;
  const { document, findings, form } = written;
  const routes: unknown = (form?.manifest as Partial<Manifest> | null | undefined)?.routes;
  const said = { findings, outside, own, sources: sourcesOf(document) };
  if (form === undefined || !Array.isArray(routes)) return { ...said, form, routes: undefined };
  const manifest = { ...form.manifest, routes: [] };
  return { ...said, form: { ...form, manifest }, routes: inPieces(routes) };
}

/** What texts were parsed into, by their files: of many files seldom more than one changes. */
const parsed = new Map<string, { readonly text: string; readonly result: ReturnType<Parse> }>();

function parseNew(source: Source): ReturnType<Parse> {
  const known = parsed.get(source.path);
  if (known?.text === source.text) return known.result;
  // What it was before may be large, and so may what it is now.
  last = undefined;
  parsed.delete(source.path);
  const result = parse(source);
  parsed.set(source.path, { text: source.text, result });
  return result;
}

function forgetOthers({ document }: Written): void {
  const files = new Set([document, ...document.included].map(({ file }) => file));
  for (const file of parsed.keys()) if (!files.has(file)) parsed.delete(file);
}

/** To take in so many routes takes about a millisecond. */
const PIECE_ROUTES = 250;

function inPieces(routes: readonly unknown[]): MessagePort {
  const { port1, port2 } = new MessageChannel();
  for (let at = 0; at < routes.length; at += PIECE_ROUTES) port1.postMessage(routes.slice(at, at + PIECE_ROUTES));
  return port2;
}

function place(findings: readonly Finding[]): Placed {
  if (last === undefined) throw new Error('nothing was read');
  const { document } = last.written;
  return { problems: toProblems(findings, document), sources: sourcesOf(document) };
}

async function test(): Promise<Placed> {
  if (last?.written.form === undefined) throw new Error('nothing was read');
  const { written, kept } = last;
  // All of the gateway, which a thread that only reads begins and is held in memory without.
  const [{ planning }, { finish }, { selfTest }] = await Promise.all([
    import('../load.ts'),
    import('../plan/steps.ts'),
    import('./self-test.ts'),
  ]);
  const { document, form } = written;
  const { plan, findings } = finish(planning(written, kept.readFile, undefined));
  // A file has changed since: that is found by whoever asks, who reads everything again.
  if (plan === undefined || form === undefined) return place(findings);
  const planned: Planned = {
    ...{ document, plan, secrets: secretsAt(form.secrets), manifest: form.manifest },
    ...{ sources: sourcesOf(document), problems: [], files: new Map(), patterns: new Map() },
  };
  return selfTest(planned, kept);
}
