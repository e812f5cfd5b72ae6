import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Io } from "../io.ts"

/** The file: $XDG_STATE_HOME/sallyport/shell-history (default: ~/.local/state); undefined without a home folder. */
function pathOf({ env }: Io): string | undefined {
  const state = env["XDG_STATE_HOME"] || (env["HOME"] ? join(env["HOME"], ".local/state") : undefined)
  return state === undefined ? undefined : join(state, "sallyport/shell-history")
}

/** Lines of earlier shells, newest first; empty if they cannot be read. */
export function readHistory(io: Io): readonly string[] {
  const path = pathOf(io)
  try {
    return path === undefined ? [] : readFileSync(path, "utf8").split("\n").filter(Boolean).reverse()
  } catch {
    return []
  }
}

/** Stores lines, newest first, for later shells, readable by their owner only. A write error is ignored. */
export function keepHistory(io: Io, lines: readonly string[]): void {
  const path = pathOf(io)
  if (path === undefined) return
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.new`, `${[...lines].reverse().join("\n")}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch {
    // Said above.
  }
}
