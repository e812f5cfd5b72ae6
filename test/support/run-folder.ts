import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { isAlive } from "./is-alive.ts"

/** Short, because PostgreSQL's socket is in it: macOS allows 103 bytes for the path of a socket. */
const name = /^spt-(\d+)$/

/** Made by npm and other tools for all later runs. */
const ofTools = ["node-compile-cache"]

/**
 * Makes one temporary folder for the whole run: for this process, and for the processes it starts. Also removes the folders of runs that were
 * killed. Opened again by the same process, as in watch mode, it stays.
 */
export function openRunFolder(): void {
  const parent = process.env["SALLYPORT_TEST_TMPDIR"] ?? tmpdir()
  process.env["SALLYPORT_TEST_TMPDIR"] = parent
  const folder = join(parent, `spt-${process.pid}`)
  if (process.env["TMPDIR"] === folder) return
  for (const each of readdirSync(parent)) {
    const pid = Number(name.exec(each)?.[1])
    if (pid === process.pid || (pid > 0 && !isAlive(pid))) remove(join(parent, each))
  }
  mkdirSync(folder)
  // PostgreSQL's own user has to reach the folder of its data.
  chmodSync(folder, 0o711)
  process.env["TMPDIR"] = folder
  process.once("exit", removeRunFolder)
}

/** When the process ends: `before`, which may ask for `leftBehind`, and then the folder is removed. */
export function beforeRemoval(before: () => void): void {
  process.off("exit", removeRunFolder)
  process.once("exit", before)
  process.once("exit", removeRunFolder)
}

function removeRunFolder(): void {
  if (name.test(basename(tmpdir()))) remove(tmpdir())
}

/** What tests have left in the temporary folder of this run. */
export function leftBehind(): string[] {
  return readdirSync(tmpdir()).filter((each) => !ofTools.includes(each))
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A folder of another user, or one to which a process still writes: the next run tries again.
  }
}
