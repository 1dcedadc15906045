import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Outside } from '../manifest/files.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Form } from '../manifest/read-manifest.ts';
import type { Source, World } from '../manifest/source.ts';
import type { Steps } from '../plan/steps.ts';
import type { Finding } from '../problem/finding.ts';
import type { Problem } from '../problem/problem.ts';
import { Thread } from './thread.ts';

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

const MAX_MS = 60_000;
/** Without a reload for so long it gives its memory back; the next one begins it anew. */
const IDLE_MS = 600_000;

/** The thread that parses manifests, so that a large one delays no request. One question at a time. */
export class ReadingThread {
  readonly #thread: Thread<Question>;
  #idle: NodeJS.Timeout | undefined;

  constructor({ path, env }: Place) {
    this.#thread = new Thread({ file: 'reading-worker', data: { path, env: { ...env } }, maxMs: MAX_MS });
  }

  get hungCount(): number {
    return this.#thread.hungCount;
  }

  get isInOperation(): boolean {
    return this.#thread.isInOperation;
  }

  /** Begins it if it has not begun, so that it is ready for the first question. */
  begin(): void {
    this.#thread.begin();
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

  close(): Promise<void> {
    clearTimeout(this.#idle);
    return this.#thread.end();
  }

  async #ask<Answer>(question: Question): Promise<Answer> {
    clearTimeout(this.#idle);
    try {
      return await this.#thread.ask<Answer>(question);
    } finally {
      this.#endWhenIdle();
    }
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#thread.end(), IDLE_MS).unref();
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
