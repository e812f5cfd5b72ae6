import { resolve } from "node:path"
import type { PlanRecord } from "../../../runtime/control/api.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import type { Compiled } from "../../compile.ts"
import { summaryOf } from "../../render/diagnostics.ts"
import { CliError, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import type { ProjectArgs } from "../options.ts"
import { compileProject, showFindings } from "../project.ts"
import { type Remote, remoteAt } from "../remote.ts"
import { applyOver, runningPlan } from "../running.ts"
import { showChanges } from "../views/changes.ts"
import { developmentValues } from "./development-values.ts"
import type { DevParts } from "./parts.ts"
import { readSampleTuples, sampleTuplesPath } from "./sample-tuples.ts"
import { WatchedFiles } from "./watched-files.ts"

/** Compiles the project after every change, and applies it if it compiles. An error is printed and changes nothing else. */
export class Session {
  readonly #io: Io
  readonly #project: ProjectArgs
  #files: WatchedFiles
  /** Stores whose sample tuples have been checked. */
  readonly #seeded = new Set<string>()

  constructor(io: Io, project: ProjectArgs) {
    this.#io = io
    this.#project = project
    this.#files = new WatchedFiles(resolve(io.cwd, project.folder))
  }

  /** Whether a file that was read, or looked for, has changed. */
  changed(): boolean {
    return this.#files.changed()
  }

  /** Reads and compiles everything, and prints the findings. */
  async compile(): Promise<Compiled> {
    const files = new WatchedFiles(resolve(this.#io.cwd, this.#project.folder))
    const compiled = await compileProject(this.#io, this.#project, files)
    this.#files = files
    showFindings(this.#io, compiled.diagnostics)
    return compiled
  }

  /** Applies a plan and prints the result. Returns its serial, or undefined when this runtime cannot serve it. */
  async apply(parts: DevParts, plan: Plan, first: boolean): Promise<number | undefined> {
    this.#addDevelopmentValues(parts, plan)
    try {
      const serial = await this.#send(remoteAt(parts.controlUrl, parts.token), plan, first)
      await this.#seed(parts, plan)
      return serial
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      this.#io.err(`error: ${error.message}\n`)
      return undefined
    }
  }

  /**
   * Runs on save. Returns the plan that is now served. An internal error is printed with its stack, and the previous plan keeps running:
   * the next save must not end the session.
   */
  async reload(parts: DevParts): Promise<Plan | undefined> {
    try {
      return await this.#reload(parts)
    } catch (error) {
      this.#io.err(`${error instanceof Error ? error.stack : String(error)}\n`)
      this.#io.out("This is an error in Sallyport; the previous plan stays in use.\n")
      return undefined
    }
  }

  /** Compiles after a save. Mistakes leave the running plan in use. */
  async #reload(parts: DevParts): Promise<Plan | undefined> {
    const io = this.#io
    const { plan, diagnostics } = await this.compile()
    io.out(`\n${new Date().toTimeString().slice(0, 8)} `)
    if (plan === undefined) {
      const serial = parts.runtime.serial()
      const old = serial === null ? "no plan is running yet" : `serial ${serial} stays in use`
      io.out(`saved with ${summaryOf(diagnostics)}; ${old}.\n`)
      return undefined
    }
    const serial = await this.apply(parts, plan, false)
    if (serial !== undefined) return plan
    io.out("saved, but not applied; the previous plan stays in use.\n")
    return undefined
  }

  /** Applies through the control API of this process, like `apply`, so that history and checks are the same. */
  async #send(remote: Remote, plan: Plan, first: boolean): Promise<number> {
    const running = await runningPlan(remote)
    if (running?.record.digest === plan.digest) {
      if (!first)
        this.#io.out(`saved; the plan is unchanged, serial ${running.record.serial} stays in use.\n`)
      // Apply it again, in case this process could not serve it at its start.
      return (await applyOver(this.#io, remote, { plan }, running.record)).record.serial
    }
    if (!first || running !== undefined) {
      this.#io.out(first ? "Changed since the last start:\n" : "saved:\n")
      showChanges(this.#io, running?.plan.plan, plan.plan, "text", plan.origins)
    }
    const { record } = await this.#applyLatest(remote, plan, running?.record)
    this.#io.out(first ? "" : `applied as serial ${record.serial}.\n`)
    return record.serial
  }

  /** Another terminal may apply a plan between reading the running plan and applying over it. Here the last save wins. */
  async #applyLatest(remote: Remote, plan: Plan, running: PlanRecord | undefined) {
    try {
      return await applyOver(this.#io, remote, { plan }, running)
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== exitCode.refused) throw error
      return applyOver(this.#io, remote, { plan }, (await runningPlan(remote))?.record)
    }
  }

  #addDevelopmentValues({ env, standIn }: DevParts, { plan }: Plan): void {
    for (const { name, value } of developmentValues(plan, env)) {
      standIn(name, value)
      this.#io.out(`${name} is not set; \`dev\` uses \`${value}\`.\n`)
    }
  }

  /** Writes the sample tuples of each store once for a session: a reload must not bring back what was deleted. */
  async #seed({ runtime }: DevParts, { plan }: Plan): Promise<void> {
    for (const store of Object.keys(plan.authz?.stores ?? {})) {
      if (this.#seeded.has(store)) continue
      const tuples = readSampleTuples(this.#files, store)
      this.#seeded.add(store)
      if (tuples === undefined) continue
      const path = sampleTuplesPath(store)
      if (typeof tuples === "string") {
        this.#io.err(`warning: ${path} ${tuples}; store ${store} gets no sample tuples\n`)
        continue
      }
      const count = await runtime.seed(store, tuples).catch((error: unknown) => {
        this.#io.err(`warning: ${path}: ${(error as Error).message}\n`)
        return 0
      })
      if (count > 0) this.#io.out(`${count} sample tuples of ${path} were written to store ${store}.\n`)
    }
  }
}
