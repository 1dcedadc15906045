const CREDENTIALS = /(?<=:\/\/)[^\s/?#@"']+(?=@)/g;

/** A text with a dot for each character of user and password of the URLs in it. */
export function redactCredentials(text: string): string {
  return text.includes('@') ? text.replaceAll(CREDENTIALS, (found) => '•'.repeat(found.length)) : text;
}
