/**
 * A pattern for file paths, by segments. `*` matches any characters except `/`, `?` one character, a segment `**` any number of folders.
 */
export interface Glob {
  readonly segments: readonly string[]
}

/** Whether a path in a text is a pattern rather than a name. */
export function isPattern(path: string): boolean {
  return /[*?]/.test(path)
}

/** Parses a pattern. Repeated `**` are the same as one. */
export function globOf(pattern: string): Glob {
  const segments = pattern.split("/")
  return { segments: segments.filter((segment, at) => segment !== "**" || segments[at - 1] !== "**") }
}

/**
 * The initial positions in the pattern. A walk keeps the set of possible positions, so that a pattern with many `**` costs at most its
 * length for each entry.
 */
export function globStart(glob: Glob): ReadonlySet<number> {
  return close(glob, new Set([0]))
}

/** The positions after an entry `name`, from `places`; empty if nothing below it can match. */
export function globStep(glob: Glob, places: ReadonlySet<number>, name: string): ReadonlySet<number> {
  const next = new Set<number>()
  for (const place of places) {
    const segment = glob.segments[place]
    if (segment === undefined) continue
    if (segment === "**") {
      if (!name.startsWith(".")) next.add(place)
    } else if (matchesSegment(segment, name)) next.add(place + 1)
  }
  return close(glob, next)
}

/** Whether the entries so far match the whole pattern. */
export function globDone(glob: Glob, places: ReadonlySet<number>): boolean {
  return places.has(glob.segments.length)
}

/** `**` also matches zero folders. */
function close(glob: Glob, places: Set<number>): ReadonlySet<number> {
  for (const place of places) if (glob.segments[place] === "**") places.add(place + 1)
  return places
}

/** Matches wildcards with backtracking only to the last `*`: at worst quadratic, while a regular expression could be exponential. */
function matchesSegment(segment: string, name: string): boolean {
  if (name.startsWith(".") && !segment.startsWith(".")) return false
  let at = 0
  let star = -1
  let resume = 0
  for (let i = 0; i < name.length; ) {
    if (segment[at] === "*") {
      star = at++
      resume = i
    } else if (segment[at] === "?" || segment[at] === name[i]) {
      at++
      i++
    } else if (star !== -1) {
      at = star + 1
      i = ++resume
    } else return false
  }
  while (segment[at] === "*") at++
  return at === segment.length
}
