// Values that an editor's compilations keep, in no more memory than they need.

/** The same text as a copy of its own. A slice keeps the whole text that it was cut from in memory, e.g. an earlier text of a file. */
export function compactText(text: string): string {
  // V8 copies the characters when it slices a text that was joined; no method of strings copies them by itself.
  return ` ${text}`.slice(1)
}

/** A copy without room for more items: the first `push` makes room for 17, and a syntax tree has ten thousands of lists with one or two. */
export function compactList<Item>(list: readonly Item[]): readonly Item[] {
  return list.slice()
}
