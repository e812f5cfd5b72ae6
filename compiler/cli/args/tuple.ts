import { CliError, type CommandLine, type OptionValues } from "../command.ts"
import { readJson, readStore } from "./check.ts"
import { formatOption, readFormat } from "./format.ts"

export interface TupleWriteArgs {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly condition: string | undefined
  readonly context: unknown
  readonly store: string | undefined
  /** Succeed when the tuple is there already (write) or is not there (delete). */
  readonly idempotent: boolean
}

export interface TupleReadArgs {
  readonly user: string | undefined
  readonly relation: string | undefined
  readonly object: string | undefined
  readonly store: string | undefined
  readonly format: "text" | "json"
}

const operands = [
  ["<user>", "user:ann, user:*, or group:eng#member"],
  ["<relation>", "viewer"],
  ["<object>", "order:1"],
] as const
const storeOption = ["--store <name>", "store by name or id; needed when there are several"] as const

export const tupleWriteLine: CommandLine<TupleWriteArgs> = {
  name: "tuple write",
  summary: "write one tuple: give a user a relation on an object",
  operands,
  options: [
    storeOption,
    ["--condition <name>", "only under this condition of the model"],
    ["--context <json>", "values stored with the condition"],
    ["--ignore-existing", "succeed when the tuple is there already"],
  ],
  examples: [["sallyport tuple write user:bob viewer order:1", "let bob see order 1"]],
  parse: (words, options) => readTuple(words, options, "ignoreExisting"),
}

export const tupleDeleteLine: CommandLine<TupleWriteArgs> = {
  name: "tuple delete",
  summary: "delete one tuple",
  operands,
  options: [storeOption, ["--ignore-missing", "succeed when there is no such tuple"]],
  examples: [["sallyport tuple delete user:bob viewer order:1", "bob no longer sees order 1 by this tuple"]],
  parse: (words, options) => readTuple(words, options, "ignoreMissing"),
}

export const tupleReadLine: CommandLine<TupleReadArgs> = {
  name: "tuple read",
  summary: "list tuples",
  options: [
    storeOption,
    ["--user <user>", "only of this user; needs --object, at least its type"],
    ["--relation <relation>", "only this relation; needs --object"],
    ["--object <object>", "only on this object (order:1), with --user on a type, too (order:)"],
    formatOption,
  ],
  examples: [
    ["sallyport tuple read", "all of them"],
    ["sallyport tuple read --object order:1", "who has what on order 1"],
    ["sallyport tuple read --user user:ann --object order:", "what ann has on orders"],
  ],
  parse(_, options) {
    const object = text(options, "object")
    if (object === undefined && (options["user"] !== undefined || options["relation"] !== undefined)) {
      throw new CliError(
        "--user and --relation need --object",
        "Say --object order:1, or with --user the type alone: --object order:",
      )
    }
    if (object?.endsWith(":") === true && options["user"] === undefined) {
      throw new CliError(`--object ${object} is a type: that needs --user`, "Say --user, or which object.")
    }
    return {
      user: text(options, "user"),
      relation: text(options, "relation"),
      object,
      store: readStore(options),
      format: readFormat(options, ["text", "json"]),
    }
  },
}

function readTuple(words: readonly string[], options: OptionValues, idempotent: string): TupleWriteArgs {
  const [user, relation, object] = words
  if (user === undefined || relation === undefined || object === undefined) {
    throw new CliError("a tuple has a user, a relation and an object", "For example: user:bob viewer order:1")
  }
  const condition = text(options, "condition")
  const context = readJson(options["context"], "--context")
  if (context !== undefined && condition === undefined) throw new CliError("--context needs --condition")
  return {
    user,
    relation,
    object,
    condition,
    context,
    store: readStore(options),
    idempotent: options[idempotent] === true,
  }
}

function text(options: OptionValues, name: string): string | undefined {
  const value = options[name]
  return typeof value === "string" ? value : undefined
}
