import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Io } from "../io.ts"

/** The addresses that `sallyport dev` leaves for other commands in its folder. */
export interface Trace {
  /** URL of the control listener. */
  readonly control: string
  /** URL of the development identity provider. */
  readonly identity: string
  /** Development values by variable: the stored plan needs them before the text is compiled. */
  readonly standIns: Readonly<Record<string, string>>
}

const traceFile = ".sallyport/dev.json"

/** Writes the addresses. */
export function leaveTrace(io: Io, trace: Trace): void {
  writeFileSync(join(io.cwd, traceFile), `${JSON.stringify(trace)}\n`)
}

/** The addresses of the last `dev` in this folder; undefined if there was none. A damaged file counts as none. */
export function traceOfDev(io: Io): Trace | undefined {
  try {
    const trace = JSON.parse(readFileSync(join(io.cwd, traceFile), "utf8")) as Partial<Trace>
    const { control, identity, standIns } = trace
    if (typeof control !== "string" || typeof identity !== "string") return undefined
    const values = Object.entries(standIns ?? {}).filter(([, value]) => typeof value === "string")
    return { control, identity, standIns: Object.fromEntries(values) }
  } catch {
    return undefined
  }
}
