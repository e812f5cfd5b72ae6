import { CliError, type CommandLine, type OptionValues } from "../command.ts"
import { formatOption, readFormat } from "./format.ts"

export interface CheckArgs {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly store: string | undefined
  readonly context: unknown
  readonly explain: boolean
  readonly exitCode: boolean
  readonly format: "text" | "json"
}

export const checkLine: CommandLine<CheckArgs> = {
  name: "check",
  summary: "ask the engine whether a user has a relation on an object",
  operands: [
    ["<user>", "user:bob, or group:eng#member"],
    ["<relation>", "viewer"],
    ["<object>", "order:1"],
  ],
  options: [
    ["--store <name>", "store by name or id; needed when there are several"],
    ["--context <json>", "values for conditions"],
    ["--explain", "say why: the proof, or what is in the way and would help"],
    ["--exit-code", "exit 2 on a denial"],
    formatOption,
  ],
  examples: [
    ["sallyport check user:bob viewer order:1 --explain", "may bob see order 1, and why not?"],
    ["sallyport check user:ann viewer order:1 --exit-code && deploy", "in a script"],
  ],
  parse([user, relation, object], options) {
    if (user === undefined || relation === undefined || object === undefined) {
      throw new CliError(
        "a check needs a user, a relation and an object",
        "For example: sallyport check user:bob viewer order:1",
      )
    }
    return {
      user,
      relation,
      object,
      store: readStore(options),
      context: readJson(options["context"], "--context"),
      explain: options["explain"] === true,
      exitCode: options["exitCode"] === true,
      format: readFormat(options, ["text", "json"]),
    }
  },
}

/** Reads `--store`. */
export function readStore(options: OptionValues): string | undefined {
  const store = options["store"]
  if (store === undefined) return undefined
  if (typeof store === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(store)) return store
  throw new CliError(`--store ${String(store)} is neither a store's name nor its id`)
}

/** Reads an option that holds a JSON object. */
export function readJson(value: OptionValues[string], option: string): unknown {
  if (value === undefined) return undefined
  try {
    const json: unknown = JSON.parse(String(value))
    if (typeof json === "object" && json !== null && !Array.isArray(json)) return json
  } catch {
    // Said below.
  }
  throw new CliError(
    `${option} is not a JSON object: ${String(value)}`,
    `For example: ${option} '{"ip": "10.0.0.1"}'`,
  )
}
