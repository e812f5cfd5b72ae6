import { globDone, globOf, globStart, globStep } from "./glob.ts"

/** Why a file cannot be read. Each reason has its own finding (SP0001 to SP0005). */
export type ReadFailure = "missing" | "outside" | "irregular" | "unreadable" | "large"

/** The bytes of a file, or why it cannot be read; `detail` continues the sentence "`path` …". */
export type ReadResult =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "failure"; readonly reason: ReadFailure; readonly detail: string }

/** The files that match a pattern, sorted by path. `problem`: a folder that could not be listed. */
export interface GlobResult {
  readonly paths: readonly string[]
  readonly problem: string | undefined
}

/**
 * A tree of files. Paths are relative to its root, with `/`, normalized and without `..`. The compiler accesses files only through this
 * interface, and only reads them.
 */
export interface Files {
  /** The bytes of a file of at most `bytesMax` bytes. Never throws. */
  read(path: string, bytesMax: number): ReadResult
  /** As `read`, for a file that the runtime reads: its path may be absolute, and links may lead out of the root. Never throws. */
  readAnywhere(path: string, bytesMax: number): ReadResult
  /** The regular files that match a pattern; see `core/glob.ts`. Never throws. */
  glob(pattern: string): GlobResult
}

/** Files in memory: contents as text or bytes, or a failure to return. For tests, and for comparing revisions. */
export class MemoryFiles implements Files {
  readonly #entries: ReadonlyMap<string, string | Uint8Array | { readonly failure: ReadFailure }>

  constructor(entries: Iterable<readonly [string, string | Uint8Array | { readonly failure: ReadFailure }]>) {
    this.#entries = new Map(entries)
  }

  read(path: string, bytesMax: number): ReadResult {
    const entry = this.#entries.get(path)
    if (entry === undefined) return failed("missing")
    if (typeof entry === "object" && "failure" in entry) return failed(entry.failure)
    const bytes = typeof entry === "string" ? new TextEncoder().encode(entry) : entry
    return bytes.length > bytesMax ? failed("large") : { kind: "bytes", bytes }
  }

  readAnywhere(path: string, bytesMax: number): ReadResult {
    return this.read(path, bytesMax)
  }

  /** Paths that match the pattern, sorted. */
  glob(pattern: string): GlobResult {
    const glob = globOf(pattern)
    const matches = (path: string): boolean =>
      globDone(
        glob,
        path.split("/").reduce((places, name) => globStep(glob, places, name), globStart(glob)),
      )
    return { paths: [...this.#entries.keys()].filter(matches).sort(), problem: undefined }
  }
}

const details: Readonly<Record<ReadFailure, string>> = {
  missing: "does not exist",
  outside: "is outside the project",
  irregular: "is not a regular file",
  unreadable: "cannot be read",
  large: "is too large",
}

/** A read that failed; `detail` only where there is more to say than for most failures of the reason. */
export function failed(reason: ReadFailure, detail = details[reason]): ReadResult {
  return { kind: "failure", reason, detail }
}
