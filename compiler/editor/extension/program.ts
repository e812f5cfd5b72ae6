import { existsSync } from "node:fs"
import { join } from "node:path"

/** The program of a folder: the setting, else the one that the project installed, else the one in PATH. */
export function programOf(setting: string, folder: string): string {
  if (setting !== "") return setting
  const own = join(
    folder,
    "node_modules",
    ".bin",
    process.platform === "win32" ? "sallyport.cmd" : "sallyport",
  )
  return existsSync(own) ? own : "sallyport"
}

/** The first file of the project that a file belongs to: itself if its name says so, else the nearest `gateway.conf` above it. `opened`: relative to `folder`. */
export function firstFileOf(opened: string, folder: string): string {
  if (/(?:^|\/)gateway\.(?:.+\.)?conf$/.test(opened)) return opened
  const parts = opened.split("/").slice(0, -1)
  for (let count = parts.length; count >= 0; count--) {
    const path = [...parts.slice(0, count), "gateway.conf"].join("/")
    if (existsSync(join(folder, path))) return path
  }
  return opened
}

/**
 * The words behind `sallyport explain request`, from what a person typed, for example `GET /orders/1 --as ann`. They are passed without a shell.
 */
export function explainWords(typed: string): string[] {
  const words = [...typed.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  )
  return ["explain", "request", ...words]
}
