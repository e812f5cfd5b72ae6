import { expect, it } from "vitest"
import { type FileTuple, formatOfFile, tuplesOfFile } from "../../runtime/control/console/page/tuple-file.ts"

const linesOf = (found: Iterable<FileTuple>) =>
  [...found].map((each) =>
    "problem" in each
      ? `${each.line}: ${each.problem}`
      : `${each.line}: ${each.tuple.user} ${each.tuple.relation} ${each.tuple.object}${each.tuple.condition ? JSON.stringify(each.tuple.condition) : ""}`,
  )

it("knows formats by their endings", () => {
  expect(["a.jsonl", "a.NDJSON", "b.csv", "c.json", "d.yaml", "e"].map(formatOfFile)).toEqual([
    ...["jsonl", "jsonl", "csv", "json", undefined, undefined],
  ])
})

it("reads JSON lines and lists, and names what is wrong", () => {
  const ann = '{"user":"user:ann","relation":"viewer","object":"doc:1"}'
  expect(linesOf(tuplesOfFile(`${ann}\n\n{"user":"user:bob"}\n[]`, "jsonl"))).toEqual([
    "1: user:ann viewer doc:1",
    "3: `relation` is missing",
    "4: `user` is missing",
  ])
  for (const text of [`[${ann}]`, `{"tuples":[${ann}]}`, `[{"key":${ann}}]`])
    expect(linesOf(tuplesOfFile(text, "json"))).toEqual(["1: user:ann viewer doc:1"])
  expect(() => linesOf(tuplesOfFile("{}", "json"))).toThrow("not a JSON list")
})

it("reads CSV with quotes, conditions and sets", () => {
  const text = `user_type,user_id,user_relation,relation,object_type,object_id,condition_name,condition_context\r
user,ann,,viewer,doc,1,,
group,eng,member,viewer,doc,"a""b",until,"{""end"": 9,
 ""x"": 1}"
user,bob
user,,,viewer,doc,2,,
`
  expect(linesOf(tuplesOfFile(text, "csv"))).toEqual([
    "2: user:ann viewer doc:1",
    '3: group:eng#member viewer doc:a"b{"name":"until","context":{"end":9,"x":1}}',
    "5: it has 2 columns, and the first line 8",
    "6: user: viewer doc:2",
  ])
  expect(() => linesOf(tuplesOfFile("user,relation\n", "csv"))).toThrow("lacks the columns user_type")
})
