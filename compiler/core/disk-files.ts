import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs"
import { join, resolve, sep } from "node:path"
import { type Files, failed, type GlobResult, type ReadResult } from "./files.ts"
import { type Glob, globDone, globOf, globStart, globStep } from "./glob.ts"

// Prevents a pattern such as `**` in the wrong folder from walking a whole disk.
const globEntriesMax = 100_000

/**
 * Files of a folder on disk. Symbolic links are followed if they stay inside the folder; only regular files are read. A file that is
 * replaced between check and read can bypass the first rule, but not the second.
 */
export class DiskFiles implements Files {
  readonly #root: string

  /** `root` is the project's folder. If it is missing, every read reports that. */
  constructor(root: string) {
    this.#root = root
  }

  /** Reads a file inside of the root, after links are followed. Pipes and devices are refused, because reading them may never end. */
  read(path: string, bytesMax: number): ReadResult {
    try {
      const root = realpathSync(this.#root)
      const real = realpathSync(join(root, path))
      if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) return failed("outside")
      return readRegular(real, bytesMax)
    } catch (error) {
      return failureOf(error)
    }
  }

  readAnywhere(path: string, bytesMax: number): ReadResult {
    return readRegular(resolve(this.#root, path), bytesMax)
  }

  glob(pattern: string): GlobResult {
    const glob = globOf(pattern)
    const walk: Walk = { glob, paths: [], problem: undefined, left: globEntriesMax }
    this.#walk("", globStart(glob), walk)
    return { paths: walk.paths.sort(), problem: walk.problem }
  }

  /** Visits folders that can still match the pattern. */
  #walk(folder: string, places: ReadonlySet<number>, walk: Walk): void {
    let entries: Dirent[]
    try {
      entries = readdirSync(join(this.#root, folder), { withFileTypes: true })
    } catch (error) {
      if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR")
        walk.problem ??= `the folder \`${folder === "" ? "." : folder}\` ${reasonOf(error)}`
      return
    }
    for (const entry of entries) {
      if (walk.left-- <= 0) {
        walk.problem ??= `the pattern would visit more than ${globEntriesMax} files and folders`
        return
      }
      const next = globStep(walk.glob, places, entry.name)
      if (next.size === 0) continue
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      const kind = this.#kindOf(entry, path)
      if (kind === "file" && globDone(walk.glob, next)) walk.paths.push(path)
      // Links to folders are not followed: they could form cycles.
      if (kind === "folder") this.#walk(path, next, walk)
    }
  }

  /** The kind of an entry; a link counts as its target. */
  #kindOf(entry: Dirent, path: string): "file" | "folder" | "other" {
    if (entry.isFile()) return "file"
    if (entry.isDirectory()) return "folder"
    if (!entry.isSymbolicLink()) return "other"
    try {
      return statSync(join(this.#root, path)).isFile() ? "file" : "other"
    } catch {
      // Treat a broken link as a file, so that reading it reports the problem.
      return "file"
    }
  }
}

interface Walk {
  readonly glob: Glob
  readonly paths: string[]
  problem: string | undefined
  left: number
}

function readRegular(path: string, bytesMax: number): ReadResult {
  let descriptor: number | undefined
  try {
    // Without O_NONBLOCK, opening a pipe waits for its writer.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0))
    if (!fstatSync(descriptor).isFile()) return failed("irregular")
    return readAll(descriptor, bytesMax)
  } catch (error) {
    return failureOf(error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Reads to the end instead of the size from the file's status, because the file may grow meanwhile. */
function readAll(descriptor: number, bytesMax: number): ReadResult {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024)
    const read = readSync(descriptor, chunk, 0, chunk.length, null)
    if (read === 0) return { kind: "bytes", bytes: Buffer.concat(chunks, length) }
    length += read
    if (length > bytesMax) return failed("large")
    chunks.push(chunk.subarray(0, read))
  }
}

function failureOf(error: unknown): ReadResult {
  const code = codeOf(error)
  if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG" || code === "ERR_INVALID_ARG_VALUE")
    return failed("missing")
  if (code === "EISDIR" || code === "ENXIO" || code === "ENODEV") return failed("irregular")
  return failed("unreadable", reasonOf(error))
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === "EACCES" || code === "EPERM") return "cannot be read: permission denied"
  if (code === "ELOOP") return "cannot be read: its symbolic links form a cycle"
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}
