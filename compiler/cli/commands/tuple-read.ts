import { tupleWords } from "../../../runtime/check/explain-text.ts"
import type { TupleKey } from "../../../runtime/check/ports.ts"
import type { TupleReadArgs } from "../args/tuple.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { connect, expectOk } from "../remote.ts"
import { storePath } from "../store.ts"

interface Page {
  readonly tuples: readonly { readonly key: TupleKey; readonly timestamp: string }[]
  readonly continuation_token: string
}

/** Prints page by page, so that a store of any size can be listed: text, or one JSON object a line. */
export const tupleRead: CommandAction<TupleReadArgs> = async (args, io) => {
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
}
