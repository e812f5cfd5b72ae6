import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WebSocket } from "undici"
import { until } from "./until.ts"

const names = ["chromium", "chromium-browser", "google-chrome"]

/** The browser of this machine; undefined when there is none. */
export function chromiumPath(): string | undefined {
  for (const name of names)
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim()
    } catch {}
  return undefined
}

/** The response to a command. */
interface Reply {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** A real browser with one page, driven by the Chrome DevTools Protocol. */
export class Chromium {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #last = 0

  private constructor(child: ChildProcess, folder: string, socket: WebSocket) {
    this.#child = child
    this.#folder = folder
    this.#socket = socket
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(String(data)) as Reply
      if (message.id === undefined) return
      this.#waiting.get(message.id)?.(message)
      this.#waiting.delete(message.id)
    })
  }

  /** Starts it with an empty profile. */
  static async start(path: string): Promise<Chromium> {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-chromium-"))
    const flags = [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
    ]
    const child = spawn(
      path,
      [...flags, "--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"],
      {
        stdio: "ignore",
        detached: true,
        // What it leaves when it is killed goes with its profile.
        env: { ...process.env, TMPDIR: folder },
      },
    )
    const file = join(folder, "DevToolsActivePort")
    await until(() => existsSync(file) && readFileSync(file, "utf8").includes("\n"), 300_000)
    const port = readFileSync(file, "utf8").split("\n", 1)[0]
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      type: string
      webSocketDebuggerUrl: string
    }[]
    const page = targets.find(({ type }) => type === "page")
    const socket = new WebSocket(page?.webSocketDebuggerUrl ?? "")
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve)
      socket.addEventListener("error", reject)
    })
    return new Chromium(child, folder, socket)
  }

  /** Opens an address. */
  async open(url: string): Promise<void> {
    await this.#send("Page.navigate", { url })
  }

  /** The value of an expression in the page; promises are awaited. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const options = { expression, awaitPromise: true, returnByValue: true }
    const { result } = (await this.#send("Runtime.evaluate", options)) as { result: { value: Value } }
    return result.value
  }

  /** Waits until the page has the text. */
  async shows(text: string): Promise<void> {
    await until(async () => (await this.evaluate<string>("document.body.innerText")).includes(text), 300_000)
  }

  get url(): Promise<string> {
    return this.evaluate("location.href")
  }

  /** A PNG of the page. */
  async screenshot(): Promise<Buffer> {
    const { data } = (await this.#send("Page.captureScreenshot", {})) as { data: string }
    return Buffer.from(data, "base64")
  }

  async close(): Promise<void> {
    this.#socket.close()
    const ended = new Promise((resolve) => this.#child.once("exit", resolve))
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL")
    await ended
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  #send(method: string, params: object): Promise<unknown> {
    this.#last += 1
    const id = this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result)
        else reject(new Error(`${method}: ${error.message}`))
      })
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }
}
