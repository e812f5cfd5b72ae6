import { expect, it } from "vitest"
import { stepsOf, textOfSteps } from "../../runtime/control/console/page/tuple-lines.ts"

it("reads the steps of an edit from an address, and writes them", () => {
  const text = `+user:ann viewer document:1
-group:eng#member viewer folder:2
+user:bob guest document:1 with office_hours {"end":17}
+user:* viewer document:3 with always`
  const steps = stepsOf(text)
  expect(steps.map(({ kind }) => kind)).toEqual(["add", "remove", "add", "add"])
  expect(steps[2]?.tuple).toEqual({
    ...{ user: "user:bob", relation: "guest", object: "document:1" },
    condition: { name: "office_hours", context: { end: 17 } },
  })
  expect(textOfSteps(steps)).toBe(text)
})

it("leaves out what has no such form, and takes the last line of a tuple", () => {
  expect(stepsOf("user:ann viewer document:1\n+a b\n+<img src=x>\n\n")).toEqual([])
  expect(stepsOf("+user:ann viewer doc:1\n-user:ann viewer doc:1").map(({ kind }) => kind)).toEqual([
    "remove",
  ])
  expect(stepsOf("+user:ann viewer doc:1 with c {not json")[0]?.tuple.condition).toEqual({ name: "c" })
})
