import { visible } from "../../render/width.ts"
import { CliError } from "../command.ts"
import type { Io } from "../io.ts"
import { table } from "../views/table.ts"
import type { EngineApi } from "./engine-api.ts"
import type { ShellContext } from "./shell-command.ts"
import { commandOf } from "./shell-commands.ts"
import type { OutputRow, ShellOutput } from "./shown.ts"
import { findStore, StoreView, storesOf } from "./store-view.ts"
import { wordsOf } from "./words.ts"

/** The outcome of a line. */
export type LineOutcome = "done" | "denied" | "failed" | "exit"

/** One shell: its store, and the format of its output. */
export class ShellSession implements ShellContext {
  readonly api: EngineApi
  /** One JSON object per line for programs; otherwise tables and sentences. */
  readonly json: boolean
  readonly #io: Io
  #store: StoreView | undefined
  #rest: Extract<ShellOutput, { kind: "rows" }> | undefined

  constructor(api: EngineApi, io: Io, json: boolean) {
    this.api = api
    this.json = json
    this.#io = io
  }

  /** Name of the current store; undefined before it is known. */
  get storeName(): string | undefined {
    return this.#store?.store.name
  }

  /** The current store: the one of `use`, else the only store. @throws CliError */
  async store(): Promise<StoreView> {
    if (this.#store !== undefined) return this.#store
    const pages = storesOf(this.api)
    const first = (await pages.next()).value ?? []
    const [only] = first
    if (only === undefined)
      throw new CliError(
        "the engine has no store",
        "Declare one in gateway.conf, or create one through the API.",
      )
    if (first.length > 1)
      throw new CliError(
        "there are several stores",
        "Select one with `use NAME` or --store NAME. `stores` lists them.",
      )
    this.#store = new StoreView(this.api, only)
    return this.#store
  }

  async use(named: string): Promise<StoreView> {
    this.#store = new StoreView(this.api, await findStore(this.api, named))
    return this.#store
  }

  /** Continues the last list after its last shown page. */
  rest(): ShellOutput {
    if (this.#rest === undefined) throw new CliError("there are no more rows")
    return this.#rest
  }

  /** Runs one line and shows the result. An error is printed, and the next line can follow. `number`: the line's number among several. */
  async run(line: string, number?: number): Promise<LineOutcome> {
    // Blank lines and comments, so that a file of questions can be commented.
    if (/^\s*(?:#|$)/.test(line)) return "done"
    try {
      const { words, json } = wordsOf(line)
      const [name = "", ...rest] = words
      const shown = await commandOf(name).run(this, { words: rest, json })
      if (shown === "exit") return "exit"
      await this.#show(shown)
      return shown.kind === "text" && shown.denied === true ? "denied" : "done"
    } catch (error) {
      // Only errors of the user are printed; a bug ends the shell with its stack.
      if (!(error instanceof CliError)) throw error
      const place = number === undefined ? "" : `line ${number}: `
      this.#io.err(`error: ${place}${visible(error.message)}\n`)
      if (error.help !== undefined) this.#io.err(`help: ${visible(error.help)}\n`)
      return "failed"
    }
  }

  /** Control characters of names are made visible: a stored name could otherwise change the terminal. */
  async #show(shown: ShellOutput): Promise<void> {
    if (shown.kind === "text") {
      const lines = shown.text.split("\n").map(visible).join("\n")
      this.#io.out(this.json ? `${JSON.stringify(shown.json)}\n` : lines)
      return
    }
    if (!this.json) return this.#showTable(shown)
    // One object per line, page by page: a list of any length needs no memory.
    for (let page = await shown.pages.next(); page.done !== true; page = await shown.pages.next())
      for (const { json } of page.value) this.#io.out(`${JSON.stringify(json)}\n`)
  }

  /** Shows one page; `more` shows the next. */
  async #showTable(shown: Extract<ShellOutput, { kind: "rows" }>): Promise<void> {
    this.#rest = undefined
    const page = await shown.pages.next()
    const rows: readonly OutputRow[] = page.done === true ? [] : page.value
    if (rows.length === 0) {
      this.#io.out(`${shown.none}\n`)
      return
    }
    this.#io.out(
      table(
        shown.head,
        rows.map(({ cells }) => cells.map(visible)),
      ),
    )
    // Asked before the hint is printed: a full page is often the last one.
    const next = await shown.pages.next()
    if (next.done === true) return
    this.#rest = { ...shown, pages: resumed(next.value, shown.pages) }
    this.#io.out("There are more rows: `more` shows them.\n")
  }
}

/** The page that was read ahead, then the rest. */
async function* resumed(
  first: readonly OutputRow[],
  pages: AsyncIterator<readonly OutputRow[]>,
): AsyncGenerator<readonly OutputRow[]> {
  yield first
  for (let page = await pages.next(); page.done !== true; page = await pages.next()) yield page.value
}
