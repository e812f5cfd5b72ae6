import { describe, expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { matrix } from "../../runtime/check/matrix.ts"
import type { TupleKey, TupleRow } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import { concerns } from "../../runtime/check/tuple-moves.ts"
import type { TupleMove } from "../../runtime/plan/authz.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { countMoved } from "../../runtime/store/count-moved.ts"
import type { Database } from "../../runtime/store/database.ts"
import { declareStores } from "../../runtime/store/plans.ts"
import { advanceMoves, finishMoves, listMoves } from "../../runtime/store/tuple-moves.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { MemorySource } from "../check/memory-source.ts"
import { modelOf } from "../check/model.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled } from "../support/random-run.ts"
import { unpackRows } from "../support/unpack-rows.ts"
import { describeDatabase } from "./databases.ts"

const head = `
type user
type group
  relations
    define member: [user, group#member]`

/** A move, with the model before it, while both words are there, and after it. */
interface Change {
  readonly moves: readonly TupleMove[]
  readonly before: string
  readonly between: string
  readonly after: string
  /** Old words that a client may write, as `type relation`, with the users they take. */
  readonly shapes: readonly (readonly [type: string, relation: string, users: readonly string[]])[]
  /** For each `type#relation` of the old model, the same one in the model between (at all times) and after it. */
  readonly same: readonly (readonly [old: string, between: string | undefined, after: string | undefined])[]
}

const folder = (name: string) => `
type ${name}
  relations
    define viewer: [user, group#member]`
const doc = (lines: string) => `
type doc
  relations
    define blocked: [user]${lines}`

const users = ["user", "user:*", "group#member"]
const folderShape = ["folder", "viewer", ["user", "group#member"]] as const
const shared = [
  ["group", "member", ["user", "group#member"]],
  ["doc", "parent", ["folder"]],
  ["doc", "blocked", ["user"]],
] as const

const changes: Readonly<Record<string, Change>> = {
  "a relation is renamed": {
    moves: [{ from: "doc#viewer", to: "doc#reader" }],
    before: `${head}${folder("folder")}${doc(`
    define parent: [folder]
    define viewer: [user, user:*, group#member, doc#viewer] or viewer from parent
    define can_read: viewer but not blocked`)}`,
    between: `${head}${folder("folder")}${doc(`
    define parent: [folder]
    define viewer: [user, user:*, group#member, doc#viewer] or viewer from parent
    define reader: [user, user:*, group#member, doc#reader] or viewer
    define can_read: reader but not blocked`)}`,
    after: `${head}${folder("folder")}${doc(`
    define parent: [folder]
    define reader: [user, user:*, group#member, doc#reader] or viewer from parent
    define can_read: reader but not blocked`)}`,
    shapes: [...shared, folderShape, ["doc", "viewer", [...users, "doc#viewer"]]],
    same: [
      ["doc#viewer", "doc#viewer", "doc#reader"],
      ["doc#viewer", "doc#reader", undefined],
      ["doc#can_read", "doc#can_read", "doc#can_read"],
    ],
  },
  "a type is renamed": {
    moves: [{ from: "folder", to: "dir" }],
    before: `${head}${folder("folder")}${doc(`
    define parent: [folder]
    define viewer: [user, user:*] or viewer from parent
    define can_read: viewer but not blocked`)}`,
    between: `${head}${folder("folder")}${folder("dir")}${doc(`
    define parent: [folder, dir]
    define viewer: [user, user:*] or viewer from parent
    define can_read: viewer but not blocked`)}`,
    after: `${head}${folder("dir")}${doc(`
    define parent: [dir]
    define viewer: [user, user:*] or viewer from parent
    define can_read: viewer but not blocked`)}`,
    shapes: [...shared, folderShape, ["doc", "viewer", ["user", "user:*"]]],
    same: [
      ["folder#viewer", "folder#viewer", "dir#viewer"],
      ["doc#can_read", "doc#can_read", "doc#can_read"],
    ],
  },
  "a relation is split": {
    moves: [
      { from: "doc#editor", to: "doc#writer" },
      { from: "doc#editor", to: "doc#commenter" },
    ],
    before: `${head}${folder("folder")}${doc(`
    define parent: [folder]
    define editor: [user, group#member]
    define can_read: editor or viewer from parent`)}`,
    between: `${head}${folder("folder")}${doc(`
    define parent: [folder]
    define editor: [user, group#member]
    define writer: [user, group#member] or editor
    define commenter: [user, group#member] or editor
    define can_read: commenter or writer or viewer from parent`)}`,
    after: `${head}${folder("folder")}${doc(`
    define parent: [folder]
    define writer: [user, group#member]
    define commenter: [user, group#member]
    define can_read: commenter or writer or viewer from parent`)}`,
    shapes: [...shared, folderShape, ["doc", "editor", ["user", "group#member"]]],
    same: [
      ["doc#editor", "doc#editor", "doc#writer"],
      ["doc#editor", "doc#writer", "doc#commenter"],
      ["doc#can_read", "doc#can_read", "doc#can_read"],
    ],
  },
  "a relation is split by the type of its users": {
    moves: [
      { from: "doc#editor", to: "doc#writer", users: ["user"] },
      { from: "doc#editor", to: "doc#team", users: ["group#member"] },
    ],
    before: `${head}${doc(`
    define editor: [user, group#member]
    define can_read: editor but not blocked`)}`,
    between: `${head}${doc(`
    define editor: [user, group#member]
    define writer: [user]
    define team: [group#member]
    define can_read: editor but not blocked`)}`,
    after: `${head}${doc(`
    define writer: [user]
    define team: [group#member]
    define can_read: (writer or team) but not blocked`)}`,
    shapes: [shared[0], shared[2], ["doc", "editor", ["user", "group#member"]]],
    same: [
      ["doc#editor", "doc#editor", undefined],
      ["doc#can_read", "doc#can_read", "doc#can_read"],
    ],
  },
  "relations are merged": {
    moves: [
      { from: "doc#editor", to: "doc#staff" },
      { from: "doc#owner", to: "doc#staff" },
    ],
    before: `${head}${doc(`
    define editor: [user, group#member]
    define owner: [user, group#member]
    define can_read: (editor or owner) but not blocked`)}`,
    between: `${head}${doc(`
    define editor: [user, group#member]
    define owner: [user, group#member]
    define staff: [user, group#member] or editor or owner
    define can_read: staff but not blocked`)}`,
    after: `${head}${doc(`
    define staff: [user, group#member]
    define can_read: staff but not blocked`)}`,
    shapes: [
      shared[0],
      shared[2],
      ["doc", "editor", ["user", "group#member"]],
      ["doc", "owner", ["user", "group#member"]],
    ],
    same: [
      ["doc#editor", "doc#editor", undefined],
      ["doc#owner", "doc#owner", undefined],
      ["doc#can_read", "doc#can_read", "doc#can_read"],
    ],
  },
}

const people = ["user:1", "user:2", "user:3", "user:4"]
const numbers = ["1", "2", "3"]

function bodyOf(text: string, moves: readonly TupleMove[] = []): PlanBody {
  const { plan } = modelOf(text)
  const digest = `sha256:${text.length}:${Buffer.from(text).toString("base64").slice(0, 400)}`
  const store = { model: digest, ...(moves.length === 0 ? {} : { moves }) }
  return { authz: { stores: { acme: store } }, models: { [digest]: plan } } as unknown as PlanBody
}

/** Who has which relation: `user type:id#relation`, for one relation of all objects of its type. */
async function accessBy(
  model: LoadedModel,
  relation: string,
  tuples: readonly TupleKey[],
): Promise<string[]> {
  const [type = "", name = ""] = relation.split("#")
  const source = new MemorySource()
  source.write(...tuples)
  const engine = new Engine(source, { pollMs: 0, depthMax: Number.POSITIVE_INFINITY })
  const objects = numbers.map((id) => `${type}:${id}`)
  try {
    const { cells } = await engine.ask(
      "store",
      matrix(model, { users: people, relations: [name], objects }, engine.bounds),
    )
    return people.flatMap((user, u) =>
      numbers.filter((_, o) => cells[u]?.[0]?.[o] === true).map((id) => `${user} ${id}`),
    )
  } finally {
    engine.close()
  }
}

function keyOf([object, relation, subject, subjectRelation]: TupleRow): TupleKey {
  return { object, relation, user: subjectRelation === "" ? subject : `${subject}#${subjectRelation}` }
}

const textOf = ({ object, relation, user }: TupleKey) => `${object} ${relation} ${user}`

/** The tuples in the database. */
async function stored(database: Database, storeId: string): Promise<TupleKey[]> {
  const rows: TupleRow[] = []
  await createTupleSource(database).load(storeId, (batch) => void rows.push(...unpackRows(batch)))
  return rows.map(keyOf)
}

/** A store in which a change runs, beside the tuples as a client with the old model expects them. */
class World {
  readonly expected = new Map<string, TupleKey>()
  readonly #database: Database
  readonly #change: Change
  readonly #random: Random
  readonly #writer: TupleWriter
  storeId = ""
  /** Of the first commit. */
  stamp = ""
  checks = 0

  constructor(database: Database, change: Change, random: Random) {
    this.#database = database
    this.#change = change
    this.#random = random
    this.#writer = new TupleWriter(database, () => undefined)
  }

  async declare(text: string, moves?: readonly TupleMove[]): Promise<void> {
    const stores = await declareStores(this.#database, bodyOf(text, moves))
    this.storeId = stores.get("acme")?.storeId ?? ""
  }

  /** A tuple with old words is written or deleted, by a client that does not know of the move. */
  async write(): Promise<void> {
    const random = this.#random
    const [type, relation, users] = random.pick(this.#change.shapes)
    const object = `${type}:${random.pick(numbers)}`
    const kind = random.pick(users)
    const id = kind.endsWith(":*") ? "" : random.pick(numbers)
    const [userType = "", set] = kind.split("#")
    const user = kind.endsWith(":*") ? kind : `${userType}:${id}${set === undefined ? "" : `#${set}`}`
    const tuple = { object, relation, user }
    const exists = this.expected.has(textOf(tuple))
    const isDelete = exists && random.chance(70)
    const rows = [rowOf(tuple)]
    const outcome = await this.#writer.write(this.storeId, {
      writes: isDelete ? [] : rows,
      deletes: isDelete ? rows : [],
      onDuplicate: "error",
      onMissing: "error",
    })
    expect(outcome === undefined ? "gone" : "conflict" in outcome ? outcome.conflict : "written").toBe(
      exists && !isDelete ? "exists" : "written",
    )
    if (isDelete) this.expected.delete(textOf(tuple))
    else this.expected.set(textOf(tuple), tuple)
  }

  /** Writes `user relation object` in one commit. */
  async writeThese(texts: readonly string[]): Promise<void> {
    const tuples = texts.map((text) => {
      const [user = "", relation = "", object = ""] = text.split(" ")
      return { user, relation, object }
    })
    const outcome = await this.#writer.write(this.storeId, {
      ...{ writes: tuples.map(rowOf), deletes: [] },
      ...{ onDuplicate: "error", onMissing: "error" },
    })
    if (outcome === undefined || "conflict" in outcome) throw new Error("not written")
    this.stamp = outcome.at.stamp
    for (const tuple of tuples) this.expected.set(textOf(tuple), tuple)
  }

  /** Everybody has what the old model says of the old tuples. */
  async compare(text: string, at: 1 | 2): Promise<void> {
    const tuples = await stored(this.#database, this.storeId)
    const expected = [...this.expected.values()]
    const [before, model] = [modelOf(this.#change.before), modelOf(text)]
    for (const same of this.#change.same) {
      const access = await accessBy(before, same[0], expected)
      const relation = same[at]
      if (relation !== undefined)
        expect(await accessBy(model, relation, tuples), `${relation} of ${text}`).toEqual(access)
      // A client that names the old model's id.
      if (at === 1) expect(await accessBy(before, same[0], tuples), `${same[0]} before`).toEqual(access)
      this.checks += people.length * numbers.length
    }
  }

  async advance(): Promise<boolean> {
    return advanceMoves(this.#database, "process", 2)
  }

  async copyAll(): Promise<void> {
    const { between, moves } = this.#change
    while (await this.advance()) {
      if (this.#random.chance(50)) await this.write()
      await this.compare(between, 1)
    }
    expect((await listMoves(this.#database)).map(({ state }) => state)).toEqual(moves.map(() => "ready"))
  }
}

/** The model between, over random tuples with old words, or these. */
async function worldOf(
  database: Database,
  change: Change,
  random: Random,
  count = 9,
  tuples: readonly string[] = [],
): Promise<World> {
  await database.query({ name: "t-moves", text: "delete from sallyport.tuple_moves" })
  await database.query({
    name: "t-forget",
    text: "update sallyport.stores set declared_name = null, moves = '', managed = false",
  })
  const world = new World(database, change, random)
  await world.declare(change.before)
  for (let at = 0; at < count; at++) await world.write()
  if (tuples.length > 0) await world.writeThese(tuples)
  await world.declare(change.between, change.moves)
  await world.compare(change.between, 1)
  return world
}

/** The same database, without what this process knows of it. */
function ofAnotherProcess(database: Database): Database {
  return new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

const stateOf = async (database: Database) => (await listMoves(database)).map(({ state }) => state)

describeDatabase("moves of tuples", (database) => {
  describe("nobody gains or loses at any time", () => {
    test.each(Object.entries(changes))("%s", async (_, change) => {
      let checks = 0
      const kind = Object.values(changes).indexOf(change)
      // In `npm test` one world of each, half of them forward and half of them back.
      for (let round = kind; round < kind + scaled(2, 0.5); round++) {
        const seed = firstSeed + round
        const world = await worldOf(database(), change, new Random(seed))
        const rows = (await stored(database(), world.storeId)).map(rowOf)
        expect(await countMoved(database(), "acme", change.moves)).toEqual(
          change.moves.map((move) => rows.filter((row) => concerns(row, move)).length),
        )
        await world.copyAll()
        await world.compare(change.after, 2)
        if (round % 2 === 0) {
          // Forward, back while the old tuples are kept, and forward again to the end.
          await world.declare(change.after)
          expect(new Set(await stateOf(database()))).toEqual(new Set(["kept"]))
          await world.declare(change.between, change.moves)
          for (let at = 0; at < 5; at++) await world.write()
          await world.compare(change.between, 1)
          await world.compare(change.after, 2)
          await world.declare(change.after)
          await finishMoves(database(), "acme")
          while (await world.advance()) await world.compare(change.after, 2)
          const words = change.moves.map(({ from }) => from)
          const left = (await stored(database(), world.storeId)).filter(({ object, relation, user }) =>
            words.some((word) =>
              word.includes("#")
                ? `${object.split(":")[0]}#${relation}` === word
                : object.startsWith(`${word}:`) || user.startsWith(`${word}:`),
            ),
          )
          expect(left).toEqual([])
        } else {
          await world.declare(change.before)
          while (await world.advance());
          expect((await stored(database(), world.storeId)).map(textOf).sort()).toEqual(
            [...world.expected.keys()].sort(),
          )
        }
        expect(await listMoves(database())).toEqual([])
        checks += world.checks
      }
      expect(checks).toBeGreaterThan(0)
    })
  })

  const request = { writes: [], deletes: [], onDuplicate: "error", onMissing: "error" } as const
  const tuple = (text: string): TupleRow => {
    const [user = "", relation = "", object = ""] = text.split(" ")
    return rowOf({ user, relation, object })
  }
  const renaming = changes["a relation is renamed"] as Change
  const merging = changes["relations are merged"] as Change
  const texts = async (storeId: string) => (await stored(database(), storeId)).map(textOf).sort()
  const copyAll = async () => {
    while (await advanceMoves(database(), "process"));
  }

  test("revoking the new word revokes the old one, also while another process has not noticed the move", async () => {
    const world = await worldOf(database(), renaming, new Random(1), 0)
    const own = new TupleWriter(database(), () => undefined)
    const unaware = new TupleWriter(ofAnotherProcess(database()), () => undefined)
    await unaware.write(world.storeId, {
      ...request,
      writes: [tuple("user:1 viewer doc:1"), tuple("user:2 viewer doc:2")],
    })
    await copyAll()
    expect(await texts(world.storeId)).toEqual([
      "doc:1 reader user:1",
      "doc:1 viewer user:1",
      "doc:2 reader user:2",
      "doc:2 viewer user:2",
    ])
    await own.write(world.storeId, { ...request, deletes: [tuple("user:1 reader doc:1")] })
    await unaware.write(world.storeId, { ...request, deletes: [tuple("user:2 viewer doc:2")] })
    expect(await texts(world.storeId)).toEqual([])
    await unaware.bulkWrite(world.storeId, [tuple("user:3 reader doc:3"), tuple("user:4 viewer doc:3")])
    expect(await texts(world.storeId)).toEqual([
      "doc:3 reader user:3",
      "doc:3 reader user:4",
      "doc:3 viewer user:3",
      "doc:3 viewer user:4",
    ])
  })

  test("a merged tuple stays while one of its origins does", async () => {
    const world = await worldOf(database(), merging, new Random(1), 0)
    const writer = new TupleWriter(database(), () => undefined)
    const both = [tuple("user:1 editor doc:1"), tuple("user:1 owner doc:1")]
    await writer.write(world.storeId, { ...request, writes: both })
    await writer.write(world.storeId, { ...request, deletes: both.slice(0, 1) })
    expect(await texts(world.storeId)).toEqual(["doc:1 owner user:1", "doc:1 staff user:1"])
    await writer.write(world.storeId, { ...request, deletes: both.slice(1) })
    expect(await texts(world.storeId)).toEqual([])
  })

  test("one transaction copies a bounded part of the tuples that it reads", async () => {
    const names = Array.from({ length: 250 }, (_, at) => `user:${at} viewer doc:1`)
    const world = await worldOf(database(), renaming, new Random(1), 0, names)
    await advanceMoves(database(), "process")
    expect(await listMoves(database())).toMatchObject([{ state: "copying", examined: 200, changed: 200 }])
    await copyAll()
    expect(await stateOf(database())).toEqual(["ready"])
    expect(await texts(world.storeId)).toHaveLength(500)
  })

  test("the feed has what is copied and deleted as ordinary changes, and a process that ended is followed by another", async () => {
    const world = await worldOf(database(), renaming, new Random(1), 0, [
      "user:1 viewer doc:1",
      "user:2 viewer doc:2",
      "user:3 viewer doc:3",
    ])
    expect(await advanceMoves(database(), "first", 2)).toBe(true)
    expect(await advanceMoves(database(), "second", 2)).toBe(false)
    await database().query({
      name: "t-lease",
      text: "update sallyport.tuple_moves set leased_until = now() - interval '1 second'",
    })
    expect(await advanceMoves(database(), "second", 2)).toBe(true)
    expect(await advanceMoves(database(), "first", 2)).toBe(false)
    while (await advanceMoves(database(), "second", 2));
    const changed = await createTupleSource(database()).changes(
      world.storeId,
      { revision: 1, stamp: world.stamp },
      100,
    )
    expect(changed.map(({ operation, row }) => `${operation} ${textOf(keyOf(row))}`)).toEqual([
      "write doc:1 reader user:1",
      "write doc:2 reader user:2",
      "write doc:3 reader user:3",
    ])
    await world.declare(renaming.before)
    await copyAll()
    expect(await texts(world.storeId)).toEqual([...world.expected.keys()].sort())
  })

  test("a plan that would lose access or tuples is refused, and changes nothing", async () => {
    const world = await worldOf(database(), renaming, new Random(1), 0, ["user:1 viewer doc:1"])
    await expect(world.declare(renaming.after)).rejects.toThrow(
      "the tuples of `doc#viewer` are still being copied to `doc#reader`",
    )
    await copyAll()
    await world.declare(renaming.after)
    expect(await finishMoves(database(), "acme")).toEqual({ finishing: 1, waits: ["kept"] })
    await expect(world.declare(renaming.between, renaming.moves)).rejects.toThrow("is finishing")
    await copyAll()
    expect(await texts(world.storeId)).toEqual(["doc:1 reader user:1"])
    await expect(world.declare(renaming.between, renaming.moves)).rejects.toThrow(
      "which the running model does not have",
    )
    await world.declare(renaming.between)
    await expect(world.declare(renaming.between, renaming.moves)).rejects.toThrow(
      "the running model already has `doc#reader`",
    )
    expect(await finishMoves(database(), "acme")).toEqual({ finishing: 0, waits: [] })
  })

  test("two conditions for one copy stop it with the reason, until one of the tuples is gone", async () => {
    const world = await worldOf(database(), merging, new Random(1), 0)
    const writer = new TupleWriter(database(), () => undefined)
    const conditioned: TupleRow = ["doc:1", "owner", "user:1", "", "office_hours", ""]
    await database().query({ name: "t-none", text: "update sallyport.stores set moves = ''" })
    await writer.write(world.storeId, { ...request, writes: [tuple("user:1 editor doc:1"), conditioned] })
    await world.declare(merging.between, merging.moves)
    await copyAll()
    const [failed] = (await listMoves(database())).filter(({ failure }) => failure !== null)
    expect(failed?.failure).toContain("`user:1 staff doc:1` exists with another condition")
    await writer.write(world.storeId, { ...request, deletes: [conditioned] })
    await database().query({ name: "t-again", text: "update sallyport.tuple_moves set leased_until = now()" })
    await copyAll()
    expect(await texts(world.storeId)).toEqual(["doc:1 editor user:1", "doc:1 staff user:1"])
    expect((await listMoves(database())).map(({ state, failure }) => [state, failure])).toEqual([
      ["ready", null],
      ["ready", null],
    ])
  })
})
