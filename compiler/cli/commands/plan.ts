import { renameSync, rmSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import type { PlanRecord } from "../../../runtime/control/api.ts"
import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { type PlanSeal, type SealedPlan, sealPlan } from "../../../runtime/plan/seal.ts"
import { authorOf } from "../author.ts"
import { begunMovesText } from "../begun-moves.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { listMade, toRemove } from "../made-at-run-time.ts"
import type { MadeKind } from "../made-kinds.ts"
import {
  configOption,
  jsonOption,
  messageOption,
  type ProjectArgs,
  readFormat,
  readProject,
  readRemove,
  requestsOption,
  textOf,
} from "../options.ts"
import { type PeopleArgs, peopleOfFile, peopleOfRunning, peopleOptions, readPeople } from "../people.ts"
import { readPlanFile } from "../plan-file.ts"
import { compilePlan, demandEntry } from "../project.ts"
import { connect, orWithout, type Remote } from "../remote.ts"
import { historyOf, runningPlan } from "../running.ts"
import { readSigningKey } from "../signing-key.ts"
import { readTraffic, showTraffic, trafficOption } from "../traffic.ts"
import { showChanges } from "../views/changes.ts"
import { madeText, removalText } from "../views/made-at-run-time.ts"
import { showRequests } from "../views/requests.ts"

interface PlanArgs {
  readonly project: ProjectArgs
  /** A plan file, or `empty`; undefined: the running plan. */
  readonly against: string | undefined
  readonly out: string | undefined
  /** File of the private key to sign the seal with. */
  readonly sign: string | undefined
  /** The reason, for the history. */
  readonly reason: string | undefined
  readonly people: PeopleArgs
  readonly format: "text" | "json" | "markdown"
  /** A file for the comparison of requests. */
  readonly requests: string | undefined
  /** What `apply` with the same option would delete. */
  readonly remove: readonly MadeKind[]
  /** The folder of a record of requests. */
  readonly traffic: string | undefined
}

const planLine: CommandLine<PlanArgs> = {
  options: [
    configOption,
    [
      "--against <file>",
      "compare with the plan in this file, or with `empty`: everything is new; no Sallyport needs to run (default: the running plan)",
    ],
    ["--out <file>", "write the plan, sealed, for `apply FILE` and `serve --plan FILE`"],
    [
      "--sign <key>",
      "with --out: sign the seal with the private key in this file (see `signing-key create`)",
    ],
    messageOption,
    requestsOption,
    [
      "--remove <kinds>",
      "list what `apply --remove` would delete: subscriptions, stores, tokens, separated by commas",
      "joined",
    ],
    trafficOption,
    ...peopleOptions,
    ["--format <format>", "text, json or markdown (default: text)"],
    jsonOption,
  ],
  examples: [
    ["sallyport plan", "compare gateway.conf with the running plan"],
    [
      "sallyport plan --out next.json; sallyport apply next.json",
      "review, then apply exactly the reviewed plan",
    ],
    ["sallyport plan --out next.json --sign ci.key", "in CI, where `change` of gateway.conf names the key"],
    ["sallyport plan --against empty --out plan.json", "make a plan file without a running Sallyport"],
    ["sallyport plan --against plan.json", "what changed since that file was written, for a pull request"],
    [
      "sallyport plan --against plan.json --tuples tuples.jsonl --format markdown",
      "also who gains or loses access",
    ],
  ],
  parse(_, options) {
    const [against, out, sign] = ["against", "out", "sign"].map((name) => textOf(options, name))
    if (sign !== undefined && out === undefined)
      throw new CliError("--sign needs a file to write", "Add `--out FILE`.")
    if (sign !== undefined && against !== undefined)
      throw new CliError(
        "--sign and --against exclude each other: a signature is for one place in the history",
        "Remove --against: the plan is then compared with the running one.",
      )
    const reason = textOf(options, "message")
    const format = readFormat(options, ["text", "json", "markdown"])
    const [people, requests] = [readPeople(options), textOf(options, "requests")]
    const remove = readRemove(options)
    if (remove.length > 0 && against !== undefined)
      throw new CliError(
        "--remove and --against exclude each other",
        "Remove --against: only a running Sallyport knows what was made there.",
      )
    const [project, traffic] = [readProject(options), readTraffic(options, format)]
    return { project, against, out, sign, reason, people, format, requests, remove, traffic }
  },
}

/** Exit code 2 means changes, so that a script can tell them from errors. */
export const plan = command(planLine, async (args, io) => {
  const { project, against, out, format, requests, traffic } = args
  const key = args.sign === undefined ? undefined : readSigningKey(io, args.sign)
  const files = demandEntry(io, project)
  const old = await comparedWith(against, io)
  const next = await compilePlan(io, project, files)
  if (format === "text") io.out(`${old.title}\n\n`)
  const ofFile = await peopleOfFile(io, old.plan?.plan, next, args.people)
  const people = ofFile === undefined ? await peopleOfRunning(io, old, next, args.people) : [ofFile]
  showChanges(io, old.plan?.plan, next.plan, format, next.origins, people)
  if (old.remote !== undefined && format === "text") {
    io.out(await begunMovesText(old.remote, old.plan?.plan, next.plan))
    io.out(madeText(await listMade(old.remote, [old.plan?.plan])))
  }
  if (old.remote !== undefined && args.remove.length > 0) {
    const removed = removalText(await toRemove(old.remote, args.remove, [old.plan?.plan, next.plan]))
    if (format === "text") io.out(removed)
    else io.err(removed)
  }
  if (old.plan !== undefined) {
    const { folder } = project
    const plans = { before: { plan: old.plan, folder }, after: { plan: next, folder } }
    await showRequests(io, plans, { isText: format === "text", file: requests })
    if (traffic !== undefined) await showTraffic(io, traffic, plans, format)
  }
  if (out !== undefined) {
    const { base, history } = old
    if (key !== undefined && history === null)
      throw new CliError("the running Sallyport is too old for signed plans", "Update it first.")
    const author = await authorOf(io, args.reason)
    write(io, out, sealPlan({ history, base, author, at: new Date().toISOString() }, next, key))
    if (format === "text") io.out(`\nWritten to ${out}. ${useOf(out, old)}\n`)
  }
  return old.plan?.digest === next.digest ? exitCode.ok : exitCode.changes
})

/** What the text is compared with. */
interface Compared {
  readonly title: string
  /** Undefined: everything is new. */
  readonly plan: Plan | undefined
  readonly base: PlanSeal["base"]
  /** What identifies the history that `base` is in; null: it is in none. */
  readonly history: string | null
  /** Undefined: compared without a running Sallyport. */
  readonly remote?: Remote
  /** Where the written plan can be applied; undefined: over the running plan under any name. */
  readonly where?: string
}

/**
 * What the new plan is compared with. `base` is sealed into a plan file, so that `apply` can refuse it when another plan was applied since.
 */
async function comparedWith(against: string | undefined, io: Io): Promise<Compared> {
  if (against === "empty")
    return {
      title: "Compared with nothing: everything is new.",
      plan: undefined,
      ...{ base: null, history: null },
      where: "no plan was applied yet",
    }
  if (against !== undefined) {
    const { plan: old } = readPlanFile(io, against)
    return {
      title: `Compared with the plan in ${against}.`,
      plan: old,
      ...{ base: { digest: old.digest }, history: null },
      where: `the plan in ${against} is running`,
    }
  }
  const { running, history, remote } = await orWithout(
    "To compare without a running Sallyport, add `--against empty` or `--against FILE`.",
    async () => {
      const remote = await connect(io)
      return { remote, running: await runningPlan(remote), history: await historyOf(remote) }
    },
  )
  if (running === undefined)
    return {
      title: "No plan was applied yet: everything is new.",
      plan: undefined,
      base: null,
      history,
      remote,
    }
  const { serial, who } = running.record
  return {
    title: `Compared with serial ${serial}, applied by ${who}.`,
    plan: running.plan,
    base: baseOfRecord(running.record),
    ...{ history, remote },
  }
}

function baseOfRecord({ serial, stamp, digest }: PlanRecord): NonNullable<PlanSeal["base"]> {
  return { serial, stamp, digest }
}

function useOf(out: string, { where }: Compared): string {
  if (where === undefined) return `\`sallyport apply ${out}\` applies exactly this.`
  return `\`sallyport serve --plan ${out}\` serves it; \`sallyport apply ${out}\` applies it where ${where}.`
}

/**
 * Writes canonical JSON, so that files of equal plans differ only in their seals. Renames the finished file, so that a half-written plan is
 * never applied.
 */
function write(io: Io, out: string, sealed: SealedPlan): void {
  const path = resolve(io.cwd, out)
  const own = `${path}.${process.pid}`
  try {
    writeFileSync(own, `${canonicalJson(sealed)}\n`)
    renameSync(own, path)
  } catch (error) {
    rmSync(own, { force: true })
    throw new CliError(
      `the plan cannot be written to ${out} (${(error as NodeJS.ErrnoException).code})`,
      "Name a file in an existing folder that this user may write to.",
    )
  }
}
