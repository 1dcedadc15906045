import { getAllHeaders, type RawHeaders } from '../../raw-headers.ts';

/** In these charsets each ASCII byte is that character everywhere; in UTF-16 and UTF-32 it is surrounded by NULs. */
const ASCII_CHARSET =
  /^(?:utf-?(?:8|16|32)(?:[lb]e)?|us-ascii|ascii|latin[1-9]|iso[-_]?8859[-_]\d{1,2}(?:-[ei])?|(?:windows|cp)-?(?:125[0-8]|874)|macintosh|tis-620|windows-31j|koi8-[ru]|euc-(?:jp|kr)|shift[_-]jis|gb2312|gbk|gb18030|big5(?:-hkscs)?)$/i;
const CHARSET = /;\s*charset\s*=\s*"?\s*([^";\s]*)/gi;

/** False if a header names a charset, such as UTF-7, in which a client reads other characters than the ASCII bytes. */
export function isAsciiText(headers: RawHeaders): boolean {
  return getAllHeaders(headers, 'content-type').every((value) =>
    [...value.matchAll(CHARSET)].every(([, charset = '']) => charset === '' || ASCII_CHARSET.test(charset)),
  );
}
