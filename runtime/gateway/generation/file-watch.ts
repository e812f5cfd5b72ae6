import { stat } from "node:fs/promises"

/** A file that was read: `mark` tells its state just before, so that no change since then is missed. */
export interface SeenFile {
  readonly path: string
  readonly mark: string
}

/**
 * Calls back when one of a set of files has changed. By looking, not by inotify: secrets are mounted by swapping symbolic links several
 * folders up, which no watch on the file sees.
 */
export class FileWatch {
  readonly #onChange: () => void
  readonly #everyMs: number
  #marks = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined

  constructor(onChange: () => void, everyMs = 2_000) {
    this.#onChange = onChange
    this.#everyMs = everyMs
  }

  /** Watches these files from now on, and no others. */
  watch(files: readonly SeenFile[]): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#marks = new Map(files.map(({ path, mark }) => [path, mark]))
    if (files.length > 0) this.#timer = setInterval(() => void this.#look(), this.#everyMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    let changed = false
    const marks = this.#marks
    for (const [file, before] of marks) {
      const now = await markOf(file)
      if (now === before) continue
      marks.set(file, now)
      changed = true
    }
    if (changed && marks === this.#marks) this.#onChange()
  }
}

/** The state of a file; equal marks, equal content (as far as its status tells). */
export async function markOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return "away"
  }
}
