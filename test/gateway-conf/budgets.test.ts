import { expect, test } from "vitest"
import { compile } from "../../compiler/compile.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"

function codes(text: string): string[] {
  return compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf").diagnostics.map(
    ({ code }) => code,
  )
}

const head = "gateway g { listen 127.0.0.1:8000; trust none }\n"

function apiWith(count: number): string {
  const operations = Array.from({ length: count }, (_, n) => `  GET "/${n}" { respond 200 }`)
  return `${head}api a {\n  path "/a"\n  auth none\n${operations.join("\n")}\n}\n`
}

test("ten thousand routes are possible, not one more", () => {
  expect(codes(apiWith(10_000))).toEqual([])
  expect(codes(apiWith(10_001))).toEqual(["SP3016"])
})

test("a thousand steps in a row are possible, not one more", () => {
  const api = (count: number) =>
    `${head}api a { path "/a"; auth none; GET "/" { inbound {\n${'header remove "X"\n'.repeat(count)}respond 200 } } }\n`
  expect(codes(api(999))).toEqual([])
  expect(new Set(codes(api(1000)))).toEqual(new Set(["SP3016"]))
})

test("many routes with many steps together have a bound", () => {
  const inbound = `inbound {\n${'header remove "X"\n'.repeat(600)}}`
  const operations = Array.from({ length: 1000 }, (_, n) => `GET "/${n}" { respond 200 }`)
  expect(codes(`${head}api a {\npath "/a"\nauth none\n${inbound}\n${operations.join("\n")}\n}\n`)).toEqual([
    "SP3016",
  ])
})
