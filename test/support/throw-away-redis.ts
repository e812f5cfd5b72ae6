import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
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
  /** Sends several commands over one connection and resolves to the reply of the last. */
  session(...commands: (readonly string[])[]): Promise<string>
  /** Ends it at once and removes its folder. */
  stop(): Promise<void>
}

/** The server lives no longer than this process: a shell between the two waits on a pipe that closes when we end. */
const keeper = `"$@" >/dev/null 2>&1 & pid=$!; echo $pid; cat >/dev/null; kill -KILL $pid 2>/dev/null; wait $pid`

/**
 * Starts one. `port` brings a stopped server's address back. `options`: flags of `redis-server`, such as `--requirepass`; a first one without dashes is a
 * configuration file that replaces the usual flags.
 */
export async function startThrowAwayRedis(
  options: readonly string[] = [],
  port?: number,
): Promise<ThrowAwayRedis> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-redis-"))
  const at = port ?? (await freePort())
  const place = ["--port", String(at), "--bind", "127.0.0.1", "--dir", folder]
  const [file = ""] = options
  const flags = /^[^-]/.test(file)
    ? [...options, ...place]
    : [...place, "--save", "", "--appendonly", "no", ...options]
  const child = spawn("sh", ["-c", keeper, "sh", "redis-server", ...flags], {
    stdio: ["pipe", "pipe", "ignore"],
  })
  const [line] = (await once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data")) as [Buffer]
  await untilIt(() => send(at, [["PING"]]).then(Boolean))
  return {
    port: at,
    url: `redis://127.0.0.1:${at}`,
    pid: Number(line.toString()),
    command: (...words) => send(at, [words]),
    session: (...commands) => send(at, commands),
    stop: async () => {
      child.stdin?.end()
      if (child.exitCode === null) await once(child, "exit")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A cluster of servers on 127.0.0.1. */
export interface ThrowAwayCluster {
  readonly nodes: readonly ThrowAwayRedis[]
  /** `host:port` of all nodes. */
  readonly hosts: string
  stop(): Promise<void>
}

/** Starts a cluster whose nodes share the slots. `flagsOf`: more flags, called for each node in turn. */
export async function startThrowAwayCluster(
  size = 3,
  flagsOf: () => readonly string[] = () => [],
): Promise<ThrowAwayCluster> {
  const nodes = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const more = flagsOf()
      const bus = await freePort()
      const flags = ["--cluster-enabled", "yes", "--cluster-port", String(bus)]
      const node = await startThrowAwayRedis([...flags, "--cluster-node-timeout", "15000", ...more])
      const [from, to] = [index, index + 1].map((each) => Math.floor((16_384 / size) * each)) as [
        number,
        number,
      ]
      await node.command("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1))
      await node.command("CLUSTER", "ADDSLOTSRANGE", String(from), String(to - 1))
      return { node, bus }
    }),
  )
  const first = nodes[0] as (typeof nodes)[number]
  for (const { node, bus } of nodes.slice(1))
    await first.node.command("CLUSTER", "MEET", "127.0.0.1", String(node.port), String(bus))
  for (const { node } of nodes)
    await untilIt(async () => {
      const info = await node.command("CLUSTER", "INFO")
      return info.includes("cluster_state:ok") && info.includes(`cluster_size:${size}`)
    })
  return {
    nodes: nodes.map(({ node }) => node),
    hosts: nodes.map(({ node }) => `127.0.0.1:${node.port}`).join(","),
    stop: async () => void (await Promise.all(nodes.map(({ node }) => node.stop()))),
  }
}

/** A primary, its replica, and the Sentinel that knows both as the group `main`. */
export interface ThrowAwaySentinel {
  readonly primary: ThrowAwayRedis
  readonly replica: ThrowAwayRedis
  readonly sentinel: ThrowAwayRedis
  stop(): Promise<void>
}

/** Starts them. `password`: of all three. The Sentinel begins a failover half a second after the primary has ended. */
export async function startThrowAwaySentinel(password?: string): Promise<ThrowAwaySentinel> {
  const secrets = password === undefined ? [] : ["--requirepass", password, "--masterauth", password]
  const primary = await startThrowAwayRedis(secrets)
  const replica = await startThrowAwayRedis([...secrets, "--replicaof", `127.0.0.1 ${primary.port}`])
  const folder = mkdtempSync(join(tmpdir(), "sallyport-sentinel-"))
  const file = join(folder, "sentinel.conf")
  writeFileSync(
    file,
    [
      `sentinel monitor main 127.0.0.1 ${primary.port} 1`,
      ...["sentinel down-after-milliseconds main 500", "sentinel failover-timeout main 2000"],
      ...(password === undefined ? [] : [`sentinel auth-pass main ${password}`, `requirepass ${password}`]),
    ].join("\n"),
  )
  const sentinel = await startThrowAwayRedis([file, "--sentinel"])
  const knows = async () => {
    const found = await sentinel.session(...(password === undefined ? [] : [["AUTH", password]]), [
      "SENTINEL",
      "REPLICAS",
      "main",
    ])
    return found.includes(String(replica.port)) && found.includes("master-link-status\r\n$2\r\nok")
  }
  await untilIt(knows)
  return {
    ...{ primary, replica, sentinel },
    stop: async () => {
      await Promise.all([primary, replica, sentinel].map((each) => each.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when the check is true; a rejected one counts as false until it has failed too often. */
async function untilIt(holds: () => Promise<boolean>): Promise<void> {
  for (let look = 0; ; look += 1) {
    try {
      if (await holds()) return
      if (look > 800) throw new Error("the servers did not become ready")
    } catch (error) {
      if (look > 400) throw error
    }
    await sleep(25)
  }
}

/** Resolves to what comes after the reply of the last command has begun, with its type (RESP2), whatever it is. The earlier replies are one line each. */
function send(port: number, commands: readonly (readonly string[])[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ""
    const socket = createConnection({ port, host: "127.0.0.1" }, () =>
      socket.write(commands.map(encode).join("")),
    )
    socket.on("data", (data) => {
      received += data.toString("latin1")
      const [last = "", ...rest] = received.split("\r\n").slice(commands.length - 1)
      if (last === "" || rest.length === 0) return
      socket.destroy()
      resolve([last, ...rest].join("\r\n"))
    })
    socket.once("error", reject)
    socket.once("close", () => reject(new Error("the server closed the connection")))
  })
}

function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`
}
