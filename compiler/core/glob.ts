/** A pattern of file names, by segments. `*` stands for any characters but `/`, `?` for one, a segment `**` for any folders. */
export interface Glob {
  readonly segments: readonly string[]
}

/** Whether a path as written in a file is a pattern and not a name. */
export function isPattern(path: string): boolean {
  return /[*?]/.test(path)
}

/** Reads a pattern. Repeated `**` mean the same as one. */
export function globOf(pattern: string): Glob {
  const segments = pattern.split("/")
  return { segments: segments.filter((segment, at) => segment !== "**" || segments[at - 1] !== "**") }
}

/**
 * The places in the pattern that a walk may be at before it reads an entry. A walk carries the set of them, so that a
 * pattern with many `**` costs no more than its length for each entry.
 */
export function globStart(glob: Glob): ReadonlySet<number> {
  return close(glob, new Set([0]))
}

/** The places after an entry called `name` was read from `places`; empty when nothing under it can match. */
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

/** Whether what was read so far is a whole match. */
export function globDone(glob: Glob, places: ReadonlySet<number>): boolean {
  return places.has(glob.segments.length)
}

/** `**` also stands for no folder. */
function close(glob: Glob, places: Set<number>): ReadonlySet<number> {
  for (const place of places) if (glob.segments[place] === "**") places.add(place + 1)
  return places
}

/** Wildcards with one step back to the last `*`: quadratic at worst, where a regular expression could be exponential. */
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
