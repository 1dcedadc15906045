import { parentPort, workerData } from 'node:worker_threads';
import { MAX_ALL_CHARACTERS, sha256, tooMuch } from '../manifest/files.ts';
import { type Watch, watchFiles } from '../watch.ts';
import { worldOf } from '../world.ts';
import { counted, inOperation } from './counted.ts';
import type { FileEvent, FileText, Look, Question } from './file-thread.ts';
import { changedSince, ownHash, type Place, type Seen, watchedBy } from './seen.ts';
import { isSteady, settled } from './steady.ts';
import type { Begun } from './thread.ts';
import { keepOffPool } from './thread-file-system.ts';

/** The other side of `file-thread.ts`. All of its file operations run on its own thread. */
const { path, operations } = workerData as Begun<{ readonly path: string }>;
keepOffPool(operations);
const place: Place = { path, world: counted(worldOf(path, {}), operations) };
/** A folder in which much is written reports no more often. */
const REPORT_MS = 10;

let watch: Watch | undefined;
let watched = '';
let isReporting = false;

parentPort?.on('message', async ({ id, question }: { id: number; question: Question }) => {
  parentPort?.postMessage({ id, answer: await answerTo(question) });
});

async function answerTo(question: Question): Promise<unknown> {
  if (question.ask === 'look') return look(question.seen, question.waitMs);
  if (question.ask === 'steady') return isSteady(question.read, place, question.before, question.times);
  if (question.ask === 'texts') return texts(question.paths);
  return follow(question.seen);
}

async function look(seen: Seen, waitMs: number): Promise<Look> {
  const endMs = performance.now() + waitMs;
  inOperation(operations, () => watch?.renew());
  const times = await settled(seen, place, () => performance.now() >= endMs);
  const changed = changedSince(seen, place);
  return { times, changed, own: changed.includes(path) ? ownHash(place) : seen.own };
}

function texts(paths: readonly string[]): Map<string, FileText> {
  let characters = 0;
  const read = (name: string): FileText => {
    try {
      if (characters > MAX_ALL_CHARACTERS) throw tooMuch();
      const text = place.world.readFile(name);
      characters += text.length;
      return { text, hash: sha256(text) };
    } catch (error) {
      return { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' };
    }
  };
  return new Map(paths.map((name) => [name, read(name)]));
}

function follow(seen: Seen): void {
  const { files, folders } = watchedBy(seen, place);
  const all = [...files, '', ...folders].join('\0');
  if (all === watched) return;
  watched = all;
  inOperation(operations, () => {
    if (watch === undefined) watch = watchFiles(files, report, folders, (code) => post({ kind: 'watch', code }));
    else watch.follow(files, folders);
  });
}

function report(): void {
  if (isReporting) return;
  isReporting = true;
  setTimeout(() => {
    isReporting = false;
    post({ kind: 'change' });
  }, REPORT_MS);
}

function post(event: FileEvent): void {
  parentPort?.postMessage({ event });
}
