/** Percent-encodes text as one path segment or query part. A lone surrogate, which UTF-8 cannot represent, becomes U+FFFD instead of an exception. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"))
}
