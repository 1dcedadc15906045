/** The response of a route. Bytes are sent as they are, any other body as JSON. */
export interface SandboxResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An error that the caller gets as `{status: 'error', message}` with this HTTP status. */
export class SandboxError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Returns a response with a body `{data}`. */
export function dataResponse(body: unknown, status = 200): SandboxResponse {
  return { status, body: { data: body } };
}

/** Returns a confirmation without data. */
export function successResponse(message: string, status = 200): SandboxResponse {
  return { status, body: { status: 'success', message } };
}

/** Returns the value. Throws 404 if it does not exist or belongs to another company. */
export function requireFound<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new SandboxError(404, `no such ${name}`);
  return value;
}

/** Returns the response to an error: its own status for a `SandboxError`, 500 for any other. */
export function errorResponse(error: unknown): SandboxResponse {
  if (error instanceof SandboxError) {
    return { status: error.status, headers: error.headers, body: { status: 'error', message: error.message } };
  }
  return { status: 500, body: { status: 'error', message: `the sandbox failed: ${String(error)}` } };
}
