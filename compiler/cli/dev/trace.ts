import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Io } from "../io.ts"

/** What `sallyport dev` leaves for the other commands of its folder: where its parts are. */
export interface Trace {
  /** URL of the control listener. */
  readonly control: string
  /** URL of the development identity provider. */
  readonly identity: string
}

const traceFile = ".sallyport/dev.json"

/** Leaves the addresses. */
export function leaveTrace(io: Io, trace: Trace): void {
  writeFileSync(join(io.cwd, traceFile), `${JSON.stringify(trace)}\n`)
}

/** The addresses of the last `dev` in this folder; undefined where there was none. A damaged file is as good as none. */
export function traceOfDev(io: Io): Trace | undefined {
  try {
    const { control, identity } = JSON.parse(readFileSync(join(io.cwd, traceFile), "utf8")) as Partial<Trace>
    return typeof control === "string" && typeof identity === "string" ? { control, identity } : undefined
  } catch {
    return undefined
  }
}
