import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { folderWith, run } from "./run.ts"

const gateway = `gateway demo {
  listen "127.0.0.1:8000"
}
authz {
  listen "127.0.0.1:8080"
  store docs {
    model "docs.fga"
  }
}
issuer acme {
  discovery "https://id.example.com"
  audience "demo"
}
backend docs {
  url "http://127.0.0.1:9000"
}
api docs {
  path "/docs"
  auth jwt acme
  backend docs
  GET "/{id}" {
    require can_read of "doc:\${path.id}" for "user:\${jwt.sub}"
  }
}
`
const model = `model
  schema 1.1
type user
type group
  relations
    define member: [user]
type folder
  relations
    define editor: [user, group#member]
    define viewer: [user]
type doc
  relations
    define parent: [folder]
    define blocked: [user]
    define viewer: [user, user with office] or viewer from parent
    define can_read: viewer but not blocked
    define old: [group#member]
condition office(at_work: bool) {
  at_work
}
`
const tuples = [
  ["user:ann", "member", "group:eng"],
  ["user:bob", "member", "group:eng"],
  ["group:eng#member", "editor", "folder:1"],
  ["folder:1", "parent", "doc:1"],
  ["user:bob", "blocked", "doc:1"],
  ["user:cat", "viewer", "doc:2"],
  ["group:eng#member", "old", "doc:2"],
]
const lines = [
  ...tuples.map(([user, relation, object]) => ({ user, relation, object })),
  { user: "user:dan", relation: "viewer", object: "doc:2", condition: { name: "office" } },
]
  .map((tuple) => `${JSON.stringify(tuple)}\n`)
  .join("")

/** A folder with a plan of the old model, and the text of the new one. */
async function changedProject(next: string): Promise<string> {
  const cwd = folderWith({ "gateway.conf": gateway, "docs.fga": model, "tuples.jsonl": lines })
  const { err, code } = await run({ cwd }, "plan", "--against", "empty", "--out", "old.json")
  expect(code, err).toBe(2)
  writeFileSync(join(cwd, "docs.fga"), next)
  return cwd
}

const opened = model
  .replace("define viewer: [user]\ntype doc", "define viewer: [user] or editor\ntype doc")
  .replace("    define old: [group#member]\n", "")
  .replace("[user, user with office]", "[user, user with office, user:*]")

/** What the change of the model means. */
const told = `people of store docs
  8 tuples of tuples.jsonl
  doc#can_read  docs.fga:16
    + 1 gain of named users
    + 1 gain of sets as users
    on 1 object
    user:ann gains can_read on doc:1
      before: denied, nothing grants it
      after: allowed
        doc:1#can_read: but not
          doc:1#viewer: tuple folder:1 parent doc:1
            folder:1#viewer: computed
              folder:1#editor: tuple group:eng#member editor folder:1
                group:eng#member: tuple user:ann member group:eng
          not doc:1#blocked: nothing grants it
    require: GET /docs/{id}
    AuthZEN: action \`can_read\` on \`doc\`
  doc#old
    removed relation
    - 2 losses of named users
      members of group:eng (2) on 1 object
    - 1 loss of sets as users
    on 1 object
    user:ann, one of the members of group:eng (2), loses old on doc:2
      before: allowed
        doc:2#old: tuple group:eng#member old doc:2
          group:eng#member: tuple user:ann member group:eng
      after: denied, nothing grants it
    AuthZEN: action \`old\` on \`doc\`
  doc#viewer  docs.fga:15:45
    + 2 gains of named users
      members of group:eng (2) on 1 object
    + 1 gain of sets as users
    on 1 object
    user:ann, one of the members of group:eng (2), gains viewer on doc:1
      before: denied, nothing grants it
      after: allowed
        doc:1#viewer: tuple folder:1 parent doc:1
          folder:1#viewer: computed
            folder:1#editor: tuple group:eng#member editor folder:1
              group:eng#member: tuple user:ann member group:eng
    AuthZEN: action \`viewer\` on \`doc\`
  folder#viewer  docs.fga:10:30
    + 2 gains of named users
      members of group:eng (2) on 1 object
    + 1 gain of sets as users
    on 1 object
    user:ann, one of the members of group:eng (2), gains viewer on folder:1
      before: denied, nothing grants it
      after: allowed
        folder:1#viewer: computed
          folder:1#editor: tuple group:eng#member editor folder:1
            group:eng#member: tuple user:ann member group:eng
    AuthZEN: action \`viewer\` on \`folder\`
  largest causes
    group:eng#member editor folder:1 (2 users): + 5 gains on 2 objects
    group:eng#member old doc:2 (2 users): - 2 losses on 1 object
  1 tuple of the shape \`group#member old doc:…\` will be ignored: the new model does not allow them

People of docs: 5 gains, 2 losses; 2 users with gains, 2 with losses; 3 objects.
`

