import { expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { MemorySource } from "./memory-source.ts"

const model = loadModel(
  lowerModel({
    schema_version: "1.1",
    type_definitions: [
      { type: "user" },
      {
        type: "group",
        relations: { member: { this: {} } },
        metadata: {
          relations: {
            member: {
              directly_related_user_types: [{ type: "user" }, { type: "group", relation: "member" }],
            },
          },
        },
      },
      {
        type: "doc",
        relations: {
          parent: { this: {} },
          owner: { this: {} },
          blocked: { this: {} },
          viewer: {
            difference: {
              base: {
                union: {
                  child: [
                    { this: {} },
                    { computedUserset: { relation: "owner" } },
                    {
                      tupleToUserset: {
                        tupleset: { relation: "parent" },
                        computedUserset: { relation: "viewer" },
                      },
                    },
                  ],
                },
              },
              subtract: { computedUserset: { relation: "blocked" } },
            },
          },
        },
        metadata: {
          relations: {
            parent: { directly_related_user_types: [{ type: "doc" }] },
            owner: { directly_related_user_types: [{ type: "user" }] },
            blocked: {
              directly_related_user_types: [{ type: "user" }, { type: "group", relation: "member" }],
            },
            viewer: {
              directly_related_user_types: [
                { type: "user", wildcard: {} },
                { type: "group", relation: "member" },
              ],
            },
          },
        },
      },
    ],
  }),
)

const key = (text: string): TupleKey => {
  const [object = "", relation = "", user = ""] = text.split(/ +/)
  return { object, relation, user }
}

test("answers over a whole graph", async () => {
  const source = new MemorySource()
  source.write(
    ...[
      "doc:1 owner user:ann",
      "doc:2 parent doc:1",
      "doc:2 viewer group:a#member",
      "group:a member group:b#member",
      "group:b member group:a#member",
      "group:b member user:bob",
      "doc:3 viewer user:*",
      "doc:3 blocked group:a#member",
    ].map(key),
  )
  const engine = new Engine(source)
  const asks: [string, boolean][] = [
    ["doc:1 viewer user:ann", true],
    ["doc:2 viewer user:ann", true],
    ["doc:2 viewer user:bob", true],
    ["doc:1 viewer user:bob", false],
    ["doc:3 viewer user:bob", false],
    ["doc:3 viewer user:cat", true],
    ["doc:3 viewer user:*", true],
    ["doc:2 viewer group:b#member", true],
    ["group:zz member group:zz#member", true],
  ]
  for (const [text, allowed] of asks) {
    const { user, relation, object } = key(text)
    const answer = await engine.check("s", model, { user, relation, object })
    expect([text, answer.allowed]).toEqual([text, allowed])
    const explained = await engine.check("s", model, { user, relation, object, explain: true })
    expect([text, explained.allowed]).toEqual([text, allowed])
  }
  engine.close()
})
