import * as z from "zod"
import { toDotPath } from "zod/v4/core"
import type { TupleKey } from "../../../runtime/check/ports.ts"
import { decode } from "../../core/decode.ts"
import type { Files } from "../../core/files.ts"
import { budgets } from "../../core/load.ts"

const tupleKey = z.strictObject({
  user: z.string(),
  relation: z.string(),
  object: z.string(),
  condition: z
    .strictObject({ name: z.string(), context: z.record(z.string(), z.unknown()).default({}) })
    .optional(),
})

/** Sample tuples of a store: undefined if there is no such file, a text with the reason if the file is invalid. */
export type SampleTuples = readonly TupleKey[] | string | undefined

/** The file of a store's sample tuples. */
export function sampleTuplesPath(store: string): string {
  return `models/${store}.tuples.json`
}

/** Reads the sample tuples of a store: a JSON list of `{user, relation, object, condition?}`. */
export function readSampleTuples(files: Files, store: string): SampleTuples {
  const found = files.read(sampleTuplesPath(store), budgets.fileBytesMax)
  if (found.kind === "failure") return found.reason === "missing" ? undefined : found.detail
  const decoded = decode(found.bytes)
  if (decoded.text === undefined) return decoded.detail
  try {
    const read = z.array(tupleKey).safeParse(JSON.parse(decoded.text))
    if (read.success) return read.data as readonly TupleKey[]
    const [issue] = read.error.issues
    return `${toDotPath(issue?.path ?? [])}: ${issue?.message}`
  } catch (error) {
    return `is not JSON (${(error as Error).message})`
  }
}
