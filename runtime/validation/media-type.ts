/** A media type or range, taken apart; parameters in lower case names. */
export interface MediaType {
  readonly type: string
  readonly subtype: string
  readonly parameters: ReadonlyMap<string, string>
}

/** Reads a Content-Type or a media range (RFC 9110 §8.3.1); undefined when it is none. `*` alone is any. */
export function mediaTypeOf(text: string): MediaType | undefined {
  const [essence = "", ...rest] = text.split(";")
  if (essence.trim() === "*") return { type: "*", subtype: "*", parameters: new Map() }
  const found = /^\s*([\w!#$&^.+*-]+)\/([\w!#$&^.+*-]+)\s*$/.exec(essence)
  if (found === null) return undefined
  const parameters = new Map<string, string>()
  for (const each of rest) {
    const at = each.indexOf("=")
    if (at === -1) continue
    const value = each.slice(at + 1).trim()
    const bare = value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
    parameters.set(each.slice(0, at).trim().toLowerCase(), bare.toLowerCase())
  }
  return { type: (found[1] as string).toLowerCase(), subtype: (found[2] as string).toLowerCase(), parameters }
}

/**
 * How well a range fits a type: 0 not at all, else the more it says the more. A charset says how the text is written and not what it is,
 * so it does not count.
 */
export function fitOf(range: MediaType, type: MediaType): number {
  if (range.type === "*" && range.subtype === "*") return 1
  if (range.type !== type.type) return 0
  if (range.subtype === "*") return 2
  if (range.subtype !== type.subtype) return 0
  let fit = 3
  for (const [name, value] of range.parameters) {
    if (name === "charset") continue
    if (type.parameters.get(name) !== value) return 0
    fit += 1
  }
  return fit
}
