import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type {
  CreateSubscription,
  IssuedAnswer,
  Subscription,
  SubscriptionStatus,
  SubscriptionsAnswer,
} from "../../../runtime/control/api.ts"
import { CliError, type CommandLine, command, exitCode, type OptionValues } from "../command.ts"
import type { Io } from "../io.ts"
import { formatOptions, readCount, readFormat, readMoment, textOf } from "../options.ts"
import { print } from "../print.ts"
import { connect, expectOk } from "../remote.ts"
import { utcText } from "../views/plan-record.ts"
import { table } from "../views/table.ts"

type Format = "text" | "json"

interface SubscriptionCreateArgs {
  readonly name: string
  readonly scope: CreateSubscription["scope"]
  readonly owner: string | undefined
  readonly note: string | undefined
  readonly expiresAt: string | undefined
  readonly state: CreateSubscription["state"]
  readonly primaryKeyFile: string | undefined
  readonly secondaryKeyFile: string | undefined
  readonly format: Format
}

interface SubscriptionListArgs {
  /** Query of the control API. */
  readonly query: Readonly<Record<string, string>>
  readonly format: Format
}

interface SubscriptionNameArgs {
  readonly name: string
  readonly format: Format
}

interface SubscriptionActArgs extends SubscriptionNameArgs {
  readonly action: "approve" | "reject" | "suspend" | "activate" | "cancel"
  /** Undefined: the expiry stays; null: it is removed. */
  readonly expiresAt: string | null | undefined
}

interface SubscriptionRotateArgs extends SubscriptionNameArgs {
  readonly key: "primary" | "secondary"
}

const nameOperand = ["<name>", "name of the subscription"] as const
const states: readonly SubscriptionStatus[] = [
  "submitted",
  "active",
  "suspended",
  "rejected",
  "cancelled",
  "expired",
]

const subscriptionCreateLine: CommandLine<SubscriptionCreateArgs> = {
  operands: [nameOperand],
  options: [
    ["--product <name>", "give access to the APIs of this product"],
    ["--api <name>", "give access to this API"],
    ["--all", "give access to every API"],
    ["--owner <text>", "owner of the subscription"],
    ["--note <text>", "note shown in the list"],
    ["--expires <date>", "end: 2030-01-31 or 2030-01-31T12:00:00Z"],
    [
      "--state <state>",
      "submitted or active (default: active, or submitted if the product requires approval)",
    ],
    ["--primary-key-file <file>", "file with an existing key, so that callers keep it; needs both files"],
    ["--secondary-key-file <file>", "file with the second existing key"],
    ...formatOptions,
  ],
  examples: [
    [
      "sallyport subscription create ann --product partner --owner ann@example.com",
      "create a subscription with two keys for ann",
    ],
  ],
  parse(words, options) {
    const [primaryKeyFile, secondaryKeyFile] = [
      textOf(options, "primaryKeyFile"),
      textOf(options, "secondaryKeyFile"),
    ]
    // The server stores both keys or none: a subscription always has two, so that one can be changed while the other works.
    if ((primaryKeyFile === undefined) !== (secondaryKeyFile === undefined))
      throw new CliError(
        "--primary-key-file and --secondary-key-file must be given together",
        "Add both files, or none.",
      )
    const expires = textOf(options, "expires")
    return {
      name: nameOf(words),
      scope: scopeOf(options),
      owner: textOf(options, "owner"),
      note: textOf(options, "note"),
      expiresAt: expires === undefined ? undefined : readMoment(expires, "--expires"),
      state: oneOf(options, "state", ["submitted", "active"] as const),
      primaryKeyFile,
      secondaryKeyFile,
      format: readFormat(options, ["text", "json"]),
    }
  },
}

