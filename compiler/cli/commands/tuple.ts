import { tupleWords } from "../../../runtime/check/explain-text.ts"
import type { TupleKey } from "../../../runtime/check/ports.ts"
import { CliError, type CommandLine, command, exitCode, type OptionValues } from "../command.ts"
import { formatOptions, readFormat, readJson, readStore, storeOption, textOf } from "../options.ts"
import { print } from "../print.ts"
import { connect, expectOk, type RemoteAnswer } from "../remote.ts"
import { storePath } from "../store.ts"

interface TupleWriteArgs {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly condition: string | undefined
  readonly context: unknown
  readonly store: string | undefined
  /** Succeed if the tuple already exists (write) or does not exist (delete). */
  readonly idempotent: boolean
  readonly format: "text" | "json"
}

interface TupleReadArgs {
  readonly user: string | undefined
  readonly relation: string | undefined
  readonly object: string | undefined
  readonly store: string | undefined
  readonly format: "text" | "json"
}

const operands = [
  ["<user>", "a user, wildcard or userset: user:ann, user:*, group:eng#member"],
  ["<relation>", "a relation of the model: viewer"],
  ["<object>", "an object: order:1"],
] as const

const tupleWriteLine: CommandLine<TupleWriteArgs> = {
  operands,
  options: [
    storeOption,
    ["--condition <name>", "condition of the model that must be true"],
    ["--context <json>", "values stored with the condition, as a JSON object"],
    ["--ignore-existing", "succeed when the tuple already exists"],
    ...formatOptions,
  ],
  examples: [["sallyport tuple write user:bob viewer order:1", "let bob view order 1"]],
  parse: (words, options) => readTuple(words, options, "ignoreExisting"),
}

const tupleDeleteLine: CommandLine<TupleWriteArgs> = {
  operands,
  options: [storeOption, ["--ignore-missing", "succeed when the tuple does not exist"], ...formatOptions],
  examples: [
    ["sallyport tuple delete user:bob viewer order:1", "remove the tuple that lets bob view order 1"],
  ],
  parse: (words, options) => readTuple(words, options, "ignoreMissing"),
}

