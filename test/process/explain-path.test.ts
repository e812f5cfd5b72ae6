import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { explainOffline } from "../../runtime/gateway/explain/explain-offline.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"

const { plan } = compile(
  new MemoryFiles([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000; trust none }
users staff { user ann ANN }
secret ANN = env(ANN)
api a {
  path "/a"
  auth basic staff
  GET "/{name}.{ext}" { respond 200 }
  GET "/{name}.json" { respond 200 }
  GET "/{id}" { auth none; respond 200 }
}`,
    ],
  ]),
  "gateway.conf",
)

const explained = (target: string) =>
  explainOffline(
    plan as Plan,
    { method: "GET", target, host: "localhost", ip: "127.0.0.1", headers: [], body: undefined },
    { environment: { ANN: "x" }, folder: process.cwd() },
  )

test("a path that could be read in several ways is refused, with the route it would have gone to", async () => {
  const { why, verdict, route, lost } = await explained("/a/x.y.z")
  expect(why).toBe(
    "the parameters of `/a/{name}.{ext}` are ambiguous: the text between them occurs more than once",
  )
  expect(verdict).toMatchObject({ kind: "answered", status: 400, problem: "invalid-path" })
  expect(route).toBeNull()
  expect(lost.map((each) => `${each.loss} ${each.route}: ${each.why}`)).toEqual([
    "less-specific GET /a/{id}: its `{id}` is a parameter; literal text with parameters takes precedence",
  ])
})

test("of two segments with text and parameters the one with more text answers, and that is said", async () => {
  const { why, route, lost } = await explained("/a/x.y.json")
  expect(why).toBe("it is the most specific route that matches")
  expect(route).toMatchObject({ key: "GET /a/{name}.json", parameters: { name: "x.y" } })
  expect(lost.map((each) => `${each.loss} ${each.route}: ${each.why}`)).toEqual([
    "less-specific GET /a/{name}.{ext}: its `{name}.{ext}` has less literal text than `{name}.json`",
    "less-specific GET /a/{id}: its `{id}` is a parameter; literal text with parameters takes precedence",
  ])
})

test("a path that only looks like a protected one is told apart from one that is nowhere", async () => {
  const { why, verdict, lost } = await explained("/a/.JSON")
  expect(why).toContain("differs only by case")
  expect(verdict).toMatchObject({ status: 404 })
  expect(lost.map(({ loss, route }) => `${loss} ${route}`)).toEqual([
    "protection GET /a/{id}",
    "look-alike GET /a/{name}.{ext}",
    "look-alike GET /a/{name}.json",
  ])
})
