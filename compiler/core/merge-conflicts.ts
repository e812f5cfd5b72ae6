/** The marker lines of an unresolved merge: the first and the last, with the names after them. */
export interface MergeConflict {
  readonly first: Marker
  /** Undefined for a single marker: the others were removed. */
  readonly last: Marker | undefined
}

interface Marker {
  readonly start: number
  readonly end: number
  /** The branch or commit, empty if git had no name. */
  readonly name: string
}

const markers = /^(?:<{7}|={7}|>{7})(?: [^\r\n]*)?(?=\r?$)/gm

/** The conflicts that git left in a text. A line of `=` alone is not a conflict, because it can underline a title. */
export function mergeConflicts(text: string): MergeConflict[] {
  if (!text.includes("<<<<<<<") && !text.includes(">>>>>>>")) return []
  const found: MergeConflict[] = []
  let open: Marker | undefined
  for (const match of text.matchAll(markers)) {
    const [written] = match
    const marker = { start: match.index, end: match.index + written.length, name: written.slice(8).trim() }
    if (written.startsWith("=")) continue
    if (written.startsWith("<")) {
      if (open !== undefined) found.push({ first: open, last: undefined })
      open = marker
    } else {
      found.push(open === undefined ? { first: marker, last: undefined } : { first: open, last: marker })
      open = undefined
    }
  }
  if (open !== undefined) found.push({ first: open, last: undefined })
  return found
}
