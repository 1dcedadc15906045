/** What is wrong with a request, without a value of it. */
export interface Violation {
  /** JSON Pointer (RFC 6901) into the body, or to a parameter: `/query/page`. */
  readonly pointer: string;
  readonly message: string;
  /** What the schema itself says of the place: its `errorMessage`, else its `description`. */
  readonly description?: string;
}
