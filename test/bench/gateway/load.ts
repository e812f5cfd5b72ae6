import { execFile, execFileSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { promisify } from "node:util"

/** A request of the load, or several that take turns. */
export interface Load {
  readonly method: "GET" | "POST"
  /** One is sent again and again; of several, one after the other. */
  readonly paths: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** One round. Times in µs; `cpuMicros` is what the server's process used for each request, in user and system mode. */
export interface Round {
  readonly perSecond: number
  readonly cpuMicros: number
  readonly p50: number
  readonly p99: number
  /** Requests without a good answer. */
  readonly failed: number
}

const connections = 32
const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }))

/**
 * CPU time of a process with all its threads, in µs. The scheduler counts nanoseconds, so a round may be short: the ticks of `stat` are 10 ms, a fifth
 * of the cost of a thousand requests.
 */
export function cpuOf(pid: number): number {
  const nanos = scheduledNanos(pid)
  return nanos === undefined ? ticksOf(pid) : nanos / 1000
}

/** Undefined: this kernel does not tell. A thread that has ended no longer counts. */
function scheduledNanos(pid: number): number | undefined {
  try {
    let nanos = 0
    for (const thread of readdirSync(`/proc/${pid}/task`))
      nanos += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0])
    return nanos > 0 ? nanos : undefined
  } catch {
    return undefined
  }
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
}

/** Which program sends the requests: `wrk` takes the least of the machine for itself; autocannon is always there. */
export const generator = ((): "wrk" | "autocannon" => {
  try {
    execFileSync("which", ["wrk"], { stdio: "ignore" })
    return "wrk"
  } catch {
    return "autocannon"
  }
})()

/** Sends for some seconds over 32 connections. `folder` is for the generator's own files. */
export async function sendLoad(
  { port, pid }: { readonly port: number; readonly pid: number },
  load: Load,
  seconds: number,
  folder: string,
): Promise<Round> {
  const before = cpuOf(pid)
  const sent =
    generator === "wrk" ? await byWrk(port, load, seconds, folder) : await byAutocannon(port, load, seconds)
  return {
    perSecond: sent.requests / sent.seconds,
    cpuMicros: (cpuOf(pid) - before) / sent.requests,
    p50: sent.p50,
    p99: sent.p99,
    failed: sent.failed,
  }
}

interface Sent {
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

async function byWrk(port: number, load: Load, seconds: number, folder: string): Promise<Sent> {
  const script = join(folder, "load.lua")
  writeFileSync(script, scriptOf(load))
  const url = `http://127.0.0.1:${port}${load.paths[0]}`
  const { stdout } = await promisify(execFile)("wrk", [
    `-c${connections}`,
    "-t1",
    `-d${seconds}s`,
    "-s",
    script,
    url,
  ])
  return JSON.parse(stdout.split("\n").find((line) => line.startsWith("{")) ?? "") as Sent
}

function scriptOf({ method, paths, headers, body }: Load): string {
  const lines = [`wrk.method = ${JSON.stringify(method)}`]
  for (const [name, value] of Object.entries(headers))
    lines.push(`wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)
  // Lua's long brackets take any text.
  if (body !== undefined) lines.push(`wrk.body = [==[${body}]==]`)
  if (paths.length > 1)
    lines.push(
      "local requests, at = {}, 0",
      `init = function() for at, path in ipairs({${paths.map((path) => JSON.stringify(path)).join(",")}}) do requests[at] = wrk.format(nil, path) end end`,
      "request = function() at = at % #requests + 1; return requests[at] end",
    )
  lines.push(
    `done = function(summary, latency)
      local errors = summary.errors
      io.write(string.format('\\n{"requests":%d,"seconds":%f,"p50":%d,"p99":%d,"failed":%d}\\n', summary.requests, summary.duration / 1e6,
        latency:percentile(50), latency:percentile(99), errors.connect + errors.read + errors.write + errors.status + errors.timeout))
    end`,
  )
  return lines.join("\n")
}

async function byAutocannon(port: number, load: Load, seconds: number): Promise<Sent> {
  const cannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js")
  const options = ["-c", String(connections), "-d", String(seconds), "-j", "-n", "-m", load.method]
  for (const [name, value] of Object.entries(load.headers)) options.push("-H", `${name}=${value}`)
  if (load.body !== undefined) options.push("-b", load.body)
  // It has no list of paths: with several the first stands for all.
  const { stdout } = await promisify(execFile)(process.execPath, [
    cannon,
    ...options,
    `http://127.0.0.1:${port}${load.paths[0]}`,
  ])
  const result = JSON.parse(stdout) as {
    "2xx": number
    non2xx: number
    errors: number
    duration: number
    latency: { p50: number; p99: number }
  }
  return {
    requests: result["2xx"],
    seconds: result.duration,
    p50: result.latency.p50 * 1000,
    p99: result.latency.p99 * 1000,
    failed: result.non2xx + result.errors,
  }
}
