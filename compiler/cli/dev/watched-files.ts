import { statSync } from "node:fs"
import { join } from "node:path"
import { DiskFiles } from "../../core/disk-files.ts"
import type { Files, GlobResult, ReadResult } from "../../core/files.ts"

/**
 * Files on disk that record every read and pattern, so that changes of the results can be detected. This includes missing files, and
 * patterns that a new file would match.
 */
export class WatchedFiles implements Files {
  readonly #root: string
  readonly #files: Files
  readonly #stamps = new Map<string, string>()
  readonly #matches = new Map<string, string>()

  constructor(root: string) {
    this.#root = root
    this.#files = new DiskFiles(root)
  }

  read(path: string, bytesMax: number): ReadResult {
    // Taken before reading: a change in between is then reported once too often rather than missed.
    this.#stamps.set(path, this.#stampOf(path))
    return this.#files.read(path, bytesMax)
  }

  /** Without a record: the running process watches these files itself. */
  readAnywhere(path: string, bytesMax: number): ReadResult {
    return this.#files.readAnywhere(path, bytesMax)
  }

  glob(pattern: string): GlobResult {
    const result = this.#files.glob(pattern)
    this.#matches.set(pattern, result.paths.join("\n"))
    return result
  }

  /** Whether the result of any read or pattern has changed. */
  changed(): boolean {
    for (const [path, stamp] of this.#stamps) if (this.#stampOf(path) !== stamp) return true
    for (const [pattern, paths] of this.#matches)
      if (this.#files.glob(pattern).paths.join("\n") !== paths) return true
    return false
  }

  /** Includes the inode: editors that replace a file may keep its size and time. */
  #stampOf(path: string): string {
    try {
      const { mtimeMs, size, ino } = statSync(join(this.#root, path))
      return `${mtimeMs} ${size} ${ino}`
    } catch {
      return ""
    }
  }
}
