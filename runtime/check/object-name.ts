/** `type:id` taken apart; undefined when it is none. One colon, no `#`, no blank or control character, both parts not empty. */
export function splitObject(object: string): { readonly type: string; readonly id: string } | undefined {
  const colon = object.indexOf(":")
  if (colon < 1 || colon === object.length - 1 || !isPlain(object, colon)) return undefined
  return { type: object.slice(0, colon), id: object.slice(colon + 1) }
}

/** What no name holds. As OpenFGA has it: other white space of Unicode is a character like any. */
export const blankOrSurrogate = /[ \p{Cc}\p{Surrogate}]/u

/**
 * No second colon, no `#`, no blank or control character, and well formed: lone surrogates have no bytes, so two different ones would become
 * one name. By code, because it is done twice for every check.
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
