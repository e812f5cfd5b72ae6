/** A header field with parameters: the text before the first `;` in lower case, and the parameters by name in lower case. */
export interface FieldValue {
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

const parameter =
  /[ \t]*;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;"]*))[ \t]*(?=;|$))?/y

/**
 * Parses a field like Content-Type or Content-Disposition (RFC 9110 §5.6.6). Undefined if it is malformed or has a duplicate parameter: servers
 * interpret such a field differently.
 */
export function fieldValue(text: string): FieldValue | undefined {
  const end = text.indexOf(";")
  const value = (end === -1 ? text : text.slice(0, end)).trim().toLowerCase()
  const parameters = new Map<string, string>()
  parameter.lastIndex = end === -1 ? text.length : end
  while (parameter.lastIndex < text.length) {
    const found = parameter.exec(text)
    if (found === null) return undefined
    const [, name, quoted, plain = ""] = found
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) return undefined
    parameters.set(key, quoted === undefined ? plain : quoted.replace(/\\([\s\S])/g, "$1"))
  }
  return { value, parameters }
}
