import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Browser, chromium, errors, type Page } from "playwright-core"
import { chromiumPath } from "./chromium.ts"
import { freePort } from "./free-port.ts"
import { programPath } from "./program.ts"
import { until } from "./until.ts"

const codeServer = process.env["CODE_SERVER_BIN"] || programPath("code-server")
const browserPath = chromiumPath()

/** Why VS Code cannot be run here; undefined when it can. */
export function missingVsCode(): string | undefined {
  if (codeServer === undefined) return "no code-server: `npm install code-server@4.100.3`, or CODE_SERVER_BIN"
  return browserPath === undefined ? "no Chromium" : undefined
}

const settings = {
  "security.workspace.trust.startupPrompt": "never",
  "workbench.startupEditor": "none",
  "editor.accessibilitySupport": "off",
  "telemetry.telemetryLevel": "off",
  "extensions.ignoreRecommendations": true,
  // In a browser it saves by itself: a test could not take back what it typed.
  "files.autoSave": "off",
  "files.refactoring.autoSave": false,
  // Its text is in the page then, not in a picture.
  "terminal.integrated.gpuAcceleration": "off",
}

/** A real VS Code, served by code-server, in a real browser. One window at a time. */
export class VsCode {
  readonly #browser: Browser
  readonly #server: ChildProcess
  readonly #url: string
  #page: Page | undefined

  private constructor(parts: { browser: Browser; server: ChildProcess; url: string }) {
    this.#browser = parts.browser
    this.#server = parts.server
    this.#url = parts.url
  }

  /** Starts it with one extension. `folder`: for its settings and extensions. */
  static async start(folder: string, vsix: string): Promise<VsCode> {
    mkdirSync(join(folder, "User"), { recursive: true })
    writeFileSync(join(folder, "User/settings.json"), JSON.stringify(settings))
    const folders = ["--user-data-dir", folder, "--extensions-dir", join(folder, "extensions")]
    // Its own settings file: otherwise it writes one to the home folder.
    const env = { ...process.env, XDG_CONFIG_HOME: folder }
    execFileSync(codeServer ?? "", [...folders, "--install-extension", vsix], { stdio: "ignore", env })
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const quiet = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"]
    const words = [...folders, ...quiet, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`]
    // A process group of its own: it starts others.
    const server = spawn(codeServer ?? "", words, { stdio: "ignore", detached: true, env })
    await until(async () => (await fetch(url)).ok)
    const browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] })
    return new VsCode({ browser, server, url })
  }

  /** The window; opened by `open`. */
  get page(): Page {
    if (this.#page === undefined) throw new Error("open a folder first")
    return this.#page
  }

  /**
   * Opens a folder or a workspace file in a window that remembers nothing, and closes the one before with what was not saved there. It is
   * restricted until it is trusted.
   */
  async open(path: string): Promise<void> {
    await this.#page?.context().close()
    // A context of its own: what VS Code remembers of windows is in the browser's storage.
    const context = await this.#browser.newContext({ viewport: { width: 1400, height: 900 } })
    this.#page = await context.newPage()
    this.#page.setDefaultTimeout(0)
    const kind = path.endsWith(".code-workspace") ? "workspace" : "folder"
    await this.page.goto(`${this.#url}/?${kind}=${encodeURIComponent(path)}`)
    await this.page.locator(".explorer-folders-view .monaco-list-row").first().waitFor()
  }

  /** Trusts what is opened. */
  async trust(): Promise<void> {
    await this.command("Workspaces: Manage Workspace Trust")
    await this.page.getByRole("button", { name: /^Trust$/ }).click()
    await this.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor({ state: "detached" })
    await this.command("View: Close All Editors")
    await this.page.locator(".tabs-container .tab").first().waitFor({ state: "detached" })
  }

  /** The commands that the palette has for a text. */
  async commands(text: string): Promise<readonly string[]> {
    await this.#pick("F1", `>${text}`)
    const rows = await this.#rows.allInnerTexts()
    await this.page.keyboard.press("Escape")
    return rows.map((row) => row.split("\n")[0] ?? "")
  }

  async command(name: string): Promise<void> {
    await this.#pick("F1", `>${name}`, name)
    await this.page.keyboard.press("Enter")
  }

  /** Opens a file by its name. */
  async file(name: string): Promise<void> {
    // `docs.fga` is not `docs.fga.yaml`, which may be found earlier.
    const whole = new RegExp(`^${name.replaceAll(".", "\\.")}$`)
    await this.#pick("Control+p", name, whole)
    await this.page.keyboard.press("Enter")
    await this.page.locator(".tab.active .label-name", { hasText: whole }).waitFor()
    await this.page.locator(".editor-instance .view-line").first().waitFor()
  }

  /** Puts the cursor to a line and column, from 1. */
  async goto(line: number, column: number): Promise<void> {
    await this.#pick("Control+g", `:${line}:${column}`, `${line}`)
    await this.page.keyboard.press("Enter")
    await this.page.locator(".statusbar-item", { hasText: `Ln ${line}, Col ${column}` }).waitFor()
  }

  /** The visible lines of the editor. Inlay hints are part of them. */
  async lines(): Promise<readonly string[]> {
    const lines = await this.page.locator(".editor-instance .view-line").allInnerTexts()
    return lines.map((line) => line.replaceAll("\u00a0", " "))
  }

  async end(): Promise<void> {
    await this.#browser.close()
    const { pid } = this.#server
    const ended = once(this.#server, "exit")
    if (pid !== undefined) process.kill(-pid)
    await ended
    // Its sockets are here and not in its own folder, because the path of a socket can have 107 characters only.
    for (const name of readdirSync(tmpdir()))
      if (/^vscode-(?:git|ipc)-.*\.sock$/.test(name)) rmSync(join(tmpdir(), name), { force: true })
  }

  get #rows() {
    return this.page.locator(".quick-input-widget .monaco-list-row")
  }

  /**
   * Types into the box that a key opens, until the first proposal has a text. The box is opened again while it has not: what it lists is what
   * was registered when it was opened, and the window may still be starting.
   */
  async #pick(key: string, text: string, first: string | RegExp = ""): Promise<void> {
    for (;;) {
      await this.page.keyboard.press(key)
      await this.page.locator(".quick-input-widget input").first().fill(text)
      try {
        const label = this.#rows.first().locator(".label-name")
        await label.filter({ hasText: first }).first().waitFor({ timeout: 10_000 })
        return
      } catch (error) {
        if (!(error instanceof errors.TimeoutError)) throw error
        await this.page.keyboard.press("Escape")
      }
    }
  }
}