const tupleReadLine: CommandLine<TupleReadArgs> = {
  options: [
    storeOption,
    ["--user <user>", "only tuples of this user; needs --object, or at least its type"],
    ["--relation <relation>", "only tuples with this relation; needs --object"],
    ["--object <object>", "only tuples of this object (order:1) or, with --user, of a type (order:)"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport tuple read", "list all tuples"],
    ["sallyport tuple read --object order:1", "list all relations on order 1"],
    ["sallyport tuple read --user user:ann --object order:", "list the tuples of ann on orders"],
  ],
  parse(_, options) {
    const object = textOf(options, "object")
    // OpenFGA's `read` demands an object, or its type with a user; so does this API.
    if (object === undefined && (options["user"] !== undefined || options["relation"] !== undefined)) {
      throw new CliError(
        "--user and --relation need --object",
        "Add the object: --object order:1. With --user, the type is enough: --object order:",
      )
    }
    // Found here, because the API's message names fields of the body and not these options.
    if (object?.endsWith(":") === true && options["user"] === undefined) {
      throw new CliError(
        `--object ${object} is a type, which needs --user`,
        "Add --user, or name one object.",
      )
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

/** A context belongs to a condition: without one it would be stored and never read. */
function readTuple(words: readonly string[], options: OptionValues, idempotent: string): TupleWriteArgs {
  const [user, relation, object] = words
  if (user === undefined || relation === undefined || object === undefined) {
    throw new CliError(
      "a tuple needs a user, a relation and an object",
      "For example: user:bob viewer order:1",
    )
  }
  const condition = textOf(options, "condition")
  const context = readJson(options["context"], "--context")
  if (context !== undefined && condition === undefined)
    throw new CliError("--context needs --condition", "Add `--condition NAME`, a condition of the model.")
  return {
    user,
    relation,
    object,
    condition,
    context,
    store: readStore(options),
    idempotent: options[idempotent] === true,
    format: readFormat(options, ["text", "json"]),
  }
}

/** A tuple that exists is an error unless `--ignore-existing` is given, as in OpenFGA's API. */
export const tupleWrite = command(tupleWriteLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const condition =
    args.condition === undefined
      ? undefined
      : // OpenFGA's API demands a context beside the name, even an empty one.
        { name: args.condition, context: (args.context ?? {}) as Record<string, unknown> }
  const tuple = {
    user: args.user,
    relation: args.relation,
    object: args.object,
    ...(condition === undefined ? {} : { condition }),
  }
  const writes = { tuple_keys: [tuple], on_duplicate: args.idempotent ? "ignore" : "error" }
  demandWritten(await remote.request("POST", `${path}/write`, { writes }), tuple, {
    ...{ because: "exists already; nothing was written", option: "--ignore-existing" },
  })
  print(io, args.format, { written: tuple }, () => `written: ${tupleWords(tuple)}\n`)
  return exitCode.ok
})

/** A tuple that does not exist is an error unless `--ignore-missing` is given, as in OpenFGA's API. */
export const tupleDelete = command(tupleDeleteLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const tuple = { user: args.user, relation: args.relation, object: args.object }
  const deletes = { tuple_keys: [tuple], on_missing: args.idempotent ? "ignore" : "error" }
  demandWritten(await remote.request("POST", `${path}/write`, { deletes }), tuple, {
    ...{ because: "does not exist; nothing was deleted", option: "--ignore-missing" },
  })
  print(io, args.format, { deleted: tuple }, () => `deleted: ${tupleWords(tuple)}\n`)
  return exitCode.ok
})

/** Adds the remedy to what the engine says, whose messages are those of OpenFGA. @throws CliError */
function demandWritten(
  answer: RemoteAnswer,
  tuple: { readonly user: string; readonly relation: string; readonly object: string },
  { because, option }: { readonly because: string; readonly option: string },
): void {
  const { code, message = "" } = (answer.body ?? {}) as { readonly code?: string; readonly message?: string }
  if (code === "write_failed_due_to_invalid_input")
    // The engine's message is OpenFGA's sentence; people get the words of the command and the option that helps.
    throw new CliError(`${tupleWords(tuple)} ${because}`, `Add \`${option}\` to accept that.`)
  if (code !== "validation_error") return void expectOk(answer)
  throw new CliError(`${message} (${code})`, remedyOf(message, tuple.user))
}

function remedyOf(message: string, user: string): string {
  const model = "`sallyport model print` prints the model."
  // The commonest mistake: a group written as a user. The members are a userset.
  if (message.includes("allowed type restriction") && !user.includes("#"))
    return `For the members of \`${user}\`, write the relation that makes them members: \`${user}#member\`. ${model}`
  return `Write USER RELATION OBJECT, e.g. user:bob viewer order:1. ${model}`
}

interface Page {
  readonly tuples: readonly { readonly key: TupleKey; readonly timestamp: string }[]
  readonly continuation_token: string
}

/** Prints page by page, so that a store of any size can be listed: text, or one JSON object per line. */
export const tupleRead = command(tupleReadLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const { user, relation, object } = args
  const filter =
    object === undefined
      ? {}
      : // An empty string is left out: the API takes it as a type or an object without id.
        { tuple_key: { object, ...(user && { user }), ...(relation && { relation }) } }
  let token = ""
  do {
    const page = expectOk<Page>(
      await remote.request("POST", `${path}/read`, { ...filter, page_size: 100, continuation_token: token }),
    )
    for (const tuple of page.tuples) {
      // The API sends `null` for "no condition", which the printer knows as undefined.
      const shown = { ...tuple.key, condition: tuple.key.condition ?? undefined }
      io.out(args.format === "json" ? `${JSON.stringify(tuple)}\n` : `${tupleWords(shown)}\n`)
    }
    token = page.continuation_token
  } while (token !== "")
  return exitCode.ok
})
