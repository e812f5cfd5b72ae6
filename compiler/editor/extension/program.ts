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

/** A request as a person types it: `GET /v1/orders/{id} --host api.example`. */
export function requestText({ method, path, host }: { method: string; path: string; host?: string }): string {
  return `${method} ${path}${host === undefined ? "" : ` --host ${host}`}`
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
