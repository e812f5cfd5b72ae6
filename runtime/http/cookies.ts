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

/** Cookies whose name begins with `prefix`, by the rest of their name, and the Cookie header without them; undefined when no others are left. */
export function splitCookies(
  header: string,
  prefix: string,
): { own: ReadonlyMap<string, readonly string[]>; rest: string | undefined } {
  const own = new Map<string, string[]>()
  const rest: string[] = []
  for (const pair of pairsOf(header)) {
    const name = nameOf(pair)
    if (!name.startsWith(prefix)) {
      rest.push(pair)
      continue
    }
    const value = unquoted(pair.slice(pair.indexOf("=") + 1).trim())
    own.set(name.slice(prefix.length), [...(own.get(name.slice(prefix.length)) ?? []), value])
  }
  return { own, rest: rest.length === 0 ? undefined : rest.join("; ") }
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
