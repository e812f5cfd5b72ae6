import type { TupleMove } from "../plan/authz.ts"
import type { TupleRow } from "./ports.ts"

/** Images and origins of one tuple, at most; more would need many moves that concern the same tuple. */
const relatedMax = 256

/** What has to be written and deleted beside the tuples of a request, so that old and new words stay in step. */
export interface Companions {
  readonly writes: readonly TupleRow[]
  readonly deletes: readonly CompanionDelete[]
}

/** A tuple to delete, unless one of these exists: then it is also the image of another tuple. */
export interface CompanionDelete {
  readonly row: TupleRow
  readonly unless: readonly TupleRow[]
}

/**
 * Moves of tuples from one word of a model (`type#relation` or `type`) to another. The image of a tuple under a move has the new word in
 * each place of the old one: object and relation, and the user if it is a set (`type#relation`) or of the type. A move that shares neither
 * its old nor its new word with another one, and concerns all users, is a renaming: then tuples of both words exist together.
 */
export class TupleMoves {
  readonly all: readonly TupleMove[]
  readonly #renamings: readonly TupleMove[]

  constructor(all: readonly TupleMove[]) {
    this.all = all
    this.#renamings = all.filter((move) => isRenaming(move, all))
  }

  /** All images of a tuple, without itself. */
  images(row: TupleRow): TupleRow[] {
    return closure(row, (each) => this.#forward(each))
  }

  /** `writes` and `deletes` of one request, which share no key. */
  companions(writes: readonly TupleRow[], deletes: readonly TupleRow[]): Companions {
    const own = new Set([...writes, ...deletes].map(keyOf))
    const added = new Map<string, TupleRow>()
    for (const row of writes)
      for (const image of this.images(row)) if (!own.has(keyOf(image))) added.set(keyOf(image), image)
    const removed = new Map<string, CompanionDelete>()
    const take = (row: TupleRow, unless: readonly TupleRow[]) => {
      const key = keyOf(row)
      // A certain deletion counts more than one with exceptions.
      if (!own.has(key) && !added.has(key) && removed.get(key)?.unless.length !== 0)
        removed.set(key, { row, unless })
    }
    const gone = new Set(deletes.map(keyOf))
    for (const row of deletes) {
      // A client that revokes the new word revokes the old one too, because the old model would still grant it.
      for (const origin of closure(row, (each) => this.#back(each))) {
        gone.add(keyOf(origin))
        take(origin, [])
      }
    }
    for (const row of deletes)
      for (const image of this.images(row))
        take(
          image,
          this.origins(image).filter((each) => !gone.has(keyOf(each))),
        )
    return { writes: [...added.values()], deletes: [...removed.values()] }
  }

  /** The tuples of which a tuple is an image by one move. */
  origins(row: TupleRow): TupleRow[] {
    return this.all.flatMap((move) => originsOf(row, move))
  }

  #forward(row: TupleRow): TupleRow[] {
    return [...this.all, ...this.#renamings.map(reversed)]
      .map((move) => imageOf(row, move))
      .filter((image) => image !== undefined)
  }

  #back(row: TupleRow): TupleRow[] {
    const renamed = this.#renamings.map((move) => imageOf(row, move)).filter((image) => image !== undefined)
    return [...this.origins(row), ...renamed]
  }
}

/** Whether a tuple has the old word of a move, with a user that the move concerns. */
export function concerns(row: TupleRow, move: TupleMove): boolean {
  return imageOf(row, move) !== undefined
}

/** Whether a tuple has the new word of a move. */
export function isMoved(row: TupleRow, { from, to }: TupleMove): boolean {
  return imageOf(row, { from: to, to: from }) !== undefined
}

/** The tuple with the new word; undefined: the move does not concern it. Its condition stays. */
export function imageOf(row: TupleRow, move: TupleMove): TupleRow | undefined {
  const places = placesOf(row, move)
  return places.length === 0 ? undefined : replaced(row, places, move.to)
}

/** The tuples that have this one as their image: those with the old word in at least one place of the new one. */
export function originsOf(row: TupleRow, move: TupleMove): TupleRow[] {
  const back = { from: move.to, to: move.from, users: move.users }
  const places = placesOf(row, back)
  const subsets = places.length === 2 ? [places, places.slice(0, 1), places.slice(1)] : [places]
  return subsets.flatMap((subset) => (subset.length === 0 ? [] : [replaced(row, subset, move.from)]))
}

/** The part of a tuple that identifies it. No name can contain a space. */
function keyOf([object, relation, subject, subjectRelation]: TupleRow): string {
  return `${object} ${relation} ${subject} ${subjectRelation}`
}

type Place = "object" | "subject"

function placesOf(
  [object, relation, subject, subjectRelation]: TupleRow,
  { from, users }: TupleMove,
): Place[] {
  const [type, word] = from.split("#") as [string, string?]
  const isOf = (name: string) => name.startsWith(`${type}:`)
  const inObject = isOf(object) && (word === undefined || word === relation)
  const inSubject = isOf(subject) && (word === undefined || word === subjectRelation)
  const found: Place[] = []
  if (inObject && (users === undefined || users.includes(userTypeOf(subject, subjectRelation))))
    found.push("object")
  if (inSubject) found.push("subject")
  return found
}

/** `user`, `user:*` or `group#member`. */
function userTypeOf(subject: string, subjectRelation: string): string {
  const type = subject.slice(0, subject.indexOf(":"))
  if (subjectRelation !== "") return `${type}#${subjectRelation}`
  return subject.endsWith(":*") ? `${type}:*` : type
}

function replaced(row: TupleRow, places: readonly Place[], to: string): TupleRow {
  const [type, word] = to.split("#") as [string, string?]
  const [object, relation, subject, subjectRelation, condition, context] = row
  const retyped = (name: string) => `${type}${name.slice(name.indexOf(":"))}`
  const [o, s] = [places.includes("object"), places.includes("subject")]
  return [
    o && word === undefined ? retyped(object) : object,
    o && word !== undefined ? word : relation,
    s && word === undefined ? retyped(subject) : subject,
    s && word !== undefined ? word : subjectRelation,
    condition,
    context,
  ]
}

function reversed({ from, to }: TupleMove): TupleMove {
  return { from: to, to: from }
}

function isRenaming(move: TupleMove, all: readonly TupleMove[]): boolean {
  return (
    move.users === undefined &&
    all.every((each) => each === move || (each.from !== move.from && each.to !== move.to))
  )
}

function closure(row: TupleRow, next: (row: TupleRow) => readonly TupleRow[]): TupleRow[] {
  const seen = new Map([[keyOf(row), row]])
  for (const each of seen.values()) {
    for (const other of next(each)) if (!seen.has(keyOf(other))) seen.set(keyOf(other), other)
    if (seen.size > relatedMax) throw new Error("too many moves concern one tuple")
  }
  seen.delete(keyOf(row))
  return [...seen.values()]
}
