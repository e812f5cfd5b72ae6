import { fieldValue } from "./field-value.ts"

/** A parsed media type or range; parameter names in lower case. */
export interface MediaType {
  readonly type: string
  readonly subtype: string
  readonly parameters: ReadonlyMap<string, string>
}

/** Parses a Content-Type or a media range (RFC 9110 §8.3.1); undefined if it is invalid. `*` alone matches any type. */
export function mediaTypeOf(text: string): MediaType | undefined {
  const field = fieldValue(text)
  if (field === undefined) return undefined
  if (field.value === "*") return { type: "*", subtype: "*", parameters: new Map() }
  const found = /^([\w!#$&^.+*-]+)\/([\w!#$&^.+*-]+)$/.exec(field.value)
  if (found === null) return undefined
  const parameters = new Map([...field.parameters].map(([name, value]) => [name, value.toLowerCase()]))
  return { type: found[1] as string, subtype: found[2] as string, parameters }
}

/** Whether a type, without its parameters, is JSON (RFC 6839 §3.1). */
export function isJson(essence: string): boolean {
  return /^(?:application|text)\/json$|^[\w!#$&^.*-]+\/(?:[\w!#$&^.+-]+|\*)\+json$/.test(essence)
}

/**
 * How well a range matches a type, including `application/*` and `application/*+json`: 0 is no match, more specific ranges have a higher number. Charset
 * and boundary are ignored, because they describe the encoding and not the type.
 */
export function fitOf(range: MediaType, type: MediaType): number {
  if (range.type === "*" && range.subtype === "*") return 1
  if (range.type !== type.type && range.type !== "*") return 0
  if (range.subtype === "*") return 2
  const suffix = range.subtype.startsWith("*+") ? range.subtype.slice(1) : undefined
  if (suffix === undefined ? range.subtype !== type.subtype : !type.subtype.endsWith(suffix)) return 0
  let fit = suffix === undefined ? 3 : 2.5
  for (const [name, value] of range.parameters) {
    if (name === "charset" || name === "boundary") continue
    if (type.parameters.get(name) !== value) return 0
    fit += 1
  }
  return fit
}
