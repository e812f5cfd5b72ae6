import type { EngineAsker } from "../lsp/engine-answers.ts"
import type { Io } from "./io.ts"
import { connect, expectOk, type Remote } from "./remote.ts"
import { storePath } from "./store.ts"
import { type ListedUsers, userText } from "./views/users.ts"

/** How many users a lens names. */
const namedMax = 5

interface UsersPage extends ListedUsers {
  readonly continuation_token?: string
}

/** Asks the engine behind the control API that other commands find, with their credential. Address and credential are looked for at each question. */
export function engineAsker(io: Io): EngineAsker {
  return async (question) => {
    const remote = await connect(io)
    const path = await storePath(remote, question.store)
    if (question.kind === "who") return usersText(await firstUsers(remote, path, question))
    const { user, relation, object, context } = question
    const { allowed } = expectOk<{ allowed: boolean }>(
      await remote.request("POST", `${path}/check`, { tuple_key: { user, relation, object }, context }),
    )
    return allowed ? "allowed" : "denied"
  }
}

/** The first page: a lens names only a few. */
async function firstUsers(
  remote: Remote,
  path: string,
  { type, relation, object }: { readonly type: string; readonly relation: string; readonly object: string },
): Promise<UsersPage> {
  const cut = object.indexOf(":")
  return expectOk<UsersPage>(
    await remote.request("POST", `${path}/list-users`, {
      object: { type: object.slice(0, cut), id: object.slice(cut + 1) },
      relation,
      user_filters: [{ type }],
    }),
  )
}

function usersText({ users, continuation_token: more = "" }: UsersPage): string {
  const names = users.slice(0, namedMax).map(userText)
  if (names.length === 0) return more === "" ? "nobody" : "not found yet"
  const left = users.length - names.length
  const rest = more !== "" ? ["and others"] : left > 0 ? [`and ${left} more`] : []
  return [...names, ...rest].join(", ")
}
