import { tupleWords } from "../../../runtime/check/explain-text.ts"
import type { TupleKey } from "../../../runtime/check/ports.ts"
import { CliError, type CommandLine, command, exitCode, type OptionValues } from "../command.ts"
import { formatOptions, readFormat, readJson, readStore, storeOption, textOf } from "../options.ts"
import { connect, expectOk } from "../remote.ts"
import { storePath } from "../store.ts"

interface TupleWriteArgs {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly condition: string | undefined
  readonly context: unknown
  readonly store: string | undefined
  /** Succeed when the tuple is there already (write) or is not there (delete). */
  readonly idempotent: boolean
}

interface TupleReadArgs {
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

const tupleWriteLine: CommandLine<TupleWriteArgs> = {
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

const tupleDeleteLine: CommandLine<TupleWriteArgs> = {
  operands,
  options: [storeOption, ["--ignore-missing", "succeed when there is no such tuple"]],
  examples: [["sallyport tuple delete user:bob viewer order:1", "bob no longer sees order 1 by this tuple"]],
  parse: (words, options) => readTuple(words, options, "ignoreMissing"),
}

const tupleReadLine: CommandLine<TupleReadArgs> = {
  options: [
    storeOption,
    ["--user <user>", "only of this user; needs --object, at least its type"],
    ["--relation <relation>", "only this relation; needs --object"],
    ["--object <object>", "only on this object (order:1), with --user on a type, too (order:)"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport tuple read", "all of them"],
    ["sallyport tuple read --object order:1", "who has what on order 1"],
    ["sallyport tuple read --user user:ann --object order:", "what ann has on orders"],
  ],
  parse(_, options) {
    const object = textOf(options, "object")
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
      user: textOf(options, "user"),
      relation: textOf(options, "relation"),
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
  const condition = textOf(options, "condition")
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

export const tupleWrite = command(tupleWriteLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const condition =
    args.condition === undefined
      ? undefined
      : { name: args.condition, context: (args.context ?? {}) as Record<string, unknown> }
  const tuple = {
    user: args.user,
    relation: args.relation,
    object: args.object,
    ...(condition === undefined ? {} : { condition }),
  }
  const writes = { tuple_keys: [tuple], on_duplicate: args.idempotent ? "ignore" : "error" }
  expectOk(await remote.request("POST", `${path}/write`, { writes }))
  io.out(`written: ${tupleWords(tuple)}\n`)
  return exitCode.ok
})

export const tupleDelete = command(tupleDeleteLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const tuple = { user: args.user, relation: args.relation, object: args.object }
  const deletes = { tuple_keys: [tuple], on_missing: args.idempotent ? "ignore" : "error" }
  expectOk(await remote.request("POST", `${path}/write`, { deletes }))
  io.out(`deleted: ${tupleWords(tuple)}\n`)
  return exitCode.ok
})

interface Page {
  readonly tuples: readonly { readonly key: TupleKey; readonly timestamp: string }[]
  readonly continuation_token: string
}

/** Prints page by page, so that a store of any size can be listed: text, or one JSON object a line. */
export const tupleRead = command(tupleReadLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const { user, relation, object } = args
  const filter =
    object === undefined
      ? {}
      : { tuple_key: { object, ...(user && { user }), ...(relation && { relation }) } }
  let token = ""
  do {
    const page = expectOk<Page>(
      await remote.request("POST", `${path}/read`, { ...filter, page_size: 100, continuation_token: token }),
    )
    for (const tuple of page.tuples) {
      const shown = { ...tuple.key, condition: tuple.key.condition ?? undefined }
      io.out(args.format === "json" ? `${JSON.stringify(tuple)}\n` : `${tupleWords(shown)}\n`)
    }
    token = page.continuation_token
  } while (token !== "")
  return exitCode.ok
})
