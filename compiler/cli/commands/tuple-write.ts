import { tupleWords } from "../../../runtime/check/explain-text.ts"
import type { TupleWriteArgs } from "../args/tuple.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { connect, expectOk } from "../remote.ts"
import { storePath } from "../store.ts"

export const tupleWrite: CommandAction<TupleWriteArgs> = async (args, io) => {
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
}
