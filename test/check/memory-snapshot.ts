import { firstCommit, type TupleRow, type TupleSnapshot } from "../../runtime/check/ports.ts"

const typeOf = (name: string) => name.slice(0, name.indexOf(":"))

/** Parts of these rows, as the database would read them. */
export class MemorySnapshot implements TupleSnapshot {
  readonly at = firstCommit
  readonly #rows: readonly TupleRow[]

  constructor(rows: readonly TupleRow[]) {
    this.#rows = rows
  }

  async objectsWith(shape: Parameters<TupleSnapshot["objectsWith"]>[0], max: number) {
    const { objectType, relation, subjectType, subjectRelation, condition } = shape
    const everybody = `${subjectType}:*`
    return this.#objects(
      max,
      (row) =>
        typeOf(row[0]) === objectType &&
        row[1] === relation &&
        (subjectRelation === "*"
          ? row[2] === everybody
          : typeOf(row[2]) === subjectType && row[3] === subjectRelation) &&
        row[4] === condition,
    )
  }

  async objectsOf(type: string, relations: readonly string[], max: number) {
    return this.#objects(max, (row) => typeOf(row[0]) === type && relations.includes(row[1]))
  }

  async objectsOfSets(type: string, relations: readonly string[], max: number) {
    return this.#objects(max, (row) => typeOf(row[2]) === type && relations.includes(row[3]), 2)
  }

  async tuplesOf(objects: readonly string[], relations: readonly string[], max: number) {
    return this.#rows.filter((row) => objects.includes(row[0]) && relations.includes(row[1])).slice(0, max)
  }

  async tuplesOfSets(objects: readonly string[], max: number) {
    const sets = this.#rows.filter((row) => row[3] !== "" && objects.includes(row[2]))
    return [...new Map(sets.map((row) => [`${row[2]}#${row[3]}`, row])).values()].slice(0, max)
  }

  async tuplesNaming(objects: readonly string[], max: number) {
    return this.#rows.filter((row) => objects.includes(row[2])).slice(0, max)
  }

  #objects(max: number, isMeant: (row: TupleRow) => boolean, column: 0 | 2 = 0): string[] {
    return [...new Set(this.#rows.filter(isMeant).map((row) => row[column]))].slice(0, max)
  }
}
