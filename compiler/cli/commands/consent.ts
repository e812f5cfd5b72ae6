import type { ConsentsAnswer, PlanAnswer, PlanConsent } from "../../../runtime/control/api.ts"
import type { ChangeClass } from "../../../runtime/plan/change-rules.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { allowOption, readAllow, readCount, textOf } from "../options.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { baseOf, runningPlan } from "../running.ts"
import { readSealedFile, refuseStale } from "../sealed-file.ts"
import { showChanges } from "../views/changes.ts"

interface ConsentArgs {
  /** A plan file, or the serial to roll back to. */
  readonly to: { readonly file: string } | { readonly serial: number }
  /** Empty: withdraw the consent. */
  readonly allow: readonly ChangeClass[]
  readonly yes: boolean
  readonly reason: string | undefined
}

const consentLine: CommandLine<ConsentArgs> = {
  operands: [["[file]", "the plan file that somebody else shall apply"]],
  options: [
    allowOption,
    ["--withdraw", "withdraw your consent"],
    ["--rollback <serial>", "consent to a rollback to this serial instead of a file"],
    ["--yes", "do not ask for confirmation"],
    ["--message <text>", "a note for the history"],
  ],
  examples: [
    [
      "sallyport consent next.json --allow opens",
      "see the changes, and consent before somebody else applies them",
    ],
    ["sallyport consent next.json --withdraw", "withdraw that"],
  ],
  parse([file], options) {
    const serial = textOf(options, "rollback")
    if ((file === undefined) === (serial === undefined))
      throw new CliError("consent needs a plan file, or --rollback with a serial, and not both")
    const allow = readAllow(options)
    if ((allow.length === 0) !== (options["withdraw"] === true))
      throw new CliError("consent needs --allow or --withdraw, and not both", "For example: --allow opens")
    const to = file === undefined ? { serial: readCount(serial ?? "", "the serial") } : { file }
    return { to, allow, yes: options["yes"] === true, reason: textOf(options, "message") }
  },
}

/** Consents to a plan over the running one. The consent is void when another plan was applied. */
export const consent = command(consentLine, async ({ to, allow, yes, reason }, io) => {
  const sealed = "file" in to ? readSealedFile(io, to.file) : undefined
  const remote = await connect(io)
  const running = await runningPlan(remote)
  if (sealed !== undefined) refuseStale(sealed.seal.base, running)
  const next = sealed?.plan ?? (await planOf(remote, to))
  showChanges(io, running?.plan.plan, next.plan, "text", next.origins)
  io.out(await givenText(remote, next.digest))
  const what =
    allow.length === 0 ? "Withdraw your consent?" : `Consent to what ${allow.join(", ")} in this plan?`
  await confirm(io, what, yes)
  const body = { digest: next.digest, ...baseOf(running?.record), allow, message: reason ?? null }
  const { consent: made } = expectOk<{ consent: PlanConsent }>(
    await remote.request("POST", "/v1/consents", body),
  )
  io.out(
    allow.length === 0
      ? "\nWithdrawn.\n"
      : `\n\`${made.who}\` consents to ${made.allow.join(", ")}, until another plan is applied.\n`,
  )
  return exitCode.ok
})

async function planOf(remote: Remote, to: ConsentArgs["to"]): Promise<Plan> {
  const serial = "serial" in to ? to.serial : 0
  return expectOk<PlanAnswer>(await remote.request("GET", `/v1/plans/${serial}`)).plan
}

/** Who has consented to the plan so far. */
async function givenText(remote: Remote, digest: string): Promise<string> {
  const { consents } = expectOk<ConsentsAnswer>(await remote.request("GET", "/v1/consents"))
  const own = consents.filter((each) => each.digest === digest)
  return own
    .map(({ consent: { who, allow, message } }) => {
      const note = message === null ? "" : `: ${message}`
      return `\`${who}\` has consented to ${allow.join(", ")}${note}\n`
    })
    .join("")
}
