import { expect, test } from "vitest"
import { QueryString } from "../../runtime/policies/messages/query-string.ts"

test("stays the text it was until a parameter is changed, and then only there", () => {
  const raw = "a=1&&b=%zz&c&a=2&%6bey=x+y&d=%C3%A9="
  const query = new QueryString(raw)
  expect([
    query.get("a"),
    query.get("b"),
    query.get("c"),
    query.get("key"),
    query.get("d"),
    query.get("none"),
  ]).toEqual(["1", "%zz", "", "x y", "é=", undefined])
  expect(query.text).toBe(raw)
  expect(query.count("a")).toBe(2)
  query.set("a", "&=#é\ud800")
  query.remove("key")
  query.remove("none")
  query.set("new", "")
  expect(query.text).toBe("a=%26%3D%23%C3%A9%EF%BF%BD&b=%zz&c&d=%C3%A9=&new=")
  expect(query.text).toBe("a=%26%3D%23%C3%A9%EF%BF%BD&b=%zz&c&d=%C3%A9=&new=")
})

test("any name may be asked for", () => {
  const values = new QueryString("__proto__=1&constructor=2").values()
  expect(Object.entries(values)).toEqual([
    ["__proto__", "1"],
    ["constructor", "2"],
  ])
  expect(values["toString"]).toBeUndefined()
  expect(new QueryString("").values()).toEqual({})
})
