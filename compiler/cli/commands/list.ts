import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { formatOptions, readFormat, readJson, readStore, storeOption } from "../options.ts"
import { jsonDocument } from "../print.ts"
import { connect, expectOk } from "../remote.ts"
import { storePath } from "../store.ts"
import { type ListedUsers, userText } from "../views/users.ts"

interface ListArgs {
  /** The question in the format of the engine's API. */
  readonly question: Readonly<Record<string, unknown>>
  readonly store: string | undefined
  readonly context: unknown
  readonly format: "text" | "json"
}

const options = [
  storeOption,
  ["--context <json>", "values for conditions, as a JSON object"],
  ...formatOptions,
] as const

const listObjectsLine: CommandLine<ListArgs> = {
  operands: [
    ["<user>", "a user or userset: user:bob, group:eng#member"],
    ["<relation>", "a relation of the model: viewer"],
    ["<type>", "type of the objects: order"],
  ],
  options,
  examples: [
    ["sallyport list-objects user:bob viewer order", "the orders that bob may view, one per line"],
    ["sallyport list-objects user:bob viewer order --json", "the same as one JSON document"],
  ],
  parse([user, relation, type], given) {
    if (user === undefined || relation === undefined || type === undefined)
      throw new CliError(
        "list-objects needs a user, a relation and a type",
        "For example: sallyport list-objects user:bob viewer order",
      )
    // A complete object means a check, which the help proposes with the same words.
    if (type.includes(":"))
      throw new CliError(
        `\`${type}\` is an object, but list-objects needs a type`,
        `For one object: sallyport check ${user} ${relation} ${type}`,
      )
    return { question: { user, relation, type }, ...readRest(given) }
  },
}

const listUsersLine: CommandLine<ListArgs> = {
  operands: [
    ["<type>", "type of the users: user, or the sets group#member"],
    ["<relation>", "a relation of the model: viewer"],
    ["<object>", "an object: order:1"],
  ],
  options,
  examples: [
    ["sallyport list-users user viewer order:1", "the users that may view order 1, one per line"],
    ["sallyport list-users group#member viewer order:1 --json", "the groups, as one JSON document"],
  ],
  parse([kind, relation, object], given) {
    if (kind === undefined || relation === undefined || object === undefined)
      throw new CliError(
        "list-users needs a type, a relation and an object",
        "For example: sallyport list-users user viewer order:1",
      )
    const [, type, id] = /^([^:]+):(.+)$/.exec(object) ?? []
    if (type === undefined)
      throw new CliError(`\`${object}\` is not an object`, "Write its type and its id: order:1.")
    if (kind.includes(":"))
      throw new CliError(
        `\`${kind}\` is a user, but list-users needs a type`,
        `For one user: sallyport check ${kind} ${relation} ${object}`,
      )
    const [userType, set] = kind.split("#")
    const filter = { type: userType, ...(set === undefined ? {} : { relation: set }) }
    return { question: { object: { type, id }, relation, user_filters: [filter] }, ...readRest(given) }
  },
}

function readRest(given: Parameters<typeof readStore>[0]): Omit<ListArgs, "question"> {
  return {
    store: readStore(given),
    context: readJson(given["context"], "--context"),
    format: readFormat(given, ["text", "json"]),
  }
}

export const listObjects = command(listObjectsLine, async (args, io) => {
  const pages = await pagesOf<{ objects: readonly string[] }>("list-objects", args, io)
  // All pages before the output: an error in a later page must not follow a list that looks complete.
  const objects = pages.flatMap((page) => page.objects)
  show(io, args, { objects }, objects)
  return exitCode.ok
})

export const listUsers = command(listUsersLine, async (args, io) => {
  const pages = await pagesOf<ListedUsers>("list-users", args, io)
  const users = pages.flatMap((page) => page.users)
  // With a wildcard among the users, exceptions belong to the answer.
  const excluded = pages.flatMap((page) => page.excluded_users ?? [])
  const answer = excluded.length === 0 ? { users } : { users, excluded_users: excluded }
  show(io, args, answer, [...users.map(userText), ...excluded.map((user) => `but not ${userText(user)}`)])
  return exitCode.ok
})

/** All pages of a list: the engine ends a page at a limit or a deadline and returns a continuation token. */
async function pagesOf<Page>(list: string, { question, store, context }: ListArgs, io: Io): Promise<Page[]> {
  const remote = await connect(io)
  const path = await storePath(remote, store)
  const pages: Page[] = []
  for (let token: string | undefined = ""; token !== undefined; ) {
    const page: Page & { readonly continuation_token?: string } = expectOk(
      await remote.request("POST", `${path}/${list}`, {
        ...question,
        ...(context === undefined ? {} : { context }),
        ...(token === "" ? {} : { continuation_token: token }),
      }),
    )
    pages.push(page)
    token = page.continuation_token || undefined
  }
  return pages
}

/** Prints one name per line, also in a pipe. A message for an empty list goes to standard error. */
function show(io: Io, { format }: ListArgs, answer: object, names: readonly string[]): void {
  if (format === "json") io.out(jsonDocument(answer))
  else if (names.length === 0) io.err("The list is empty.\n")
  else io.out(names.map((name) => `${name}\n`).join(""))
}
