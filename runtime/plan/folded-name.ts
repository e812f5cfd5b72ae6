/**
 * A name where letter case does not count, the same for all that some server takes for one letter: by upper case to lower case, since `ſ` and `ı` are no other letter in lower case alone, and a
 * name that is written with them would be judged by nothing.
 *
 * @example
 * foldedName("\u017ftatus") // "status"
 */
export function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase()
}
