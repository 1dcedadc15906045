/** A construct that a pattern may not have. The message names it and says what to write instead. */
export class UnsupportedPattern extends Error {}
