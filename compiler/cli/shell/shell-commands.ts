import { didYouMean } from "../../core/nearest.ts"
import { CliError } from "../command.ts"
import { checkText } from "../views/check.ts"
import { type ListedUsers, userText } from "../views/users.ts"
import { listRelations, matrix } from "./relation-commands.ts"
import { contextOf, type ShellCommand, usageOf } from "./shell-command.ts"
import { rows } from "./shown.ts"
import { type StoreView, storesOf, type TupleJson } from "./store-view.ts"
import type { Words } from "./words.ts"

type Asked = Pick<TupleJson["key"], "user" | "relation" | "object">

/** USER RELATION OBJECT. */
function asked(command: ShellCommand, { words }: Words, store: StoreView): Asked {
  const [user, relation, object, more] = words
  if (user === undefined || relation === undefined || object === undefined || more !== undefined)
    throw usageOf(command)
  store.remember(user, object)
  return { user, relation, object }
}

/** `check` and `explain` differ in what they ask for, not in how. */
function checkCommand(name: string, summary: string, explain: boolean): ShellCommand {
  const self: ShellCommand = {
    name,
    usage: `${name} USER RELATION OBJECT [{CONTEXT}]`,
    summary,
    places: ["user", "relation", "object"],
    async run(session, words) {
      const store = await session.store()
      const key = asked(self, words, store)
      // A missing condition parameter is part of the explanation, not an error.
      const why = explain ? { explain: true, ternary: true } : {}
      const body = { tuple_key: key, ...contextOf(words), ...why }
      const json = (await store.ask("check", body)) as Parameters<typeof checkText>[1]
      return { kind: "text", text: checkText(key, json), json: { ...key, ...json }, denied: !json.allowed }
    },
  }
  return self
}

const listObjects: ShellCommand = {
  name: "list-objects",
  usage: "list-objects USER RELATION TYPE [{CONTEXT}]",
  summary: "the objects of a type on which the user has the relation",
  places: ["user", "relation", "type"],
  async run(session, words) {
    const store = await session.store()
    const [user, relation, type, more] = words.words
    if (user === undefined || relation === undefined || type === undefined || more !== undefined)
      throw usageOf(listObjects)
    const body = { user, relation, type, ...contextOf(words) }
    const pages = store.lists<{ objects: string[] }>("list-objects", body)
    return rows(["OBJECT"], "No objects.", pages, ({ objects }) => {
      store.remember(...objects)
      return objects.map((object) => ({ cells: [object], json: { object } }))
    })
  },
}

const listUsers: ShellCommand = {
  name: "list-users",
  usage: "list-users TYPE[#RELATION] RELATION OBJECT [{CONTEXT}]",
  summary: "the users of a type, or usersets, that have the relation on the object",
  places: ["user-type", "relation", "object"],
  async run(session, words) {
    const store = await session.store()
    const [kind, relation, object, more] = words.words
    const [, type, id] = /^([^:]+):(.+)$/.exec(object ?? "") ?? []
    if (kind === undefined || relation === undefined || type === undefined || more !== undefined)
      throw usageOf(listUsers)
    const [userType, set] = kind.split("#")
    const filter = { type: userType, ...(set === undefined ? {} : { relation: set }) }
    const body = { object: { type, id }, relation, user_filters: [filter], ...contextOf(words) }
    const pages = store.lists<ListedUsers>("list-users", body)
    return rows(["USER"], "No users.", pages, ({ users, excluded_users = [] }) => {
      const found = users.map(userText)
      store.remember(...found)
      return [
        ...found.map((user) => ({ cells: [user], json: { user } })),
        ...excluded_users
          .map(userText)
          .map((user) => ({ cells: [`but not ${user}`], json: { excluded: user } })),
      ]
    })
  },
}

const read: ShellCommand = {
  name: "read",
  usage: "read [OBJECT | USER RELATION OBJECT]",
  summary: "stored tuples; `-` stands for any user or relation, `doc:` for all objects of a type",
  places: ["user", "relation", "object"],
  async run(session, { words }) {
    const store = await session.store()
    const given = words.length === 1 ? ["-", "-", ...words] : words
    if (given.length !== 0 && given.length !== 3) throw usageOf(read)
    const [user = "-", relation = "-", object = "-"] = given
    const filter = {
      ...(object === "-" ? {} : { object }),
      ...(relation === "-" ? {} : { relation }),
      ...(user === "-" ? {} : { user }),
    }
    const pages = store.tuples(Object.keys(filter).length === 0 ? undefined : filter)
    return rows(["USER", "RELATION", "OBJECT", "CONDITION", "WRITTEN"], "No tuples.", pages, (tuples) =>
      tuples.map((tuple) => ({ cells: [...tupleCells(tuple.key), tuple.timestamp], json: tuple })),
    )
  },
}

function tupleCells({ user, relation, object, condition }: TupleJson["key"]): string[] {
  const context = condition?.context === undefined ? "" : ` ${JSON.stringify(condition.context)}`
  return [user, relation, object, condition ? condition.name + (context === " {}" ? "" : context) : "-"]
}

