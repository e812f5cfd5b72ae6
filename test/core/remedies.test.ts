import { expect, test } from "vitest"
import { catalogue } from "../../compiler/core/catalogue.ts"

// "Correct the line" tells nobody what to write.
test("no remedy only says that something is to be corrected", () => {
  const empty = Object.entries(catalogue).filter(([, { help }]) =>
    /^(?:Correct|Fix|Repair) (?:the )?[\w ]+\.$/.test(help),
  )
  expect(empty.map(([code, { help }]) => `${code} ${help}`)).toEqual([])
})
