/** The values of all cookies with one name (RFC 6265 §4.2), as sent. Usually none or one. */
export function cookieValues(header: string | undefined, name: string): string[] {
  if (header === undefined) return []
  return pairsOf(header)
    .filter((pair) => nameOf(pair) === name)
    .map((pair) => unquoted(pair.slice(pair.indexOf("=") + 1).trim()))
}

/** The Cookie header without the cookies of one name; undefined when no others are left. */
export function withoutCookie(header: string, name: string): string | undefined {
  const kept = pairsOf(header).filter((pair) => nameOf(pair) !== name)
  return kept.length === 0 ? undefined : kept.join("; ")
}

function pairsOf(header: string): string[] {
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "")
}

function nameOf(pair: string): string {
  const at = pair.indexOf("=")
  return at === -1 ? "" : pair.slice(0, at).trim()
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}
