import { expect, test } from "vitest"
import { HeaderList } from "../../runtime/policies/messages/header-list.ts"

test("sets in place, appends at the end, removes every line", () => {
  const headers = new HeaderList(["a", "1", "b", "2", "a", "3", "c", "4", "a", "5"])
  expect([headers.get("a"), headers.count("a"), headers.get("z"), headers.count("z")]).toEqual([
    "1",
    3,
    undefined,
    0,
  ])
  headers.set("a", "x")
  expect(headers.flat).toEqual(["a", "x", "b", "2", "c", "4"])
  headers.append("b", "6")
  headers.set("d", "7")
  headers.remove("b")
  headers.remove("z")
  expect(headers.flat).toEqual(["a", "x", "c", "4", "d", "7"])
})
