/** What a route answers: bytes go out as they are, anything else as JSON. */
export interface SandboxResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An error the caller is told about: `{status: 'error', message}` with this HTTP status. */
export class SandboxError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** One thing, enveloped as `{data}`. */
export function dataResponse(body: unknown, status = 200): SandboxResponse {
  return { status, body: { data: body } };
}

/** A short confirmation without data. */
export function successResponse(message: string, status = 200): SandboxResponse {
  return { status, body: { status: 'success', message } };
}

/** The one answer for what is not there and for what belongs to another company. */
export function requireFound<T>(thing: T | undefined, name: string): T {
  if (thing === undefined) throw new SandboxError(404, `no such ${name}`);
  return thing;
}

/** The answer to an error: a fault speaks for itself, anything else is ours. */
export function errorResponse(error: unknown): SandboxResponse {
  if (error instanceof SandboxError) {
    return { status: error.status, headers: error.headers, body: { status: 'error', message: error.message } };
  }
  return { status: 500, body: { status: 'error', message: `the sandbox failed: ${String(error)}` } };
}
