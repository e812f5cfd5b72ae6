/** Characters that XML 1.0 cannot represent, not even as a reference (§2.2), including unpaired surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u

const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  // XML parsers turn these into a space in an attribute, and a carriage return into a line feed anywhere.
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
}

/** Escapes a text for the content of an element; undefined if XML cannot represent one of its characters. */
export function escapeXmlText(text: string): string | undefined {
  if (notInXml.test(text)) return undefined
  return text.replace(/[&<>\r]/g, (character) => references[character] as string)
}

/** Escapes a text for the value of an attribute in either kind of quotes, which is also valid as element content. Undefined as for `escapeXmlText`. */
export function escapeXmlAttribute(text: string): string | undefined {
  if (notInXml.test(text)) return undefined
  return text.replace(/[&<>"'\t\n\r]/g, (character) => references[character] as string)
}
