import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { compile } from "../compile.ts"
import { reduced } from "../support/random-run.ts"

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

test("a hundred thousand routes are possible, not more", () => {
  expect(codes(apiWith(reduced(1_001, 10_001)))).toEqual([])
  const versions = Array.from({ length: 51 }, (_, n) => `version v${n} {}`).join("\n")
  expect(codes(apiWith(2_000).replace("auth none", `auth none\n${versions}`))).toEqual(["SP3016"])
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

test("values and policies that double each other end early", () => {
  const chain = (from: (n: number) => string, count: number) =>
    Array.from({ length: count }, (_, n) => from(n)).join("\n")
  const api = 'api a { path "/a"; auth none; GET "/" { respond 200 { header "X" v0 } } }\n'
  const doubling = `${chain((n) => `value v${n} = "\${v${n + 1}}\${v${n + 1}}"`, 60)}\nvalue v60 = `
  expect(codes(`${head}${api}${doubling}"x"\n`)).toContain("SP3016")
  expect(codes(`${head}${api}${doubling}env(X)\n`)).toContain("SP3016")
  expect(
    codes(`${head}${api}${chain((n) => `value v${n} = "\${v${n + 1}}"`, 900)}\nvalue v900 = "x"\n`),
  ).toContain("SP3016")
  expect(codes(`${head}${chain((n) => `value v${n} = "x"`, 1001)}\n`)).toContain("SP3016")
  const policies = chain(
    (n) => `policy p${n} { use q${n + 1} r${n + 1} }\npolicy q${n} { use p${n} }\npolicy r${n} { use p${n} }`,
    40,
  )
  const using = 'api a { path "/a"; auth none; use p0; GET "/" { respond 200 } }'
  expect(
    codes(`${head}${using}\n${policies}\npolicy p40 { }\npolicy q40 { use p40 }\npolicy r40 { use p40 }\n`),
  ).toContain("SP3016")
})

test("policies that use each other in a long row or in circles end early, each mistake told once", () => {
  const policies = (count: number, next: (n: number) => number) =>
    Array.from({ length: count }, (_, n) => `policy p${n} { use p${next(n)} }\n`).join("")
  const using = 'api a { path "/a"; auth none; use p0; GET "/" { respond 200 } }\n'
  expect(
    codes(`${head}${using}${policies(63, (n) => n + 1)}policy p63 { outbound { header remove "X" } }\n`),
  ).toEqual([])
  expect(
    codes(`${head}${using}${policies(65, (n) => n + 1)}policy p65 { outbound { header remove "X" } }\n`),
  ).toEqual(["SP3016"])
  for (const count of [1, 2, 20])
    expect(codes(head + using + policies(count, (n) => (n + 1) % count))).toEqual(["SP2015"])
  expect(new Set(codes(head + using + policies(10_000, (n) => (n + 1) % 10_000)))).toEqual(
    new Set(["SP3016"]),
  )
})

test("thousands of listeners are one finding", () => {
  const listen = Array.from({ length: 20_000 }, (_, n) => `listen 127.0.0.1:${n + 1}`).join("\n")
  expect(codes(`gateway g {\ntrust none\n${listen}\n}\n`)).toEqual(["SP3016"])
})

test("thousands of mistakes are found in reasonable time", () => {
  const count = reduced(600, 3_000)
  const names = Array.from({ length: count }, (_, n) => `backend b${n} { url "http://127.0.0.1:1" }\n`).join(
    "",
  )
  const operations = Array.from({ length: count }, (_, n) => `  GET "/${n}" { backend c${n} }\n`).join("")
  const found = codes(`${head}${names}api a {\n  path "/a"\n  auth none\n${operations}}\n`)
  expect(found.filter((code) => code === "SP2012")).toHaveLength(count)
  const more = Array.from(
    { length: 5 * count },
    (_, n) => `subscription s${n} { product p; key k${n} }\n`,
  ).join("")
  expect(codes(`${head}${names}${more}`).filter((code) => code === "SP2012").length).toBe(10 * count)
})

test("versions times operations have a bound", () => {
  const versions = Array.from({ length: 2000 }, (_, n) => `version v${n}`).join("\n")
  const operations = Array.from({ length: 2000 }, (_, n) => `GET "/${n}" { respond 200 }`).join("\n")
  expect(codes(`${head}api a {\npath "/a"\nauth none\n${versions}\n${operations}\n}\n`)).toEqual(["SP3016"])
})

test("a published document has a bound", () => {
  const project = (length: number) => {
    const info = { title: "a", version: "1", description: "x".repeat(length) }
    const document = {
      openapi: "3.1.0",
      info,
      paths: { "/": { get: { responses: { 200: { description: "ok" } } } } },
    }
    const text = `${head}portal { listen 127.0.0.1:8090; apis a }\napi a { path "/a"; auth none; openapi "a.json"; GET "/" { respond 200 } }\n`
    const files = new MemoryFiles([
      ["gateway.conf", text],
      ["a.json", JSON.stringify(document)],
    ])
    return compile(files, "gateway.conf").diagnostics.map(({ code }) => code)
  }
  expect(project(4_000_000)).toEqual([])
  expect(project(4_200_000)).toEqual(["SP3016"])
})
