const objectId = /^[^#:\s*][a-zA-Z0-9_|*@.+/-]*$/

/**
 * Whether OpenFGA's language tools accept this as the part of an object after `type:`: letters, digits and `_ | * @ . + / -`;
 * the first character may be anything but `#`, `:`, `*` and white space. Its server accepts more (any text without white space).
 */
export function isObjectId(text: string): boolean {
  return objectId.test(text)
}
