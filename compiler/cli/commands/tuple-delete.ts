import { tupleWords } from "../../../runtime/check/explain-text.ts"
import type { TupleWriteArgs } from "../args/tuple.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { connect, expectOk } from "../remote.ts"
import { storePath } from "../store.ts"

export const tupleDelete: CommandAction<TupleWriteArgs> = async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const tuple = { user: args.user, relation: args.relation, object: args.object }
  const deletes = { tuple_keys: [tuple], on_missing: args.idempotent ? "ignore" : "error" }
  expectOk(await remote.request("POST", `${path}/write`, { deletes }))
  io.out(`deleted: ${tupleWords(tuple)}\n`)
  return exitCode.ok
}
