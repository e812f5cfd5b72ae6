import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { contextNames, requestContext } from "../../runtime/expression/request-context.ts"
import { projectRoot } from "../structure/tree.ts"

const [, section = ""] =
  /^## What expressions of gateway\.conf may name\n(.*?)^## /ms.exec(
    readFileSync(`${projectRoot}runtime/expression/README.md`, "utf8"),
  ) ?? []
const rows = section.split("\n").filter((line) => line.startsWith("| `"))

test("the page of expressions says what they may name, and the fields of each", () => {
  const { objects } = requestContext({
    section: "on-error",
    pathParameters: [],
    claims: "any",
    subscription: true,
    values: [],
    item: true,
  })
  const said = (name: string) => rows.find((row) => row.split("|")[1]?.includes(`\`${name}\``)) ?? ""
  expect(contextNames.filter((name) => said(name) === "")).toEqual([])
  const missing = Object.entries(objects ?? {}).flatMap(([name, { fields, methods = {} }]) =>
    [...Object.keys(fields), ...Object.keys(methods).map((method) => `${method}(name)`)]
      .filter((field) => !said(name).includes(`\`${field}\``))
      .map((field) => `${name}.${field}`),
  )
  expect(missing).toEqual([])
})
