/** Long enough that two texts of a record never share one by chance. */
const markLength = 22

/** The keyed digest of a text: 22 characters of base64url. */
export function markOf(key: { mark(text: string): string }, text: string): string {
  return key.mark(text).slice(0, markLength)
}
