import type { TupleKey } from "../../runtime/check/ports.ts"
import type { MemorySource } from "./memory-source.ts"

/** What a source holds, as keys. */
export function storedTuples(source: MemorySource): TupleKey[] {
  return [...source.rows.values()].map(
    ([object, relation, subject, subjectRelation, condition, context]) => ({
      object,
      relation,
      user: subjectRelation === "" ? subject : `${subject}#${subjectRelation}`,
      ...(condition === ""
        ? {}
        : { condition: { name: condition, ...(context === "" ? {} : { context: JSON.parse(context) }) } }),
    }),
  )
}
