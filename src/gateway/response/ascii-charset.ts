/** By these charsets a byte of ASCII is that character wherever it stands, or the two differ by NULs alone (UTF-16, UTF-32). */
const ASCII_CHARSET =
  /^(?:utf-?(?:8|16|32)(?:[lb]e)?|us-ascii|ascii|latin[1-9]|iso[-_]?8859[-_]\d{1,2}(?:-[ei])?|(?:windows|cp)-?(?:125[0-8]|874)|macintosh|tis-620|windows-31j|koi8-[ru]|euc-(?:jp|kr)|shift[_-]jis|gb2312|gbk|gb18030|big5(?:-hkscs)?)$/i;
const CHARSET = /;\s*charset\s*=\s*"?\s*([^";\s]*)/gi;

/** False if a header names a charset by which a client reads other characters than those that the bytes look like, such as UTF-7. */
export function isAsciiText(headers: readonly string[]): boolean {
  return headers.every((value, index) => {
    if (index % 2 === 0 || headers[index - 1]?.toLowerCase() !== 'content-type') return true;
    return [...value.matchAll(CHARSET)].every(([, charset = '']) => charset === '' || ASCII_CHARSET.test(charset));
  });
}
