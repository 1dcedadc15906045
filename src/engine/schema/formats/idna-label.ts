/** The code points that RFC 5892 section 2 derives as valid from the properties of Unicode. */
const VALID =
  /[[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]--[\p{Changes_When_NFKC_Casefolded}\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Noncharacter_Code_Point}\u{1100}-\u{11FF}\u{A960}-\u{A97F}\u{D7B0}-\u{D7FF}\u{20D0}-\u{20FF}\u{1D100}-\u{1D24F}\u{640}\u{7FA}\u{302E}\u{302F}\u{3031}-\u{3035}\u{303B}]]/v;
/** Hyphens, the exceptions of section 2.6 that are always valid, and the code points that `CONTEXT_RULES` restricts. */
const EXCEPTION = /[\-\u{DF}\u{3C2}\u{6FD}\u{6FE}\u{F0B}\u{3007}\u{B7}\u{375}\u{5F3}\u{5F4}\u{30FB}\u{200C}\u{200D}]/v;
const ALL_VALID = new RegExp(`^(?:${VALID.source}|${EXCEPTION.source})+$`, 'v');

/** The rules of RFC 5892 appendix A.3 to A.9. A label that contains a match is invalid. */
const CONTEXT_RULES: readonly RegExp[] = [
  // MIDDLE DOT only between two l.
  /(?<!l)\u{B7}|\u{B7}(?!l)/v,
  // GREEK KERAIA only before a Greek letter.
  /\u{375}(?!\p{Script=Greek})/v,
  // GERESH and GERSHAYIM only after a Hebrew letter.
  /(?<!\p{Script=Hebrew})[\u{5F3}\u{5F4}]/v,
  // KATAKANA MIDDLE DOT only in a label with a Japanese letter.
  /^[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]*\u{30FB}[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]*$/v,
  // Arabic-Indic digits and extended ones are not mixed.
  /[\u{660}-\u{669}].*[\u{6F0}-\u{6F9}]|[\u{6F0}-\u{6F9}].*[\u{660}-\u{669}]/v,
];

/**
 * True if a label has only the code points of a U-label in allowed places (RFC 5891 section 4.2). Joiners and right-to-left
 * text are not checked here.
 */
export function isIdnaLabel(label: string): boolean {
  return (
    ALL_VALID.test(label) &&
    label.normalize('NFC') === label &&
    !/^-|-$|^..--|^\p{M}/v.test(label) &&
    !CONTEXT_RULES.some((rule) => rule.test(label))
  );
}
