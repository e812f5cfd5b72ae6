import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "./free-port.ts"

/** A Redis server of its own folder on 127.0.0.1, without persistence. */
export interface ThrowAwayRedis {
  readonly port: number
  readonly url: string
  /** Process id of the server. */
  readonly pid: number
  /** Sends one command and resolves to its reply as text. */
  command(...words: string[]): Promise<string>
  /** Ends it at once and removes its folder. */
  stop(): Promise<void>
}

/** The server lives no longer than this process: a shell between the two waits on a pipe that closes when we end. */
const keeper = `"$@" >/dev/null 2>&1 & pid=$!; echo $pid; cat >/dev/null; kill -KILL $pid 2>/dev/null; wait $pid`

/** Starts one. `port` brings a stopped server's address back. `options`: flags of `redis-server`, such as `--requirepass`. */
export async function startThrowAwayRedis(
  options: readonly string[] = [],
  port?: number,
): Promise<ThrowAwayRedis> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-redis-"))
  const at = port ?? (await freePort())
  const flags = [
    "--port",
    String(at),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
  ]
  const child = spawn("sh", ["-c", keeper, "sh", "redis-server", ...flags, ...options], {
    stdio: ["pipe", "pipe", "ignore"],
  })
  const [line] = (await once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data")) as [Buffer]
  for (let look = 0; ; look += 1) {
    try {
      await send(at, ["PING"])
      break
    } catch (error) {
      if (look > 200) throw error
      await sleep(25)
    }
  }
  return {
    port: at,
    url: `redis://127.0.0.1:${at}`,
    pid: Number(line.toString()),
    command: (...words) => send(at, words),
    stop: async () => {
      child.stdin?.end()
      if (child.exitCode === null) await once(child, "exit")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves to the first reply, with its type (RESP2), whatever it is. */
function send(port: number, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: "127.0.0.1" }, () =>
      socket.write(
        `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`,
      ),
    )
    socket.once("data", (data) => {
      socket.destroy()
      resolve(data.toString("latin1"))
    })
    socket.once("error", reject)
    socket.once("close", () => reject(new Error("the server closed the connection")))
  })
}
