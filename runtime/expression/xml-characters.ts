/** Characters that XML 1.0 has no form for, not even as a reference (§2.2), halves of surrogate pairs among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u

const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  // Readers make a blank of these in an attribute, and a line feed of a carriage return anywhere.
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
}

/** Escapes a text for the content of an element; undefined when it has a character that XML cannot have. */
export function escapeXmlText(text: string): string | undefined {
  if (notInXml.test(text)) return undefined
  return text.replace(/[&<>\r]/g, (character) => references[character] as string)
}

/** Escapes a text for the value of an attribute, in quotes of either kind; it fits the content of an element, too. Undefined as above. */
export function escapeXmlAttribute(text: string): string | undefined {
  if (notInXml.test(text)) return undefined
  return text.replace(/[&<>"'\t\n\r]/g, (character) => references[character] as string)
}
