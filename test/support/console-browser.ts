import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { reviewPlans } from "../../compiler/cli/review-plans.ts"
import type { Runtime, RuntimeSettings } from "../../runtime/process/settings.ts"
import { createMigratedDatabase } from "../postgres.ts"
import { control, freePorts, type Ports, start } from "../process/project.ts"
import { watchedPage } from "./browser-page.ts"
import { chromiumPath } from "./chromium.ts"
import { postgresMissing } from "./postgres-binaries.ts"

const executablePath = chromiumPath()

/** Why tests of the console in a browser cannot run here; undefined: they can. */
export const consoleBrowserMissing =
  executablePath === undefined ? "Chromium is not installed" : postgresMissing

/** A running process with a database, without a plan, and a page of a browser at its control listener. */
export interface ConsoleBrowser {
  readonly browser: Browser
  readonly context: BrowserContext
  readonly page: Page
  readonly ports: Ports
  runtime: Runtime
  readonly databaseUrl: string
  /** Of the control listener. */
  readonly origin: string
  /** What the pages reported: errors, violations of the policy, requests to other servers. */
  readonly faults: string[]
  /** A new address that signs in once as the holder of the control token. */
  link(): Promise<string>
  /** Starts the process again; close it before. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Starts all of it. Close it when the tests are over. `settings`: what else the process shall have. */
export async function openConsole(settings: Partial<RuntimeSettings> = {}): Promise<ConsoleBrowser> {
  const database = await createMigratedDatabase()
  const ports = await freePorts()
  const run = () => start(database.url, ports, { reviewPlans, ...settings })
  const runtime = await run()
  const browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] })
  const context = await browser.newContext()
  const origin = `http://127.0.0.1:${ports.control}`
  const faults: string[] = []
  const opened: ConsoleBrowser = {
    ...{ browser, context, ports, runtime, origin, faults },
    databaseUrl: database.url,
    page: await watchedPage(context, faults, origin),
    link: async () => origin + String((await control(ports, "POST", "/v1/console-links", {})).body["path"]),
    restart: async () => {
      opened.runtime = await run()
    },
    close: async () => {
      await browser.close()
      await opened.runtime.close()
      await database.drop()
    },
  }
  return opened
}
