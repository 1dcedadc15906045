import { getAllHeaders, type RawHeaders } from '../../http1/raw-headers.ts';

/** Matches charsets in which an ASCII byte always is that character. UTF-16 and UTF-32 only add NUL bytes around it. */
const ASCII_CHARSET =
  /^(?:utf-?(?:8|16|32)(?:[lb]e)?|us-ascii|ascii|latin[1-9]|iso[-_]?8859[-_]\d{1,2}(?:-[ei])?|(?:windows|cp)-?(?:125[0-8]|874)|macintosh|tis-620|windows-31j|koi8-[ru]|euc-(?:jp|kr)|shift[_-]jis|gb2312|gbk|gb18030|big5(?:-hkscs)?)$/i;
const CHARSET = /;\s*charset\s*=\s*"?\s*([^";\s]*)/gi;

/** True unless `Content-Type` names a charset such as UTF-7, in which ASCII bytes can encode other characters. */
export function isAsciiText(headers: RawHeaders): boolean {
  return getAllHeaders(headers, 'content-type').every((value) =>
    [...value.matchAll(CHARSET)].every(([, charset = '']) => charset === '' || ASCII_CHARSET.test(charset)),
  );
}
