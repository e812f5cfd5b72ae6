import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { createServer } from "node:net"
import { addressText } from "../../../runtime/plan/resources.ts"
import { CliError } from "../command.ts"
import type { HostPort } from "../host-port.ts"

/** An address to listen on, and its purpose; `move` says how to choose another one. */
export interface Wanted {
  readonly what: string
  readonly at: HostPort
  readonly move: string
}

/** Tries all addresses and reports every one that is in use, with the process that uses it if the system provides it. @throws CliError */
export async function demandFree(wanted: readonly Wanted[]): Promise<void> {
  const problems = await Promise.all(wanted.map(problemOf))
  const lines = wanted.flatMap(({ what, at, move }, index) => {
    const problem = problems[index]
    return problem === undefined ? [] : [`\n  ${addressText(at)} for ${what} ${problem}; ${move}`]
  })
  if (lines.length === 0) return
  const [one] = lines
  if (lines.length === 1 && one !== undefined) throw new CliError(`cannot listen: ${one.trim()}`, remedy)
  throw new CliError(`cannot listen on ${lines.length} addresses:${lines.join("")}`, remedy)
}

const remedy = "Stop the process that uses the address, or choose another address."

function problemOf({ at }: Wanted): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resolve(sentenceOf(error, at.port)))
    server.listen(at.port, at.host, () => server.close(() => resolve(undefined)))
  })
}

function sentenceOf(error: NodeJS.ErrnoException, port: number): string {
  if (error.code === "EACCES") return "is not allowed for this user (ports below 1024 need extra permissions)"
  if (error.code !== "EADDRINUSE") return `is not available (${error.code})`
  const owner = listenerOf(port)
  return owner === undefined ? "is in use" : `is in use by ${owner}`
}

/** The process that listens on a port. Only known on Linux, for processes of this user. */
export function listenerOf(port: number): string | undefined {
  try {
    const inodes = new Set(
      ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listeningInodes(table, port)),
    )
    if (inodes.size === 0) return undefined
    const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && holds(name, inodes))
    return pid === undefined ? undefined : `process ${pid} (${commandOf(pid)})`
  } catch {
    return undefined
  }
}

/** Columns of the table: see proc(5). State 0A is LISTEN; addresses and ports are hexadecimal. */
function listeningInodes(table: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0")
  return readFileSync(table, "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(`:${wanted}`) && columns[3] === "0A")
    .flatMap((columns) => columns[9] ?? [])
}

/** Whether a process has one of the sockets open. Only Linux tells this, in `/proc`. */
function holds(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`)
      return inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "")
    })
  } catch {
    // A process of another user, or one that has just ended.
    return false
  }
}

function commandOf(pid: string): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8")
    .split("\0")
    .filter((word) => word !== "")
  const text = words.join(" ").replace(/[^\x20-\x7e]/g, "?")
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
