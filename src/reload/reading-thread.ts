import { extname } from 'node:path';
import { type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Outside } from '../manifest/files.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Form } from '../manifest/read-manifest.ts';
import type { Source, World } from '../manifest/source.ts';
import type { Steps } from '../plan/steps.ts';
import type { Finding } from '../problem/finding.ts';
import type { Problem } from '../problem/problem.ts';

/** What the thread is told as it begins. */
export interface Place {
  readonly path: string;
  readonly env: World['env'];
}

/** Read the manifest anew; place findings in what was read last; run its self test. */
export type Question =
  | { readonly ask: 'read' }
  | { readonly ask: 'place'; readonly findings: readonly Finding[] }
  | { readonly ask: 'test' };

export interface ReadText {
  readonly findings: readonly Finding[];
  /** Without its routes, which come by the port. */
  readonly form: Form | undefined;
  /** The texts that it was read from, the manifest's own first. */
  readonly sources: readonly Source[];
  readonly outside: Outside;
  /** SHA-256 of the manifest's own text, in hex. */
  readonly own: string;
  /** The routes in pieces; `undefined` when there is no list of them. */
  readonly routes: MessagePort | undefined;
}

/** Problems, and the texts that they are in. */
export interface Placed {
  readonly problems: readonly Problem[];
  readonly sources: readonly Source[];
}

/** What cannot be read, and why. */
export interface Unreadable {
  readonly reason: string;
}

/** Nothing that it is asked takes so long: the thread is ended, and another one begun. */
const MAX_MS = 60_000;
/** Without a reload for so long it gives its memory back; the next one begins it anew. */
const IDLE_MS = 600_000;

/** The thread that reads manifests, so that to parse a large one holds no request up. One question at a time. */
export class ReadingThread {
  readonly #place: Place;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor({ path, env }: Place) {
    this.#place = { path, env: { ...env } };
  }

  /** Begins it if it has not begun: it is ready then once it is asked. */
  begin(): void {
    this.#worker ??= this.#newWorker();
    this.#endWhenIdle();
  }

  read(): Promise<ReadText | Unreadable> {
    return this.#ask({ ask: 'read' });
  }

  place(findings: readonly Finding[]): Promise<Placed> {
    return this.#ask({ ask: 'place', findings });
  }

  test(): Promise<Placed> {
    return this.#ask({ ask: 'test' });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  async #ask<Answer>(question: Question): Promise<Answer> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#newWorker();
    const worker = this.#worker;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const timer = setTimeout(() => void worker.terminate(), MAX_MS);
    const onExit = () => reject(new Error('to read it took too long, or more memory than there is'));
    worker.once('message', resolve).once('error', reject).once('exit', onExit);
    worker.postMessage(question);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      worker.off('message', resolve).off('error', reject).off('exit', onExit);
      this.#endWhenIdle();
    }
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#worker?.terminate(), IDLE_MS).unref();
  }

  #newWorker(): Worker {
    // By this file's own ending: the sources run as they are, and so does what is built of them.
    const file = new URL(`./reading-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(file, { name: 'reading', workerData: this.#place, execArgv: [] });
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    worker.unref();
    return worker;
  }
}

/** Puts the pieces of a manifest together, step by step: to take all of it at once would take too long. */
export function* assembling({ form, routes }: ReadText): Steps<Form | undefined> {
  if (form === undefined || routes === undefined) return form;
  const whole: Manifest['routes'] = [];
  for (let piece = receiveMessageOnPort(routes); piece !== undefined; piece = receiveMessageOnPort(routes)) {
    whole.push(...(piece.message as Manifest['routes']));
    yield;
  }
  routes.close();
  return { ...form, manifest: { ...form.manifest, routes: whole } };
}
