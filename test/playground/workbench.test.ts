import { expect, test } from "vitest"
import type { StoreQuestion } from "../../compiler/playground/protocol.ts"
import { Workbench } from "../../compiler/playground/workbench.ts"

const model = `model
  schema 1.1
type user
type group
  relations
    define member: [user]
type doc
  relations
    define viewer: [user, group#member, user with at_work]
condition at_work(hour: int) {
  hour < 18
}
`
const store = `model_file: ./model.fga
tuples:
  - { user: "user:ann", relation: member, object: "group:eng" }
  - { user: "group:eng#member", relation: viewer, object: "doc:1" }
  - { user: "user:bob", relation: viewer, object: "doc:1", condition: { name: at_work } }
tests:
  - name: members view
    check:
      - user: user:ann
        object: doc:1
        assertions: { viewer: true }
      - user: user:eve
        object: doc:1
        assertions: { viewer: true }
`
const texts = { "model.fga": model, "store.fga.yaml": store }

async function opened(given: Readonly<Record<string, string>> = texts) {
  const bench = new Workbench()
  const { analysis } = await bench.open(given)
  const [first] = analysis.stores
  const ask = (question: object) =>
    bench.ask({ store: first?.id ?? "", context: "", relation: "viewer", ...question } as StoreQuestion)
  return { bench, analysis, ask }
}

test("runs the tests of a store file, with the line of each question", async () => {
  const { analysis } = await opened()
  expect(analysis.findings).toEqual([])
  const [test] = analysis.stores[0]?.tests ?? []
  expect(test?.passed).toBe(false)
  expect(test?.questions.map(({ passed, expected, got, line }) => [passed, expected, got, line])).toEqual([
    [true, "allowed", "allowed", 11],
    [false, "allowed", "denied", 14],
  ])
})

test("answers questions with proofs and lists, and says why it cannot", async () => {
  const { ask } = await opened()
  const check = { kind: "check", user: "user:ann", object: "doc:1" }
  expect(await ask(check)).toMatchObject({ kind: "explained", explanation: { allowed: true } })
  const bob = { ...check, user: "user:bob" }
  expect(await ask(bob)).toMatchObject({ explanation: { allowed: false, missing_context: ["hour"] } })
  expect(await ask({ ...bob, context: '{"hour": 9}' })).toMatchObject({ explanation: { allowed: true } })
  expect(await ask({ kind: "objects", user: "user:ann", type: "doc" })).toEqual({
    kind: "list",
    names: ["doc:1"],
  })
  expect(await ask({ kind: "users", object: "doc:1", type: "group#member" })).toEqual({
    kind: "list",
    names: ["group:eng#member"],
  })
  expect(await ask({ ...check, context: "[]" })).toEqual({
    kind: "error",
    message: "the context is not a JSON object",
  })
  expect(await ask({ ...check, context: "{" })).toMatchObject({ kind: "error" })
  expect(await ask({ ...check, relation: "nobody" })).toMatchObject({ kind: "error" })
  expect(await ask({ ...check, store: "other" })).toMatchObject({ kind: "error" })
})

test("finds mistakes in every file once, and keeps working", async () => {
  const { bench, analysis } = await opened({
    "gateway.conf": 'authz { store a { model "model.fga" } }\nwrong\n',
    "model.fga": model.replace("group#member", "grop#member"),
    "store.fga.yaml": store,
  })
  expect(analysis.stores).toEqual([])
  const places = analysis.findings.map(({ path, line }) => `${path}:${line}`)
  expect(places).toContain("model.fga:9")
  expect(places).toContain("gateway.conf:2")
  expect(new Set(analysis.findings.map((each) => JSON.stringify(each))).size).toBe(analysis.findings.length)
  expect((await bench.open(texts)).analysis.findings).toEqual([])
})

test("reads a model without a store, and a modular one", async () => {
  expect(
    (await opened({ "model.fga": "model\n  schema 1.1\ntype doc\n  relations\n    define a: [usr]\n" }))
      .analysis.findings,
  ).toHaveLength(1)
  const modular = await opened({
    "fga.mod": "schema: '1.2'\ncontents:\n  - core.fga\n",
    "core.fga": "module core\ntype user\n",
  })
  expect(modular.analysis.findings).toEqual([])
})
