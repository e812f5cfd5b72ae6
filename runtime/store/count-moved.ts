import { concerns } from "../check/tuple-moves.ts"
import type { TupleMove } from "../plan/authz.ts"
import type { Database, PreparedStatement } from "./database.ts"

/** All that decides whether a move concerns a tuple; `everyone`: the user is `type:*`. */
type ShapeRow = [
  objectType: string,
  relation: string,
  subjectType: string,
  everyone: boolean,
  subjectRelation: string,
  tuples: number,
]

const shapes: PreparedStatement = {
  name: "moves-shapes",
  text: `select split_part(t.object, ':', 1), t.relation, split_part(t.subject, ':', 1), t.subject like '%:*', t.subject_relation, count(*)::float8
    from sallyport.tuples t join sallyport.stores s on s.id = t.store_id
    where s.declared_name = $1 and s.deleted_at is null group by 1, 2, 3, 4, 5`,
}

/** How long all tuples of a store may be read for a preview. */
const statementMs = 60_000

/** The number of stored tuples that each move concerns: so many are copied, and so many are deleted when it is finished. */
export async function countMoved(
  database: Database,
  store: string,
  moves: readonly TupleMove[],
): Promise<number[]> {
  const rows = await database.transaction((transaction) => transaction.query<ShapeRow>(shapes, [store]), {
    snapshot: true,
    statementMs,
  })
  return moves.map((move) =>
    rows.reduce((sum, [objectType, relation, subjectType, everyone, subjectRelation, tuples]) => {
      const subject = `${subjectType}:${everyone ? "*" : "x"}`
      const row = [`${objectType}:x`, relation, subject, subjectRelation, "", ""] as const
      return concerns(row, move) ? sum + tuples : sum
    }, 0),
  )
}
