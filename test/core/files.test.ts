import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { DiskFiles } from "../../compiler/core/disk-files.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project, resolvePath } from "../../compiler/core/load.ts"
import { loadDocuments } from "../../compiler/gateway/include.ts"

const folder = mkdtempSync(join(tmpdir(), "sallyport-files-"))
const root = join(folder, "project")

beforeAll(() => {
  mkdirSync(join(root, "teams/deep"), { recursive: true })
  writeFileSync(join(root, "gateway.conf"), 'include "teams/*.conf"\n')
  writeFileSync(join(root, "teams/b.conf"), "b\n")
  writeFileSync(join(root, "teams/a.conf"), "a\n")
  writeFileSync(join(root, "teams/.c.conf"), "c\n")
  writeFileSync(join(root, "teams/deep/d.conf"), "d\n")
  writeFileSync(join(folder, "outside.conf"), "outside\n")
  writeFileSync(join(folder, "project-two.conf"), "a neighbour whose path begins like the root's\n")
  symlinkSync("teams/a.conf", join(root, "inside-link"))
  symlinkSync("../outside.conf", join(root, "outside-link"))
  symlinkSync("../project-two.conf", join(root, "neighbour-link"))
  symlinkSync("/dev/zero", join(root, "device-link"))
  symlinkSync("nowhere", join(root, "dangling-link"))
  symlinkSync("loop-link", join(root, "loop-link"))
  symlinkSync("..", join(root, "teams/up"))
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(root, "pipe")])
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `[path, what reading it gives]` */
const reads: [string, string][] = [
  ["gateway.conf", 'include "teams/*.conf"\n'],
  ["teams/a.conf", "a\n"],
  ["inside-link", "a\n"],
  ["outside-link", "outside"],
  ["neighbour-link", "outside"],
  ["device-link", "outside"],
  ["../outside.conf", "outside"],
  ["dangling-link", "missing"],
  ["loop-link", "unreadable"],
  ["none.conf", "missing"],
  ["gateway.conf/x", "missing"],
  ["a\0b", "missing"],
  ["n".repeat(5000), "missing"],
  ["teams", "irregular"],
  ["", "outside"],
  // Opened without care, a pipe would wait for its writer for ever.
  ["pipe", "irregular"],
]

describe("files on disk", () => {
  test.each(reads)("read %j", (path, expected) => {
    const result = new DiskFiles(root).read(path, 1000)
    expect(result.kind === "bytes" ? new TextDecoder().decode(result.bytes) : result.reason).toBe(expected)
  })

  test("read no more than allowed", () => {
    const read = (bytesMax: number): string => {
      const result = new DiskFiles(root).read("gateway.conf", bytesMax)
      return result.kind === "bytes" ? "bytes" : result.reason
    }
    expect([read(22), read(23)]).toEqual(["large", "bytes"])
  })

  test("match patterns, sorted, without dot files and without following folders' links", () => {
    const glob = (pattern: string): readonly string[] => new DiskFiles(root).glob(pattern).paths
    expect(glob("teams/*.conf")).toEqual(["teams/a.conf", "teams/b.conf"])
    expect(glob("**/*.conf")).toEqual(["gateway.conf", "teams/a.conf", "teams/b.conf", "teams/deep/d.conf"])
    expect(glob("teams/.*")).toEqual(["teams/.c.conf"])
    expect(glob("teams/?.conf")).toEqual(["teams/a.conf", "teams/b.conf"])
    expect(glob("none/*")).toEqual([])
    expect(glob("*-link")).toEqual([
      "dangling-link",
      "inside-link",
      "loop-link",
      "neighbour-link",
      "outside-link",
    ])
  })

  test("are a project", () => {
    const report = new Report()
    const documents = loadDocuments(new Project(new DiskFiles(root), report), "gateway.conf", report)
    expect(documents.map((document) => document.file.path)).toEqual([
      "gateway.conf",
      "teams/a.conf",
      "teams/b.conf",
    ])
    expect(report.sorted()).toEqual([])
  })

  test("of a folder that is not there are missing", () => {
    const files = new DiskFiles(join(folder, "none"))
    expect(files.read("gateway.conf", 10)).toMatchObject({ reason: "missing" })
    expect(files.glob("*")).toEqual({ paths: [], problem: undefined })
  })
})

test("memory and disk agree on patterns", () => {
  const paths = ["gateway.conf", "teams/a.conf", "teams/b.conf", "teams/.c.conf", "teams/deep/d.conf"]
  const memory = new MemoryFiles(paths.map((path) => [path, ""] as const))
  for (const pattern of [
    "*",
    "*.conf",
    "**",
    "**/*.conf",
    "t*/a*",
    "**/deep/**",
    "**/**/d.conf",
    "teams/**",
    "?eams/*b*f",
  ])
    expect(memory.glob(pattern).paths, pattern).toEqual(
      new DiskFiles(root).glob(pattern).paths.filter((path) => paths.includes(path)),
    )
})

/** `[file, path as written, path from the root]` */
const resolutions: [string, string, string | undefined][] = [
  ["gateway.conf", "models/acme.fga", "models/acme.fga"],
  ["teams/a.conf", "b.conf", "teams/b.conf"],
  ["teams/a.conf", "../models/acme.fga", "models/acme.fga"],
  ["teams/a.conf", "./x//y/../z", "teams/x/z"],
  ["teams/a.conf", "../../x", undefined],
  ["gateway.conf", "..", undefined],
  ["gateway.conf", "/etc/passwd", undefined],
  ["gateway.conf", "C:\\x", undefined],
  ["gateway.conf", "\\\\host\\x", undefined],
]

test.each(resolutions)("in %s, %j is %j", (from, path, expected) => {
  expect(resolvePath(from, path)).toBe(expected)
})
