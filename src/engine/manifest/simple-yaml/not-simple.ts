/** Thrown for text outside of the simple part of YAML. */
export class NotSimple extends Error {}
