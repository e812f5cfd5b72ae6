/** Longer paths would not fit into a cookie with the rest of a login. */
const lengthMax = 2048

/**
 * Whether a browser that follows this text stays on the site: it begins with one slash, and has no backslash, space or control character. Browsers read
 * `//host` and `/\host` as another host, and remove tabs and line ends before they look.
 */
export function isReturnPath(text: string): boolean {
  return text.length <= lengthMax && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)
}
