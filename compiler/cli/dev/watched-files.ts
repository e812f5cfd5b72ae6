import { statSync } from "node:fs"
import { join } from "node:path"
import { DiskFiles, type Files, type GlobResult, type ReadResult } from "../../core/files.ts"

/**
 * Files on disk that remember what was asked of them, so that it can be told whether an answer would be another one now.
 * That covers files that are missing yet, and patterns a new file would match.
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
    // Before reading: a change in between is then seen once too often, not once too seldom.
    this.#stamps.set(path, this.#stampOf(path))
    return this.#files.read(path, bytesMax)
  }

  glob(pattern: string): GlobResult {
    const result = this.#files.glob(pattern)
    this.#matches.set(pattern, result.paths.join("\n"))
    return result
  }

  /** Whether anything that was asked for has another answer now. */
  changed(): boolean {
    for (const [path, stamp] of this.#stamps) if (this.#stampOf(path) !== stamp) return true
    for (const [pattern, paths] of this.#matches)
      if (this.#files.glob(pattern).paths.join("\n") !== paths) return true
    return false
  }

  /** The inode too: editors that replace a file may keep its size and its time. */
  #stampOf(path: string): string {
    try {
      const { mtimeMs, size, ino } = statSync(join(this.#root, path))
      return `${mtimeMs} ${size} ${ino}`
    } catch {
      return ""
    }
  }
}
