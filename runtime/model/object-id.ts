const objectId = /^[^#:\s*][a-zA-Z0-9_|*@.+/-]*$/

/**
 * Whether OpenFGA's language tools accept this text as an object id after `type:`: letters, digits and `_ | * @ . + / -`. The first character can be
 * anything except `#`, `:`, `*` and white space. OpenFGA's server accepts more (any text without white space).
 */
export function isObjectId(text: string): boolean {
  return objectId.test(text)
}
