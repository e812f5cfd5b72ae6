const beyondAscii = /[\x80-\xff]/
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * A field's value as text. Fields are bytes (RFC 9110 §5.5), which Node gives as Latin-1: where the bytes are UTF-8, as nearly everybody writes them, that is what they mean, else
 * they are Latin-1. What is written into a field is UTF-8 (`headerText` of grammars.ts), so that a value that was read goes out as it came.
 */
export function fieldText(value: string): string {
  if (!beyondAscii.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, "latin1"))
  } catch {
    return value
  }
}