const subscriptionListLine: CommandLine<SubscriptionListArgs> = {
  options: [
    ["--state <state>", `only this state: ${states.join(", ")}`],
    ["--product <name>", "only subscriptions of this product"],
    ["--api <name>", "only subscriptions of this API"],
    ["--owner <text>", "only subscriptions of this owner"],
    ["--prefix <text>", "only the subscription whose key starts with this text"],
    ["--text <text>", "only subscriptions with this text in name, owner or note"],
    ["--limit <count>", "number of subscriptions to show (default: 50)"],
    ["--after <name>", "show the next page, after this name"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport subscription list --state submitted", "subscriptions that wait for approval"],
    ["sallyport subscription list --prefix sp_4tQz81Lb", "find the subscription of a key"],
  ],
  parse(_, options) {
    // The value is only checked here; the query is built from the option below.
    oneOf(options, "state", states)
    if (options["limit"] !== undefined) readCount(String(options["limit"]), "--limit")
    const asked = ["state", "product", "api", "owner", "prefix", "text", "limit", "after"]
    const query = asked.flatMap((name) => {
      const value = textOf(options, name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return { query: Object.fromEntries(query), format: readFormat(options, ["text", "json"]) }
  },
}

const subscriptionShowLine: CommandLine<SubscriptionNameArgs> = {
  operands: [nameOperand],
  options: formatOptions,
  examples: [["sallyport subscription show ann", "show everything except the keys"]],
  parse: (words, options) => ({ name: nameOf(words), format: readFormat(options, ["text", "json"]) }),
}

const subscriptionRotateLine: CommandLine<SubscriptionRotateArgs> = {
  operands: [
    ["<key>", "primary or secondary"],
    ["<name>", "name of the subscription"],
  ],
  options: formatOptions,
  examples: [
    ["sallyport subscription rotate secondary ann", "replace the secondary key; the primary key stays"],
  ],
  parse([key, name], options) {
    if (key !== "primary" && key !== "secondary")
      throw new CliError(
        `\`${key}\` is neither \`primary\` nor \`secondary\``,
        "Write `rotate primary NAME` or `rotate secondary NAME`.",
      )
    return { key, name: nameOf([name ?? ""]), format: readFormat(options, ["text", "json"]) }
  },
}

const subscriptionDeleteLine: CommandLine<SubscriptionNameArgs> = {
  operands: [nameOperand],
  options: formatOptions,
  examples: [["sallyport subscription delete ann", "its keys stop working"]],
  parse: (words, options) => ({ name: nameOf(words), format: readFormat(options, ["text", "json"]) }),
}

/** A subscription gives access to one product, to one API or to everything. There is no default. */
function scopeOf(options: OptionValues): CreateSubscription["scope"] {
  const [product, api] = [textOf(options, "product"), textOf(options, "api")]
  // Absent options are undefined, so that the length is the number of given ones.
  const said = [product, api, options["all"] === true || undefined].filter((each) => each !== undefined)
  if (said.length !== 1)
    throw new CliError(
      "subscription create needs exactly one of --product, --api and --all",
      "Add `--product NAME`, `--api NAME` or `--all`.",
    )
  if (product !== undefined) return { product }
  return api === undefined ? { all: true } : { api }
}

/** The control API has the same rule. Here a mistake is found without a server, and `encodeURIComponent` never has work to do. */
function nameOf([name]: readonly string[]): string {
  if (name !== undefined && /^[A-Za-z][A-Za-z0-9_-]{0,62}$/.test(name)) return name
  throw new CliError(
    `\`${name ?? ""}\` is not a valid name of a subscription`,
    "Use a letter, then letters, digits, `_` or `-`; at most 63 characters.",
  )
}

/** One of the words that an option accepts. */
function oneOf<const Word extends string>(
  options: OptionValues,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const given = textOf(options, name)
  const found = words.find((word) => word === given)
  if (given !== undefined && found === undefined)
    throw new CliError(`--${name} has the unknown value ${given}`, `Use one of ${words.join(", ")}.`)
  return found
}

/** Keys are printed once: only their digests are stored. */
export const subscriptionCreate = command(subscriptionCreateLine, async (args, io) => {
  const { name, scope, owner, note, expiresAt, state } = args
  // Before the connection: an unreadable file is reported although no server runs.
  const keys = await givenKeys(args, io)
  const remote = await connect(io)
  const answer = await remote.request("POST", "/v1/subscriptions", {
    name,
    scope,
    owner,
    note,
    expiresAt,
    state,
    // The key files are named together, so this is undefined or complete.
    keys,
  })
  print(io, args.format, expectOk<IssuedAnswer>(answer), issuedText)
  return exitCode.ok
})

export const subscriptionList = command(subscriptionListLine, async (args, io) => {
  const remote = await connect(io)
  const query = new URLSearchParams(args.query).toString()
  const answer = await remote.request("GET", `/v1/subscriptions${query === "" ? "" : `?${query}`}`)
  print(io, args.format, expectOk<SubscriptionsAnswer>(answer), subscriptionsText)
  return exitCode.ok
})

export const subscriptionShow = command(subscriptionShowLine, async (args, io) => {
  const remote = await connect(io)
  const answer = await remote.request("GET", pathOf(args.name))
  print(io, args.format, expectOk<Subscription>(answer), subscriptionText)
  return exitCode.ok
})

export const subscriptionApprove = actCommand("approve", "approve a subscription that waits for approval")
export const subscriptionReject = actCommand(
  "reject",
  "reject a subscription that waits for approval; this is final",
)
export const subscriptionSuspend = actCommand(
  "suspend",
  "refuse the keys of a subscription until it is activated again",
)
export const subscriptionCancel = actCommand("cancel", "end a subscription; this is final")
export const subscriptionActivate = actCommand(
  "activate",
  "accept the keys of a suspended or expired subscription again",
  [["--expires <date>", "new end: 2030-01-31, or `never`"]],
)

/** A command that changes the state; `example`: what its example does. */
function actCommand(
  action: SubscriptionActArgs["action"],
  example: string,
  more: NonNullable<CommandLine<unknown>["options"]> = [],
) {
  const line: CommandLine<SubscriptionActArgs> = {
    operands: [nameOperand],
    options: [...more, ...formatOptions],
    examples: [[`sallyport subscription ${action} ann`, example]],
    parse(words, options) {
      const expires = textOf(options, "expires")
      return {
        name: nameOf(words),
        action,
        expiresAt:
          expires === undefined ? undefined : expires === "never" ? null : readMoment(expires, "--expires"),
        format: readFormat(options, ["text", "json"]),
      }
    },
  }
  return command(line, async ({ name, expiresAt, format }, io) => {
    const remote = await connect(io)
    // The server tells "keep the expiry" and "remove it" apart by the presence of the field.
    const body = expiresAt === undefined ? {} : { expiresAt }
    const answer = await remote.request("POST", `${pathOf(name)}/${action}`, body)
    print(io, format, expectOk<Subscription>(answer), ({ state }) => `\`${name}\` is ${state}.\n`)
    return exitCode.ok
  })
}

export const subscriptionRotate = command(subscriptionRotateLine, async ({ name, key, format }, io) => {
  const remote = await connect(io)
  const answer = await remote.request("POST", `${pathOf(name)}/rotate`, { key })
  print(io, format, expectOk<IssuedAnswer>(answer), issuedText)
  return exitCode.ok
})

export const subscriptionDelete = command(subscriptionDeleteLine, async ({ name, format }, io) => {
  const remote = await connect(io)
  expectOk(await remote.request("DELETE", pathOf(name)))
  print(io, format, { deleted: name }, () => `Deleted \`${name}\`.\n`)
  return exitCode.ok
})

function pathOf(name: string): string {
  return `/v1/subscriptions/${encodeURIComponent(name)}`
}

/** Read from files, because other users of the machine can see the command line. */
async function givenKeys({ primaryKeyFile, secondaryKeyFile }: SubscriptionCreateArgs, io: Io) {
  if (primaryKeyFile === undefined || secondaryKeyFile === undefined) return undefined
  return { primary: await keyIn(primaryKeyFile, io), secondary: await keyIn(secondaryKeyFile, io) }
}

async function keyIn(file: string, io: Io): Promise<string> {
  try {
    return (await readFile(resolve(io.cwd, file), "utf8")).trim()
  } catch (error) {
    throw new CliError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The new keys. They are shown only this once. */
function issuedText({ subscription, keys }: IssuedAnswer): string {
  const lines = (["primary", "secondary"] as const).flatMap((slot) =>
    keys[slot] === undefined ? [] : [`${slot.padEnd(9)}  ${keys[slot]}\n`],
  )
  // With `--primary-key-file` the caller has the keys already, and the answer contains none.
  const warning =
    lines.length === 0 ? "" : "Save the keys now: they are stored as digests and cannot be shown again.\n"
  const waits =
    subscription.state === "submitted"
      ? `It waits for \`sallyport subscription approve ${subscription.name}\`.\n`
      : ""
  return `\`${subscription.name}\` gives access to ${scopeText(subscription)} and is ${subscription.state}.\n${waits}${lines.join("")}${warning}`
}

/** A page of the list. */
function subscriptionsText({ subscriptions, next, gateway }: SubscriptionsAnswer): string {
  if (subscriptions.length === 0) return "No subscription matches.\n"
  const rows = table(
    ["NAME", "OPENS", "STATE", "OWNER", "PRIMARY", "SECONDARY", "LAST USED", "EXPIRES"],
    subscriptions.map((each) => [
      each.name,
      scopeText(each),
      each.state,
      each.owner || "-",
      // Keys in gateway.conf are references to secrets, so there is no prefix to show.
      each.primary === null ? (each.source === "text" ? "in gateway.conf" : "-") : `${each.primary.prefix}…`,
      each.secondary === null ? "-" : `${each.secondary.prefix}…`,
      day(lastUsed(each)),
      day(each.expiresAt),
    ]),
  )
  const more = next === null ? "" : `More: \`--after ${next}\`.\n`
  return `${gateway === null ? "" : `Gateway ${gateway}\n`}${rows}${more}`
}

/** All details of one subscription. */
function subscriptionText(one: Subscription): string {
  // `createdAt` is that of the key, not of the subscription: it shows when a key was last rotated.
  const key = (info: Subscription["primary"]) =>
    info === null
      ? "-"
      : `${info.prefix}…  made ${utcText(info.createdAt)}, ${info.lastUsedAt === null ? "never used" : `last used ${utcText(info.lastUsedAt)}`}`
  const rows: [string, string][] = [
    ["name", one.name],
    ["opens", scopeText(one)],
    ["state", one.state],
    ["owner", one.owner || "-"],
    ["note", one.note || "-"],
    ["primary", one.source === "text" ? "in gateway.conf" : key(one.primary)],
    ["secondary", one.source === "text" ? "in gateway.conf, if there is one" : key(one.secondary)],
    ["expires", one.expiresAt === null ? "never" : utcText(one.expiresAt)],
    ["created", one.createdAt === null ? "-" : utcText(one.createdAt)],
    ["changed", one.changedAt === null ? "-" : utcText(one.changedAt)],
  ]
  return rows.map(([name, value]) => `${name.padEnd(9)}  ${value}\n`).join("")
}

function scopeText({ scope }: Subscription): string {
  if ("product" in scope) return `product ${scope.product}`
  return "api" in scope ? `api ${scope.api}` : "all APIs"
}

/** The later use of both keys: a subscription is unused only if both are. */
function lastUsed({ primary, secondary }: Subscription): string | null {
  const times = [primary?.lastUsedAt, secondary?.lastUsedAt].filter((each) => typeof each === "string")
  return times.sort().at(-1) ?? null
}

function day(at: string | null): string {
  return at === null ? "-" : at.slice(0, 10)
}
