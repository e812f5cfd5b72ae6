import type { PackedRows, TupleRow } from "../../runtime/check/ports.ts"

/** The rows of a load's batch. */
export function unpackRows(packed: PackedRows): TupleRow[] {
  const lines = packed.split("\n").slice(0, -1)
  return lines.map((line) => {
    const [object = "", subject = "", relation = "", ...rest] = line.split("\t")
    return [object, relation, subject, ...rest] as unknown as TupleRow
  })
}
