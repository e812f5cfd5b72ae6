/** Marker lines of a merge that was not finished: from the first one to the last, and the names behind these two. */
export interface MergeConflict {
  readonly first: Marker
  /** Undefined where one marker stands alone: somebody removed the others. */
  readonly last: Marker | undefined
}

interface Marker {
  readonly start: number
  readonly end: number
  /** The branch or commit, empty where git knew none. */
  readonly name: string
}

const markers = /^(?:<{7}|={7}|>{7})(?: [^\r\n]*)?(?=\r?$)/gm

/** The conflicts git left in a text. A line of `=` alone is none: it underlines titles. */
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
