import type { CreateSubscription, SubscriptionStatus } from "../../../runtime/control/subscription-api.ts"
import { CliError, type CommandLine, type OptionValues } from "../command.ts"
import { formatOption, readCount, readFormat } from "./format.ts"

type Format = "text" | "json"

export interface SubscriptionCreateArgs {
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

export interface SubscriptionListArgs {
  /** Query of the control API. */
  readonly query: Readonly<Record<string, string>>
  readonly format: Format
}

export interface SubscriptionNameArgs {
  readonly name: string
  readonly format: Format
}

export interface SubscriptionActArgs extends SubscriptionNameArgs {
  readonly action: "approve" | "reject" | "suspend" | "activate" | "cancel"
  /** Undefined: the end stays; null: there is none any more. */
  readonly expiresAt: string | null | undefined
}

export interface SubscriptionRotateArgs extends SubscriptionNameArgs {
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

export const subscriptionCreateLine: CommandLine<SubscriptionCreateArgs> = {
  name: "subscription create",
  summary: "issue a subscription; its two keys are shown this once",
  operands: [nameOperand],
  options: [
    ["--product <name>", "it opens the APIs of this product"],
    ["--api <name>", "it opens this API"],
    ["--all", "it opens every API"],
    ["--owner <text>", "whose it is"],
    ["--note <text>", "for whoever reads the list"],
    ["--expires <date>", "when it ends: 2030-01-31, or with a time and zone"],
    ["--state <state>", "submitted or active, instead of what the product says"],
    ["--primary-key-file <file>", "a key made elsewhere, so that callers keep theirs; needs both"],
    ["--secondary-key-file <file>", "the second one"],
    formatOption,
  ],
  examples: [
    ["sallyport subscription create ann --product partner --owner ann@example.com", "two keys for ann"],
  ],
  parse(words, options) {
    const [primaryKeyFile, secondaryKeyFile] = [
      text(options, "primaryKeyFile"),
      text(options, "secondaryKeyFile"),
    ]
    if ((primaryKeyFile === undefined) !== (secondaryKeyFile === undefined))
      throw new CliError("--primary-key-file and --secondary-key-file belong together")
    const expires = text(options, "expires")
    return {
      name: nameOf(words),
      scope: scopeOf(options),
      owner: text(options, "owner"),
      note: text(options, "note"),
      expiresAt: expires === undefined ? undefined : readMoment(expires, "--expires"),
      state: oneOf(options, "state", ["submitted", "active"] as const),
      primaryKeyFile,
      secondaryKeyFile,
      format: readFormat(options, ["text", "json"]),
    }
  },
}

export const subscriptionListLine: CommandLine<SubscriptionListArgs> = {
  name: "subscription list",
  summary: "list subscriptions by name, issued ones and those of gateway.conf",
  options: [
    ["--state <state>", `only these: ${states.join(", ")}`],
    ["--product <name>", "only those of a product"],
    ["--api <name>", "only those of one API"],
    ["--owner <text>", "only those of an owner"],
    ["--prefix <text>", "only the one whose key begins so"],
    ["--text <text>", "only those that have it in name, owner or note"],
    ["--limit <count>", "how many, 50 when not said"],
    ["--after <name>", "those after this name: the next page"],
    formatOption,
  ],
  examples: [
    ["sallyport subscription list --state submitted", "who waits for an approval"],
    ["sallyport subscription list --prefix sp_4tQz81Lb", "whose key is this?"],
  ],
  parse(_, options) {
    oneOf(options, "state", states)
    if (options["limit"] !== undefined) readCount(String(options["limit"]), "--limit")
    const asked = ["state", "product", "api", "owner", "prefix", "text", "limit", "after"]
    const query = asked.flatMap((name) => {
      const value = text(options, name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return { query: Object.fromEntries(query), format: readFormat(options, ["text", "json"]) }
  },
}

export const subscriptionShowLine: CommandLine<SubscriptionNameArgs> = {
  name: "subscription show",
  summary: "show one subscription: state, scope, keys by their beginning, when they were last used",
  operands: [nameOperand],
  options: [formatOption],
  examples: [["sallyport subscription show ann", "all there is to know, but not the keys"]],
  parse: (words, options) => ({ name: nameOf(words), format: readFormat(options, ["text", "json"]) }),
}

export const subscriptionApproveLine = actLine("approve", "let in what waits for an approval")
export const subscriptionRejectLine = actLine("reject", "refuse what waits for an approval, for ever")
export const subscriptionSuspendLine = actLine("suspend", "refuse its keys until it is activated again")
export const subscriptionCancelLine = actLine("cancel", "end it for ever")
export const subscriptionActivateLine: CommandLine<SubscriptionActArgs> = {
  ...actLine("activate", "let in again what was suspended or has expired"),
  options: [["--expires <date>", "its new end; `never` for none"], formatOption],
  parse(words, options) {
    const expires = text(options, "expires")
    return {
      name: nameOf(words),
      action: "activate",
      expiresAt:
        expires === undefined ? undefined : expires === "never" ? null : readMoment(expires, "--expires"),
      format: readFormat(options, ["text", "json"]),
    }
  },
}

export const subscriptionRotateLine: CommandLine<SubscriptionRotateArgs> = {
  name: "subscription rotate",
  summary: "make a new key in place of one; it is shown this once, the old one is refused from now on",
  operands: [
    ["<key>", "primary or secondary"],
    ["<name>", "name of the subscription"],
  ],
  options: [formatOption],
  examples: [["sallyport subscription rotate secondary ann", "the primary key goes on as it is"]],
  parse([key, name], options) {
    if (key !== "primary" && key !== "secondary")
      throw new CliError(
        `\`${key}\` is no key of a subscription`,
        "Say `rotate primary NAME` or `rotate secondary NAME`.",
      )
    return { key, name: nameOf([name ?? ""]), format: readFormat(options, ["text", "json"]) }
  },
}

export const subscriptionDeleteLine: CommandLine<SubscriptionNameArgs> = {
  name: "subscription delete",
  summary: "remove a subscription; what it used stays in `usage`",
  operands: [nameOperand],
  examples: [["sallyport subscription delete ann", "its keys are refused from now on"]],
  parse: (words) => ({ name: nameOf(words), format: "text" }),
}

function actLine(action: SubscriptionActArgs["action"], summary: string): CommandLine<SubscriptionActArgs> {
  return {
    name: `subscription ${action}`,
    summary,
    operands: [nameOperand],
    options: [formatOption],
    examples: [[`sallyport subscription ${action} ann`, summary]],
    parse: (words, options) => ({
      name: nameOf(words),
      action,
      expiresAt: undefined,
      format: readFormat(options, ["text", "json"]),
    }),
  }
}

function scopeOf(options: OptionValues): CreateSubscription["scope"] {
  const [product, api] = [text(options, "product"), text(options, "api")]
  const said = [product, api, options["all"] === true || undefined].filter((each) => each !== undefined)
  if (said.length !== 1)
    throw new CliError(
      "a subscription opens one of three things",
      "Say `--product NAME`, `--api NAME` or `--all`.",
    )
  if (product !== undefined) return { product }
  return api === undefined ? { all: true } : { api }
}

/** RFC 3339; a day is its beginning in UTC. `more`: what else may stand there, for the help. */
export function readMoment(text: string, what: string, more = ""): string {
  const full = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(full)
  if (isMoment && !Number.isNaN(Date.parse(full))) return new Date(full).toISOString()
  throw new CliError(`${what} ${text} is no date`, `Write 2030-01-31, or 2030-01-31T12:00:00Z${more}.`)
}

function nameOf([name]: readonly string[]): string {
  if (name !== undefined && /^[A-Za-z][A-Za-z0-9_-]{0,62}$/.test(name)) return name
  throw new CliError(
    `\`${name ?? ""}\` is no name of a subscription`,
    "A letter, then letters, digits, `_` or `-`, 63 characters at most.",
  )
}

function oneOf<const Word extends string>(
  options: OptionValues,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const given = text(options, name)
  const found = words.find((word) => word === given)
  if (given !== undefined && found === undefined)
    throw new CliError(`--${name} ${given} is not known`, `It is one of ${words.join(", ")}.`)
  return found
}

function text(options: OptionValues, name: string): string | undefined {
  const value = options[name]
  return typeof value === "string" ? value : undefined
}
