/** A violation of a request's schema or parameters. It contains no value of the request. */
export interface Violation {
  /** JSON Pointer (RFC 6901) into the body, or to a parameter: `/query/page`. */
  readonly pointer: string;
  readonly message: string;
  /** The `errorMessage` of the violated schema, or its `description`. */
  readonly description?: string;
}
