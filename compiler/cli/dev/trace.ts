import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Io } from "../io.ts"

/** What `sallyport dev` leaves for the other commands of its folder: where its parts are. */
export interface Trace {
  /** URL of the control listener. */
  readonly control: string
  /** URL of the development identity provider. */
  readonly identity: string
  /** Variables that got a value for development: the plan that is stored needs them before any text is compiled. */
  readonly standIns: readonly string[]
}

const traceFile = ".sallyport/dev.json"

/** Leaves the addresses. */
export function leaveTrace(io: Io, trace: Trace): void {
  writeFileSync(join(io.cwd, traceFile), `${JSON.stringify(trace)}\n`)
}

/** The addresses of the last `dev` in this folder; undefined where there was none. A damaged file is as good as none. */
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