const write: ShellCommand = {
  name: "write",
  usage: "write USER RELATION OBJECT [with CONDITION [{CONTEXT}]]",
  summary: "writes one tuple",
  places: ["user", "relation", "object"],
  async run(session, { words, json }) {
    const store = await session.store()
    const [, , , by, condition, more] = words
    if ((by !== undefined && (by !== "with" || condition === undefined)) || more !== undefined)
      throw usageOf(write)
    if (json !== undefined && condition === undefined) throw usageOf(write)
    const key = asked(write, { words: words.slice(0, 3), json }, store)
    const tuple = {
      ...key,
      ...(condition === undefined ? {} : { condition: { name: condition, context: json ?? {} } }),
    }
    const answer = await store.ask("write", { writes: { tuple_keys: [tuple] } })
    return {
      kind: "text",
      text: `written: ${tupleCells(tuple).slice(0, 3).join(" ")}\n`,
      json: { written: tuple, ...(answer as object) },
    }
  },
}

const remove: ShellCommand = {
  name: "delete",
  usage: "delete USER RELATION OBJECT",
  summary: "deletes one tuple",
  places: ["user", "relation", "object"],
  async run(session, words) {
    const store = await session.store()
    const key = asked(remove, words, store)
    const answer = await store.ask("write", { deletes: { tuple_keys: [key] } })
    return {
      kind: "text",
      text: `deleted: ${key.user} ${key.relation} ${key.object}\n`,
      json: { deleted: key, ...(answer as object) },
    }
  },
}

const changes: ShellCommand = {
  name: "changes",
  usage: "changes [TYPE] [since TIME]",
  summary: "writes and deletes in order; TIME as 2026-01-31T12:00:00Z",
  places: ["type"],
  async run(session, { words }) {
    const store = await session.store()
    const at = words.indexOf("since")
    const since = at < 0 ? undefined : words[at + 1]
    const rest = at < 0 ? words : words.slice(0, at)
    if (rest.length > 1 || (at >= 0 && (since === undefined || words.length > at + 2))) throw usageOf(changes)
    const pages = store.changes(rest[0], since)
    const head = ["TIME", "WHAT", "USER", "RELATION", "OBJECT", "CONDITION"]
    return rows(head, "No changes.", pages, (page) =>
      page.map((change) => {
        const what = change.operation.replace("TUPLE_OPERATION_", "").toLowerCase()
        return { cells: [change.timestamp, what, ...tupleCells(change.tuple_key)], json: change }
      }),
    )
  },
}

const stores: ShellCommand = {
  name: "stores",
  usage: "stores",
  summary: "all stores",
  places: [],
  run: async ({ api }) =>
    rows(["ID", "NAME", "CREATED"], "No stores.", storesOf(api), (page) =>
      page.map((store) => ({ cells: [store.id, store.name, store.created_at], json: store })),
    ),
}

const use: ShellCommand = {
  name: "use",
  usage: "use STORE",
  summary: "use another store for the next commands, by name or id",
  places: ["store"],
  async run(session, { words }) {
    const [named, more] = words
    if (named === undefined || more !== undefined) throw usageOf(use)
    const { store } = await session.use(named)
    return { kind: "text", text: `store ${store.name} (${store.id})\n`, json: store }
  },
}

const model: ShellCommand = {
  name: "model",
  usage: "model [ID]",
  summary: "the newest model of the store, or the one with that id, as text",
  places: [],
  async run(session, { words }) {
    const store = await session.store()
    const [id, more] = words
    if (more !== undefined) throw usageOf(model)
    return session.json
      ? { kind: "text", text: "", json: await store.modelJson(id) }
      : { kind: "text", text: await store.modelText(id), json: undefined }
  },
}

const help: ShellCommand = {
  name: "help",
  usage: "help [COMMAND]",
  summary: "lists the commands",
  places: ["command"],
  async run(_, { words }) {
    const listed = words.length === 0 ? shellCommands : [commandOf(words[0] ?? "")]
    const width = Math.max(...listed.map(({ usage }) => usage.length))
    const text = listed.map(({ usage, summary }) => `${usage.padEnd(width)}  ${summary}\n`).join("")
    return { kind: "text", text, json: listed.map(({ usage, summary }) => ({ usage, summary })) }
  },
}

const more: ShellCommand = {
  name: "more",
  usage: "more",
  summary: "the next rows of the last list",
  places: [],
  run: async (session) => session.rest(),
}

const exit: ShellCommand = {
  name: "exit",
  usage: "exit",
  summary: "ends the shell, as Ctrl-D does",
  places: [],
  run: async () => "exit",
}

/** All commands, in the order of the help. */
export const shellCommands: readonly ShellCommand[] = [
  checkCommand("check", "whether the user has the relation on the object", false),
  checkCommand("explain", "the same with the reason", true),
  listObjects,
  listUsers,
  listRelations,
  matrix,
  read,
  write,
  remove,
  changes,
  more,
  stores,
  use,
  model,
  help,
  exit,
]

/** @throws CliError with the nearest name. */
export function commandOf(name: string): ShellCommand {
  const found = shellCommands.find((each) => each.name === name || (each.name === "exit" && name === "quit"))
  if (found !== undefined) return found
  const names = shellCommands.map((each) => each.name)
  throw new CliError(`unknown command \`${name}\`${didYouMean(name, names)}`, "`help` lists all commands.")
}
