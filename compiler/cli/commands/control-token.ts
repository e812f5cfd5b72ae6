import type { CreatedToken, MachineToken, WhoamiAnswer } from "../../../runtime/control/api.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readDuration, readFormat, textOf } from "../options.ts"
import { jsonDocument, print } from "../print.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { table } from "../views/table.ts"

type Format = "text" | "json"

const roles = ["viewer", "operator", "publisher", "admin"] as const satisfies readonly MachineToken["role"][]

interface ControlTokenCreateArgs {
  readonly name: string
  /** Undefined: the least one that `may` needs. */
  readonly role: MachineToken["role"] | undefined
  /** Operations of the control API, and groups of them; undefined: all of the role. */
  readonly may: readonly string[] | undefined
  /** Milliseconds. */
  readonly lifetimeMs: number
  readonly format: Format
}

interface ControlTokenArgs {
  readonly format: Format
}

const createLine: CommandLine<ControlTokenCreateArgs> = {
  operands: [["<name>", "name of the token, for lists and the history"]],
  options: [
    ["--role <role>", "viewer, operator, publisher or admin (default: the least one for --may)"],
    ["--may <operations>", "only these operations or groups of them, e.g. plan.read,plan.apply"],
    ["--expires <age>", "how long it is valid, e.g. 12h, 90d (default: 90d)"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport control-token create ci --role publisher", "make a token for CI, and print it once"],
    [
      "sallyport control-token create deploy --may plan.read,plan.apply,status --expires 30d",
      "a token that can only run `plan` and `apply`",
    ],
  ],
  parse([name = ""], options) {
    const given = textOf(options, "role")
    const role = roles.find((each) => each === given)
    const may = textOf(options, "may")
      ?.split(/[\s,]+/)
      .filter((word) => word !== "")
    if (given !== undefined && role === undefined)
      throw new CliError(`--role has the unknown value ${given}`, `Use one of ${roles.join(", ")}.`)
    if (may?.length === 0)
      throw new CliError("--may names no operation", "For example: --may plan.read,plan.apply")
    if (role === undefined && may === undefined)
      throw new CliError(
        "a control token needs a role or a scope",
        `Give \`--role\` (${roles.join(", ")}), \`--may\` with operations, or both.`,
      )
    return {
      ...{ name, role, may },
      lifetimeMs: readDuration(textOf(options, "expires") ?? "90d", "--expires"),
      format: readFormat(options, ["text", "json"]),
    }
  },
}

/** The token is printed once: only its digest is stored. */
export const controlTokenCreate = command(createLine, async ({ name, role, may, lifetimeMs, format }, io) => {
  const remote = await connect(io)
  const expiresAt = new Date(Date.now() + lifetimeMs).toISOString()
  const answer = await remote.request("POST", "/v1/tokens", { name, role, may, expiresAt })
  const made = expectOk<CreatedToken>(answer)
  if (format === "json") io.out(jsonDocument(made))
  else {
    io.out(`${made.secret}\n`)
    io.err(
      `Save the token now: it is stored as a digest and cannot be shown again. It ends on ${made.token.expiresAt}.\n`,
    )
  }
  return exitCode.ok
})

const listLine: CommandLine<ControlTokenArgs> = {
  options: formatOptions,
  examples: [["sallyport control-token list", "see the tokens, their roles and their last use"]],
  parse: (_, options) => ({ format: readFormat(options, ["text", "json"]) }),
}

export const controlTokenList = command(listLine, async ({ format }, io) => {
  const remote = await connect(io)
  const answer = expectOk<{ tokens: MachineToken[] }>(await remote.request("GET", "/v1/tokens"))
  print(io, format, answer, ({ tokens }) => tokensText(tokens))
  return exitCode.ok
})

function tokensText(tokens: readonly MachineToken[]): string {
  return table(
    ["name", "role", "may", "token", "made by", "expires", "last use"],
    tokens.map((each) => [
      ...[each.name, each.role, each.may?.join(",") ?? "all of its role", `${each.prefix}…`],
      ...[each.createdBy, each.expiresAt, each.lastUsedAt ?? "never"],
    ]),
  )
}

const revokeLine: CommandLine<ControlTokenArgs & { readonly name: string }> = {
  operands: [["<name>", "name of the token"]],
  options: formatOptions,
  examples: [["sallyport control-token revoke ci", "refuse a token from now on"]],
  parse: ([name = ""], options) => ({ name, format: readFormat(options, ["text", "json"]) }),
}

export const controlTokenRevoke = command(revokeLine, async ({ name, format }, io) => {
  const remote = await connect(io)
  expectOk(await remote.request("DELETE", `/v1/tokens/${encodeURIComponent(name)}`))
  print(io, format, { revoked: name }, () => `Revoked \`${name}\`.\n`)
  return exitCode.ok
})

const whoamiLine: CommandLine<ControlTokenArgs> = {
  options: formatOptions,
  examples: [["sallyport whoami", "see your name and role at the control API"]],
  parse: (_, options) => ({ format: readFormat(options, ["text", "json"]) }),
}

export const whoami = command(whoamiLine, async ({ format }, io) => {
  const remote = await connect(io)
  const answer = expectOk<WhoamiAnswer>(await remote.request("GET", "/v1/whoami"))
  print(io, format, answer, () => whoamiText(answer, remote))
  return exitCode.ok
})

function whoamiText(
  { kind, name, role, may, issuer, expiresAt }: WhoamiAnswer,
  { url, credential }: Remote,
): string {
  const who =
    kind === "shared"
      ? "the shared control token"
      : kind === "token"
        ? `the control token \`${name}\``
        : `\`${name}\` of the issuer \`${issuer}\``
  const until = expiresAt === null ? "" : `, until ${expiresAt}`
  const only = may === null || may === undefined ? "" : `, only for ${may.join(", ")}`
  const renewed = credential?.isRefreshed === true ? "; commands refresh it" : ""
  return `${who} at ${url}: role \`${role}\`${only}${until}${renewed}\nThe credential is ${credential?.what}.\n`
}
