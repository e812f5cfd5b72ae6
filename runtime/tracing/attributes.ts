/**
 * Attributes as members of OTLP's JSON list: `{"key":…,"value":…}`, with commas between them and none at the ends. Text is built directly, because
 * objects for `JSON.stringify` cost several times as much.
 */
export type AttributeText = string

/** Writes an attribute of one name, with a comma before it. An undefined value gives an empty text: the attribute is left out. */
export type WriteAttribute<Value> = (value: Value | undefined) => string

/** Longest text of an attribute; longer ones are cut, so that a caller's fields cannot fill the queue. */
const charactersMax = 1_024

/** The first attribute of a list, which has no comma before it and is never left out. */
export function firstAttribute(key: string): (value: string) => AttributeText {
  const start = `{"key":${JSON.stringify(key)},"value":{"stringValue":`
  return (value) => `${start + quoted(value)}}}`
}

/** An attribute with text. Longer text than 1,024 characters is cut. */
export function textAttribute(key: string): WriteAttribute<string> {
  const start = `,{"key":${JSON.stringify(key)},"value":{"stringValue":`
  return (value) => (value === undefined ? "" : `${start + quoted(value)}}}`)
}

/** An attribute with a whole number, OTLP's `int64`, which JSON writes as text. */
export function wholeAttribute(key: string): WriteAttribute<number> {
  const start = `,{"key":${JSON.stringify(key)},"value":{"intValue":"`
  return (value) => (value === undefined ? "" : `${start + value}"}}`)
}

/** An attribute that is true or false. */
export function flagAttribute(key: string): WriteAttribute<boolean> {
  const start = `,{"key":${JSON.stringify(key)},"value":{"boolValue":`
  return (value) => (value === undefined ? "" : `${start + value}}}`)
}

/** Keeps the text of the last value: for values that are usually the same from request to request. */
export function lastKept<Value>(write: (value: Value) => string): (value: Value) => string {
  let last: Value | undefined
  let text: string | undefined
  return (value) => {
    if (text === undefined || value !== last) {
      last = value
      text = write(value)
    }
    return text
  }
}

// Control characters, quotation mark and backslash must be escaped; surrogates may be unpaired.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them
const special = /["\\\u0000-\u001f\ud800-\udfff]/

/** A JSON string, cut after 1,024 characters. */
export function quoted(text: string): string {
  const cut = text.length > charactersMax ? text.slice(0, charactersMax) : text
  return special.test(cut) ? JSON.stringify(cut) : `"${cut}"`
}

const serverAddress = textAttribute("server.address")
const serverPort = wholeAttribute("server.port")

/** The attributes of the server that a URL names. */
export function serverAttributes({ hostname, port, protocol }: URL): AttributeText {
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
  return serverAddress(hostname.replace(/^\[|\]$/g, "")) + serverPort(number)
}
