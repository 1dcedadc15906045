import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Dependencies } from '../../engine/manifest/dependencies.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { CheckedManifest } from '../../engine/manifest/read-manifest.ts';
import type { AddressOverrides, Environment, Source } from '../../engine/manifest/source.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import { type Finding, SEVERITY_RANKS } from '../../engine/problem/finding.ts';
import type { Problem } from '../../engine/problem/problem.ts';
import { WorkerThread } from './worker-thread.ts';

/** The data that the thread starts with. */
export interface ManifestThreadOptions {
  readonly path: string;
  readonly env: Environment['env'];
  readonly overrides: AddressOverrides;
}

/**
 * A manifest that is not saved, in place of the file. It may use only files of the active manifest. The sender of the text could
 * otherwise read other files, or a private key, through the messages about them.
 */
export interface UnsavedManifest {
  /** Bytes are decoded in the thread. */
  readonly text: string | Uint8Array;
  /** As the active manifest names them. */
  readonly files: readonly string[];
  /** Those of them that the active manifest includes. No other file is read as a part of a manifest. */
  readonly includes: readonly string[];
  /** The texts with variables that it may have, those of the active manifest; all, if there are none of these here. */
  readonly references?: CheckedManifest['references'];
  /** The texts of the files, if they were read before. Otherwise they are read from the file system. */
  readonly texts?: ReadonlyMap<string, string>;
}

/** The result of reading and checking a manifest, as the thread sends it. */
export interface TransferredManifest {
  readonly findings: readonly Finding[];
  /** Without its routes, which arrive on the port. */
  readonly checked: CheckedManifest | undefined;
  /** The texts of the manifest and its includes, the manifest's own first. */
  readonly sources: readonly Source[];
  readonly dependencies: Dependencies;
  /** SHA-256 of the manifest's own text, in hex. */
  readonly manifestHash: string;
  /** Sends the routes in chunks; `undefined` if the manifest has no list of routes. */
  readonly routes: MessagePort | undefined;
}

/** Problems, with the texts that they are in. */
export interface LocatedProblems {
  readonly problems: readonly Problem[];
  readonly sources: readonly Source[];
}

/** The reason why the manifest cannot be read. */
export interface ReadFailure {
  readonly reason: string;
}

/** Each problem takes the serving thread time. A person reads only the first ones. */
const MAX_FINDINGS = 1_000;

/** Keeps the most severe findings, and each one that hides a secret of a saved file. */
export function limitFindings(findings: readonly Finding[], unsaved: UnsavedManifest | undefined): readonly Finding[] {
  const isKept = ({ isSecret }: Finding, index: number) => index < MAX_FINDINGS || (isSecret && unsaved === undefined);
  if (findings.length <= MAX_FINDINGS) return findings;
  return findings.toSorted((a, b) => SEVERITY_RANKS[b.severity] - SEVERITY_RANKS[a.severity]).filter(isKept);
}

/** The requests that the thread handles. */
export type ManifestRequests = {
  /** Reads and checks the manifest, or the unsaved one in its place. */
  readonly read: {
    readonly value: UnsavedManifest | undefined;
    readonly result: TransferredManifest | ReadFailure;
  };
  /** Finds the lines of findings in the texts that the last `read` has read. */
  readonly locate: { readonly value: readonly Finding[]; readonly result: LocatedProblems };
  /** Tests the manifest that the last `read` has read. */
  readonly selfTest: { readonly value: undefined; readonly result: LocatedProblems };
};

/** The thread that parses and checks the manifest, so that a large one delays no request. It handles one request at a time. */
export type ManifestThread = WorkerThread<ManifestRequests>;

/** Enough for the largest manifest on a machine that is not busy. */
const TIMEOUT_MS = 10_000;
const IDLE_MS = 600_000;

/** @param maxMemoryMb the limit of the heap of the thread; more ends the thread. By default that of the process */
export function createManifestThread({ env, ...options }: ManifestThreadOptions, maxMemoryMb?: number): ManifestThread {
  const data = { ...options, env: { ...env } };
  return new WorkerThread({ file: 'manifest-worker', data, timeoutMs: TIMEOUT_MS, idleMs: IDLE_MS, maxMemoryMb });
}

/** Assembles the chunks of a manifest in slices: receiving a large manifest at once would delay requests. */
export function* assembleManifest({ checked, routes }: TransferredManifest): SlicedWork<CheckedManifest | undefined> {
  if (checked === undefined || routes === undefined) return checked;
  const assembled: Manifest['routes'] = [];
  for (let chunk = receiveMessageOnPort(routes); chunk !== undefined; chunk = receiveMessageOnPort(routes)) {
    assembled.push(...(chunk.message as Manifest['routes']));
    yield;
  }
  routes.close();
  return { ...checked, manifest: { ...checked.manifest, routes: assembled } };
}
