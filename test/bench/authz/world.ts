/** A tuple as the API takes it. */
export interface BenchTuple {
  readonly user: string
  readonly relation: string
  readonly object: string
}

const self = { this: {} }
const computed = (relation: string) => ({ computedUserset: { relation } })
const from = (tupleset: string, relation: string) => ({
  tupleToUserset: { tupleset: { relation: tupleset }, computedUserset: { relation } },
})
const people = [{ type: "user" }, { type: "user", wildcard: {} }, { type: "group", relation: "member" }]

/** `can_read: viewer but not blocked`, viewers by person, group, wildcard, owner and the folder above; folders and groups nest. */
export const model = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "group",
      relations: { member: self },
      metadata: {
        relations: {
          member: { directly_related_user_types: [{ type: "user" }, { type: "group", relation: "member" }] },
        },
      },
    },
    {
      type: "folder",
      relations: {
        parent: self,
        owner: self,
        viewer: { union: { child: [self, computed("owner"), from("parent", "viewer")] } },
      },
      metadata: {
        relations: {
          parent: { directly_related_user_types: [{ type: "folder" }] },
          owner: { directly_related_user_types: [{ type: "user" }] },
          viewer: { directly_related_user_types: people },
        },
      },
    },
    {
      type: "doc",
      relations: {
        parent: self,
        owner: self,
        blocked: self,
        viewer: { union: { child: [self, computed("owner"), from("parent", "viewer")] } },
        can_read: { difference: { base: computed("viewer"), subtract: computed("blocked") } },
      },
      metadata: {
        relations: {
          parent: { directly_related_user_types: [{ type: "folder" }] },
          owner: { directly_related_user_types: [{ type: "user" }] },
          blocked: { directly_related_user_types: [{ type: "user" }, { type: "group", relation: "member" }] },
          viewer: { directly_related_user_types: people },
        },
      },
    },
  ],
}

const trees = 280
const deep = 5
const docsPerFolder = 5
/** Groups form trees too: each has four below it, five levels deep. */
const groupTrees = 10
const groupsBelow = 4
const groupsPerTree = 341
const leafGroups = 256
const users = 1_000
/** Every user is a member of so many innermost groups, all of one tree. */
const groupsPerUser = 10
/** Trees that the reader's groups may read: with their documents and the public ones that makes 950. */
const treesOfReader = 36
const publicDocs = 50

/** One of the hundred people of the first tree of groups, who may all read the same 950. */
export const reader = "user:u0"
export const readerDocs = treesOfReader * deep * docsPerFolder + publicDocs

const folder = (tree: number, level: number) => `folder:t${tree}-${level}`
const doc = (tree: number, level: number, at: number) => `doc:t${tree}-${level}-${at}`
/** Number 0 is the outermost of its tree, the last 256 are the innermost. */
const group = (tree: number, number: number) => `group:g${tree}-${number}`
const person = (at: number) => `user:u${at % users}`

/** 38,000 tuples: folders five deep with five documents in each, groups five deep, people in many of them, some blocked. */
export function tuples(): BenchTuple[] {
  const made: BenchTuple[] = []
  const add = (user: string, relation: string, object: string) => made.push({ user, relation, object })
  for (let tree = 0; tree < groupTrees; tree += 1)
    for (let number = 1; number < groupsPerTree; number += 1)
      add(`${group(tree, number)}#member`, "member", group(tree, Math.trunc((number - 1) / groupsBelow)))
  for (let at = 0; at < users; at += 1)
    for (let which = 0; which < groupsPerUser; which += 1)
      add(
        person(at),
        "member",
        group(at % groupTrees, groupsPerTree - 1 - ((at * 7 + which * 13) % leafGroups)),
      )
  for (let tree = 0; tree < trees; tree += 1) {
    add(`${group(readersOf(tree), 0)}#member`, "viewer", folder(tree, 0))
    for (let level = 0; level < deep; level += 1) {
      if (level > 0) add(folder(tree, level - 1), "parent", folder(tree, level))
      add(`user:o${tree}`, "owner", folder(tree, level))
      for (let at = 0; at < docsPerFolder; at += 1) addDoc(add, tree, level, at)
    }
  }
  for (let at = 0; made.length < 38_000; at += 1)
    add(blocked(at), "blocked", doc(at % trees, Math.trunc(at / trees) % deep, at % docsPerFolder))
  return unique(made)
}