test("plan tells who gains and loses access over the tuples of a file", async () => {
  const cwd = await changedProject(opened)
  const { out, err, code } = await run(
    { cwd },
    ...["plan", "--against", "old.json", "--tuples", "tuples.jsonl", "--full", "rows.jsonl"],
  )
  expect(err).toBe("")
  expect(code).toBe(2)
  expect(out.slice(out.indexOf("people of store"))).toContain(told)
  const rows = readFileSync(join(cwd, "rows.jsonl"), "utf8").trim().split("\n")
  expect(
    rows
      .map((row) => JSON.parse(row))
      .map(({ user, relation, object, change }) => `${user} ${change} ${relation} on ${object}`)
      .sort(),
  ).toMatchInlineSnapshot(`
    [
      "group:eng#member gains doc#can_read on doc:1",
      "group:eng#member gains doc#viewer on doc:1",
      "group:eng#member gains folder#viewer on folder:1",
      "group:eng#member loses doc#old on doc:2",
      "user:ann gains doc#can_read on doc:1",
      "user:ann gains doc#viewer on doc:1",
      "user:ann gains folder#viewer on folder:1",
      "user:ann loses doc#old on doc:2",
      "user:bob gains doc#viewer on doc:1",
      "user:bob gains folder#viewer on folder:1",
      "user:bob loses doc#old on doc:2",
    ]
  `)
})

test("the place of a change of a model is in the model's file", async () => {
  const cwd = await changedProject(opened)
  const { out } = await run({ cwd }, "plan", "--against", "old.json", "--json")
  const origins = (JSON.parse(out) as { subject: { name: string }; origin: string | null }[]).map(
    ({ subject, origin }) => `${subject.name} ${origin}`,
  )
  expect(origins).toContain("folder#viewer docs.fga:10:30")
})

test("JSON has the people as an element of the changes, Markdown as a table", async () => {
  const cwd = await changedProject(opened)
  const words = ["plan", "--against", "old.json", "--tuples", "tuples.jsonl"]
  const json = JSON.parse((await run({ cwd }, ...words, "--json")).out) as { subject: { kind: string } }[]
  expect(json.find(({ subject }) => subject.kind === "people")).toMatchObject({
    risk: "opens",
    routes: ["GET /docs/{id}"],
    people: {
      ...{ source: "tuples.jsonl", revision: null, tuples: 8 },
      causes: [{ subject: "group:eng#member", relation: "editor", object: "folder:1", users: 2 }, {}],
    },
  })
  const { out } = await run({ cwd }, ...words, "--format", "markdown")
  expect(out).toContain(
    "| `folder#viewer` | + 2 gains of named users<br>members of group:eng (2) on 1 object<br>",
  )
  expect(out).toContain("- largest causes\n  - group:eng#member editor folder:1 (2 users): + 5 gains")
})

test("without a change of the model there is nothing to tell", async () => {
  const cwd = await changedProject(model)
  const { out } = await run({ cwd }, "plan", "--against", "old.json", "--tuples", "tuples.jsonl")
  expect(out).not.toContain("people")
})

test("a tuple that is none is named with its line", async () => {
  const cwd = await changedProject(opened)
  writeFileSync(join(cwd, "tuples.jsonl"), `${lines}{"user": "user:x"}\n`)
  const { err } = await run({ cwd }, "plan", "--against", "old.json", "--tuples", "tuples.jsonl")
  expect(err).toContain("tuples.jsonl:9: a tuple needs `user`, `relation` and `object`")
})

test("the place of a changed definition is that of its branch", async () => {
  const placeOf = async (before: string, after: string) => {
    const reader = (text: string) => model.replace("viewer but not blocked", text)
    const cwd = folderWith({ "gateway.conf": gateway, "docs.fga": reader(before), "tuples.jsonl": lines })
    await run({ cwd }, "plan", "--against", "empty", "--out", "old.json")
    writeFileSync(join(cwd, "docs.fga"), reader(after))
    const { out, err } = await run({ cwd }, "plan", "--against", "old.json", "--tuples", "tuples.jsonl")
    return /doc#can_read {2}(docs\.fga\S*)/.exec(out)?.[1] ?? out + err
  }
  expect(await placeOf("viewer or old", "viewer or blocked or old")).toBe("docs.fga:16:32")
  expect(await placeOf("viewer or blocked or old", "old or viewer")).toBe("docs.fga:16")
  expect(await placeOf("viewer or (old but not blocked)", "viewer or (blocked but not old)")).toBe(
    "docs.fga:16:33",
  )
  expect(await placeOf("viewer", "old or viewer")).toBe("docs.fga:16:22")
  expect(await placeOf("blocked but not viewer", "blocked or viewer")).toBe("docs.fga:16")
  expect(await placeOf("[user] or blocked", "[user,\n      group#member] or viewer")).toBe("docs.fga:17:24")
  expect(await placeOf("[user] or viewer", "[user,\n      group#member] or viewer")).toContain(
    "nobody gains or loses access",
  )
})
