import { stat } from "node:fs/promises"

/** A file that was read; `mark` is its state just before reading, so that no later change is missed. */
export interface SeenFile {
  readonly path: string
  readonly mark: string
}

/**
 * Calls back when one of a set of files changes. It polls instead of using inotify: secrets are mounted by replacing symbolic links in parent
 * folders, which a watch on the file does not see.
 */
export class FileWatch {
  readonly #onChange: () => void
  readonly #everyMs: number
  #marks = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #isLooking = false

  constructor(onChange: () => void, everyMs = 2_000) {
    this.#onChange = onChange
    this.#everyMs = everyMs
  }

  /** Replaces the set of watched files. */
  watch(files: readonly SeenFile[]): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#marks = new Map(files.map(({ path, mark }) => [path, mark]))
    if (files.length > 0) this.#timer = setInterval(() => void this.#look(), this.#everyMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Looks at all files. Polling works on every file system, also on mounted secrets whose links are replaced. */
  async #look(): Promise<void> {
    // On a busy machine a look takes longer than the interval, and two at once would find the same change.
    if (this.#isLooking) return
    this.#isLooking = true
    let changed = false
    const marks = this.#marks
    for (const [file, before] of marks) {
      const now = await markOf(file)
      if (now === before) continue
      marks.set(file, now)
      changed = true
    }
    this.#isLooking = false
    if (changed && marks === this.#marks) this.#onChange()
  }
}

/** The state of a file; equal marks mean equal content (as far as its status shows). */
export async function markOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return "away"
  }
}
