import { expect, test } from "vitest"
import type { Io } from "../../compiler/cli/io.ts"
import { keepPlanOf } from "../../compiler/cli/settings.ts"

const of = (text: string | undefined) =>
  keepPlanOf({ env: text === undefined ? {} : { SALLYPORT_KEEP_PLAN: text } } as unknown as Io)

test.each([
  [undefined, true],
  ["", true],
  ["on", true],
  ["off", false],
])("SALLYPORT_KEEP_PLAN %j: the plan is kept on disk: %j", (text, kept) => {
  expect(of(text)).toBe(kept)
})

test.each(["no", "OFF", "0"])("SALLYPORT_KEEP_PLAN %s is refused with what to write", (text) => {
  expect(() => of(text)).toThrow(`SALLYPORT_KEEP_PLAN has an unknown value: ${text}`)
})
