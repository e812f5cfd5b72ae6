import { type ChildProcess, spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import type { Socket } from "node:net"
import { availableParallelism } from "node:os"

/** Where Linux says how much CPU time a container may use: `200000 100000` is two cores, `max 100000` no limit (cgroup v2). */
const quotaFile = "/sys/fs/cgroup/cpu.max"

/** Number of cores that this process may use, also in a container with a limit of CPU time. */
export async function coresForUs(file = quotaFile): Promise<number> {
  const cores = availableParallelism()
  const [, quota, period] = /^(\d+) (\d+)$/m.exec(await readFile(file, "utf8").catch(() => "")) ?? []
  if (quota === undefined || period === undefined) return cores
  return Math.max(1, Math.min(cores, Math.ceil(Number(quota) / Number(period))))
}

/** Sends each line that it reads to systemd. `systemd-notify` waits until systemd has read the message, so that none is lost. */
const relay = 'while IFS= read -r message; do systemd-notify "$message"; done'

/**
 * Messages to systemd (sd_notify(3)): when the process serves, that it is alive, and that it ends. Node cannot send datagrams to a Unix
 * socket, so systemd's own program does; `NotifyAccess=all` admits it. A shell that was started while this process was small starts that
 * program: a process with 500 MB needs 30 ms of CPU to start another one, which would hold up requests at each sign of life.
 */
export class Supervisor {
  readonly #relay: ChildProcess | undefined
  readonly #ended: Promise<unknown> = Promise.resolve()
  readonly #watchdogMs: number | undefined
  readonly #timers: NodeJS.Timeout[] = []
  #status: string | undefined
  #isStopping = false

  /** Without `NOTIFY_SOCKET` in `env` every method does nothing. `onFailure` gets the reason of the first message that could not be sent. */
  constructor(
    env: Readonly<Record<string, string | undefined>>,
    pid: number,
    onFailure: (reason: string) => void,
  ) {
    if (!env["NOTIFY_SOCKET"]) return
    const child = spawn("sh", ["-c", relay], {
      env: { ...process.env, ...env },
      stdio: ["pipe", "ignore", "pipe"],
    })
    let hasFailed = false
    const fail = (reason: string) => {
      if (!hasFailed) onFailure(reason)
      hasFailed = true
    }
    child.once("error", ({ message }) => fail(message))
    child.stdin.on("error", ({ message }) => fail(message))
    child.stderr.on("data", (text) => fail(reasonOf(String(text))))
    this.#ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve))
    // The relay must not keep a process alive whose start failed. It ends with its input.
    child.unref()
    for (const stream of [child.stdin, child.stderr]) (stream as unknown as Socket).unref()
    this.#relay = child
    const { WATCHDOG_USEC: micros, WATCHDOG_PID: watched = String(pid) } = env
    if (micros !== undefined && /^[1-9]\d*$/.test(micros) && watched === String(pid))
      this.#watchdogMs = Number(micros) / 1_000
  }

  /**
   * The process serves. `systemctl status` shows the text of `status`, which is asked now and again every `statusMs` ms. From now on, a process
   * whose event loop hangs misses its signs of life.
   */
  async ready(status: () => Promise<string>, statusMs = 10_000): Promise<void> {
    if (this.#relay === undefined) return
    await this.#sendStatus(status)
    this.#send("READY=1")
    this.#timers.push(setInterval(() => void this.#sendStatus(status), statusMs).unref())
    if (this.#watchdogMs === undefined) return
    // Twice in each period, as sd_watchdog_enabled(3) advises.
    this.#timers.push(setInterval(() => this.#send("WATCHDOG=1"), this.#watchdogMs / 2).unref())
  }

  /** The process ends. Signs of life go on until `close`, because requests may need some seconds. */
  stopping(): void {
    this.#isStopping = true
    this.#send("STATUS=completing requests")
    this.#send("STOPPING=1")
  }

  /** Resolves when all messages are sent. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#relay?.ref()
    this.#relay?.stdin?.end()
    await this.#ended
  }

  async #sendStatus(ask: () => Promise<string>): Promise<void> {
    const status = await ask()
    if (status === this.#status || this.#isStopping) return
    this.#status = status
    this.#send(`STATUS=${status}`)
  }

  #send(message: string): void {
    this.#relay?.stdin?.write(`${message.replaceAll("\n", " ")}\n`)
  }
}

function reasonOf(output: string): string {
  return /not found/.test(output) ? "the program systemd-notify is not installed" : output.trim()
}
