import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { contextNames, requestContext } from "../../runtime/expression/request-context.ts"
import { projectRoot } from "../structure/tree.ts"

const [, section = ""] =
  /^## Names\n(.*?)^## /ms.exec(readFileSync(`${projectRoot}runtime/docs/expressions.md`, "utf8")) ?? []
/** Rows of the table, and the items of the list below it, which may go on in the next line. */
const rows = section.replace(/\n {2}/g, " ").split("\n")

test("the page of expressions says what they may name, and the fields of each", () => {
  const { objects } = requestContext({
    section: "on-error",
    pathParameters: [],
    claims: "any",
    subscription: true,
    values: [],
    secrets: [],
    item: true,
  })
  const said = (name: string) =>
    rows.filter((row) => row.startsWith(`| \`${name}\` `) || row.startsWith(`- \`${name}\` has`)).join(" ")
  expect(contextNames.filter((name) => said(name) === "")).toEqual([])
  const missing = Object.entries(objects ?? {}).flatMap(([name, { fields, methods = {} }]) =>
    [...Object.keys(fields), ...Object.keys(methods).map((method) => `${method}(name)`)]
      .filter((field) => !said(name).includes(`\`${field}\``))
      .map((field) => `${name}.${field}`),
  )
  expect(missing).toEqual([])
})
