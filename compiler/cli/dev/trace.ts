import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Io } from "../io.ts"

/** The addresses that `sallyport dev` leaves for other commands in its folder. */
export interface Trace {
  /** URL of the control listener. */
  readonly control: string
  /** URL of the development identity provider. */
  readonly identity: string
  /** Variables with a development value: the stored plan needs them before the text is compiled. */
  readonly standIns: readonly string[]
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
    const { control, identity, standIns = [] } = trace
    if (typeof control !== "string" || typeof identity !== "string" || !Array.isArray(standIns))
      return undefined
    return { control, identity, standIns: standIns.filter((name) => typeof name === "string") }
  } catch {
    return undefined
  }
}
