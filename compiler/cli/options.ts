import { type ChangeClass, changeClasses } from "../../runtime/plan/change-rules.ts"
import { CliError, type OptionValues } from "./command.ts"
import { type MadeKind, madeKinds } from "./made-kinds.ts"

/** The project's folder, and its first file. */
export interface ProjectArgs {
  readonly folder: string
  readonly entry: string
}

/** The option of all commands that compile. */
export const configOption = ["--config <file>", "main file of the project (default: gateway.conf)"] as const

/** Reads `--config PATH`: the folder of the path is the project. */
export function readProject(options: OptionValues): ProjectArgs {
  const config = options["config"] ?? "gateway.conf"
  if (typeof config !== "string" || /^$|(?:^|\/)\.{0,2}$/.test(config))
    throw new CliError(
      "--config needs a file: the main file of a project",
      "For example: --config services/gateway.conf",
    )
  const cut = config.lastIndexOf("/") + 1
  return { folder: config.slice(0, cut) || ".", entry: config.slice(cut) }
}

/** The short form of `--format json`, for every command that prints JSON. */
export const jsonOption = ["--json", "the same as `--format json`"] as const

/** The options most commands have. */
export const formatOptions = [["--format <format>", "text or json (default: text)"], jsonOption] as const

/** The option of commands that compare two plans. */
export const requestsOption = [
  "--requests <file>",
  "write what becomes of requests before and after the change to this file, as JSON",
] as const

/** Reads `--format` and `--json`; the first of `allowed` when both are absent. */
export function readFormat<const Allowed extends readonly string[]>(
  options: OptionValues,
  allowed: Allowed,
): Allowed[number] {
  const { json, format } = options
  if (json === true && format !== undefined && format !== "json")
    throw new CliError(`--json and --format ${String(format)} exclude each other`, "Remove one of them.")
  const given = json === true ? "json" : format
  if (given === undefined) return allowed[0] as Allowed[number]
  if (typeof given === "string" && allowed.includes(given)) return given
  throw new CliError(`unknown format: --format ${String(given)}`, `Use ${allowed.join(", ")}.`)
}

/** The option of all commands that use a store. */
export const storeOption = [
  "--store <name>",
  "name or id of the store; required when there are several",
] as const

/** Reads `--store`. */
export function readStore(options: OptionValues): string | undefined {
  const store = options["store"]
  if (store === undefined) return undefined
  if (typeof store === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(store)) return store
  throw new CliError(`--store ${String(store)} is neither the name nor the id of a store`)
}

/** The classes of changes that the caller consents to; read it by `readAllow`. */
export const allowOption = [
  "--allow <classes>",
  "consent to these classes of changes: opens, closes, breaking, separated by commas",
  "joined",
] as const

/** Reads `--allow opens,breaking`. */
export function readAllow(options: OptionValues): readonly ChangeClass[] {
  return readWords(options, "allow", "class", changeClasses)
}

/** Reads an option with known words, separated by commas or blanks: those that are given, in the order of `known`. */
function readWords<const Word extends string>(
  options: OptionValues,
  name: string,
  what: string,
  known: readonly Word[],
): readonly Word[] {
  const words = (textOf(options, name) ?? "").split(/[\s,]+/).filter((word) => word !== "")
  const unknown = words.find((word) => !known.some((each) => each === word))
  if (unknown !== undefined)
    throw new CliError(`--${name} has the unknown ${what} \`${unknown}\``, `Use ${known.join(", ")}.`)
  return known.filter((each) => words.includes(each))
}

/** What to delete of what was made at run time; read it by `readRemove`. */
export const removeOption = [
  "--remove <kinds>",
  "also delete what was made at run time and is in no text: subscriptions, stores, tokens, separated by commas (default: nothing)",
  "joined",
] as const

/** Reads `--remove subscriptions,tokens`. */
export function readRemove(options: OptionValues): readonly MadeKind[] {
  const kinds = readWords(options, "remove", "kind", madeKinds)
  if (kinds.length === 0 && options["remove"] !== undefined)
    throw new CliError("--remove needs kinds", `Use ${madeKinds.join(", ")}.`)
  return kinds
}

/** The reason that the history shows; read it by `textOf(options, "message")`. */
export const messageOption = ["--message <text>", "reason shown in `sallyport history`"] as const

/** Reads `--claim name=value`, given any number of times; a value that is JSON is read as JSON. */
export function readClaims(options: OptionValues): Readonly<Record<string, unknown>> {
  const given = options["claim"]
  return Object.fromEntries((Array.isArray(given) ? given : []).map((text) => claimOf(String(text))))
}

/** A value that is not JSON is text, so that `sub=ann` needs no quotes. */
function claimOf(text: string): readonly [string, unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new CliError(`\`${text}\` is not a claim`, "Write `--claim name=value`.")
  try {
    return [name, JSON.parse(value)]
  } catch {
    return [name, value]
  }
}

/** An option's text, undefined if absent. */
export function textOf(options: OptionValues, name: string): string | undefined {
  const value = options[name]
  return typeof value === "string" ? value : undefined
}

/** Reads an option with a JSON object as its value. */
export function readJson(value: OptionValues[string], option: string): unknown {
  if (value === undefined) return undefined
  try {
    const json: unknown = JSON.parse(String(value))
    if (typeof json === "object" && json !== null && !Array.isArray(json)) return json
  } catch {
    // Reported below.
  }
  throw new CliError(
    `${option} is not a JSON object: ${String(value)}`,
    `For example: ${option} '{"ip": "10.0.0.1"}'`,
  )
}

/** Reads a whole number, at least 1. */
export function readCount(text: string, what: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new CliError(`${what} must be a whole number of at least 1, not \`${text}\``)
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads a duration like `500ms`, `30s`, `2m`, `12h` or `30d`, in milliseconds. */
export function readDuration(text: string, option: string): number {
  const [, count, unit] = /^(\d{1,6})(ms|s|m|h|d)$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return Number(count) * unitMs[unit as keyof typeof unitMs]
  throw new CliError(
    `${option} ${text} is not a duration`,
    "Write a number with its unit: 500ms, 30s, 2m, 12h or 30d.",
  )
}

/** Reads a time in RFC 3339 format. A date means its beginning in UTC. `more`: other accepted forms, for the help. */
export function readMoment(text: string, what: string, more = ""): string {
  const full = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(full)
  if (isMoment && !Number.isNaN(Date.parse(full))) return new Date(full).toISOString()
  throw new CliError(`${what} ${text} is not a date`, `Write 2030-01-31, or 2030-01-31T12:00:00Z${more}.`)
}
