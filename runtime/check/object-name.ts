/** Splits `type:id`; undefined when the text is not an object. One colon, no `#`, no space or control character, both parts not empty. */
export function splitObject(object: string): { readonly type: string; readonly id: string } | undefined {
  const colon = object.indexOf(":")
  if (colon < 1 || colon === object.length - 1 || !isPlain(object, colon)) return undefined
  return { type: object.slice(0, colon), id: object.slice(colon + 1) }
}

/** Characters that no name contains, as in OpenFGA: Unicode's other white space is allowed. */
export const blankOrSurrogate = /[ \p{Cc}\p{Surrogate}]/u

/**
 * No second colon, no `#`, no space or control character, and well formed: lone surrogates have no UTF-8, so two different names would
 * become equal. Compares character codes, because it runs twice for every check.
 */
function isPlain(text: string, colon: number): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127)
      return !blankOrSurrogate.test(text) && !/[#]/.test(text) && text.indexOf(":", colon + 1) < 0
    if (code <= 32 || code === 127) return false
    if (code === 35 || (code === 58 && at !== colon)) return false
  }
  return true
}