/** Single people, and groups that nobody who is asked about is in. */
function blocked(at: number): string {
  return at % 3 > 0 ? `user:b${at % 997}` : `group:blocked${at % 89}#member`
}

function addDoc(
  add: (user: string, relation: string, object: string) => void,
  tree: number,
  level: number,
  at: number,
): void {
  const object = doc(tree, level, at)
  add(folder(tree, level), "parent", object)
  add(`user:o${tree}-${level}-${at}`, "owner", object)
  if (at === 0) add(`user:d${tree}-${level}`, "viewer", object)
  // Public ones only outside of what the reader has already.
  if (tree >= trees - publicDocs && level === 0 && at === 1) add("user:*", "viewer", object)
}

/** The first groups read the first trees; the others share the rest. */
function readersOf(tree: number): number {
  return tree < treesOfReader ? 0 : 1 + ((tree - treesOfReader) % (groupTrees - 1))
}

function unique(made: readonly BenchTuple[]): BenchTuple[] {
  return [
    ...new Map(made.map((tuple) => [`${tuple.object} ${tuple.relation} ${tuple.user}`, tuple])).values(),
  ]
}

/** A request of the API, and how its answer must begin to be a right one. */
export interface Scenario {
  readonly name: string
  readonly path: string
  readonly bodies: readonly string[]
  readonly right: (answer: Record<string, unknown>, body: string) => boolean
}

const variants = 500

/** The scenarios; each with many different questions, so that nothing is measured but the question's kind. */
export function scenarios(): Scenario[] {
  // Neither the reader's trees nor those with public documents.
  const picks = Array.from({ length: variants }, (_, at) => treesOfReader + ((at * 7919) % 190))
  const level = (at: number) => at % deep
  const checks = (
    name: string,
    allowed: boolean,
    keyOf: (tree: number, at: number) => BenchTuple,
  ): Scenario => ({
    name,
    path: "check",
    bodies: picks.map((tree, at) => JSON.stringify({ tuple_key: keyOf(tree, at) })),
    right: (answer) => answer["allowed"] === allowed,
  })
  const key = (user: string, object: string): BenchTuple => ({ user, relation: "can_read", object })
  return [
    checks("direct", true, (tree, at) => key(`user:d${tree}-${level(at)}`, doc(tree, level(at), 0))),
    checks("inherited, allowed", true, (tree, at) =>
      key(memberOf(readersOf(tree), at), doc(tree, deep - 1, 2)),
    ),
    checks("unrelated user", false, (tree, at) =>
      key(memberOf((readersOf(tree) + 7) % groupTrees, at), doc(tree, deep - 1, 2)),
    ),
    checks("stranger", false, (tree, at) => key(`user:stranger${at}`, doc(tree, deep - 1, 2))),
    {
      name: "batch of 50",
      path: "batch-check",
      bodies: picks.slice(0, 50).map((tree, at) => JSON.stringify({ checks: batch(tree, at) })),
      right: (answer) => {
        const result = Object.values(answer["result"] as Record<string, { allowed?: boolean }>)
        return result.length === 50 && result.filter(({ allowed }) => allowed === true).length === 25
      },
    },
    {
      name: `list-objects ${readerDocs}`,
      path: "list-objects",
      bodies: Array.from({ length: users / groupTrees }, (_, at) =>
        JSON.stringify({ type: "doc", relation: "can_read", user: memberOf(0, at) }),
      ),
      right: (answer) => (answer["objects"] as unknown[]).length === readerDocs,
    },
  ]
}

/** One of the hundred people of a tree of groups. */
function memberOf(groupTree: number, which: number): string {
  return person(groupTree + groupTrees * (which % (users / groupTrees)))
}

/** One user against 25 documents that groups let it read and 25 that they don't. */
function batch(tree: number, which: number): object[] {
  const user = memberOf(readersOf(tree), which)
  return Array.from({ length: 50 }, (_, at) => {
    const asked = at < 25 ? tree : tree + 1
    const object = doc(asked, Math.trunc((at % 25) / docsPerFolder), at % docsPerFolder)
    return { correlation_id: `c${at}`, tuple_key: { user, relation: "can_read", object } }
  })
}
