import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { demandFree, listenerOf } from "../../compiler/cli/dev/addresses.ts"
import { developmentValues } from "../../compiler/cli/dev/development-values.ts"
import { humanLine, isRefusal } from "../../compiler/cli/dev/human-log.ts"
import { readSampleTuples } from "../../compiler/cli/dev/sample-tuples.ts"
import { WatchedFiles } from "../../compiler/cli/dev/watched-files.ts"
import { runningText, trialsOf, tryText } from "../../compiler/cli/views/dev.ts"
import { DiskFiles } from "../../compiler/core/disk-files.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"
import { projectRoot } from "../structure/tree.ts"
import { folderWith } from "./run.ts"

const bytesMax = 1_000_000

describe("watched files", () => {
  test("what was read, what was missing, and what a pattern matches", () => {
    const folder = folderWith({ "a.conf": "one", "teams/x.conf": "x" })
    const look = () => {
      const files = new WatchedFiles(folder)
      files.read("a.conf", bytesMax)
      files.read("b.conf", bytesMax)
      files.glob("teams/*.conf")
      return files
    }
    const changes: [string, () => void][] = [
      ["another content", () => writeFileSync(join(folder, "a.conf"), "other")],
      ["a missing file that comes", () => writeFileSync(join(folder, "b.conf"), "")],
      ["a new match", () => writeFileSync(join(folder, "teams/y.conf"), "")],
      ["a match that goes", () => rmSync(join(folder, "teams/y.conf"))],
      ["a file that goes", () => rmSync(join(folder, "b.conf"))],
    ]
    for (const [what, change] of changes) {
      const files = look()
      expect(files.changed(), what).toBe(false)
      change()
      expect(files.changed(), what).toBe(true)
    }
    const files = look()
    writeFileSync(join(folder, "other.txt"), "not ours")
    expect(files.changed()).toBe(false)
  })

  test("a file that is replaced by one of the same size and time", () => {
    const folder = folderWith({ "a.conf": "one", new: "two" })
    const { atime, mtime } = statSync(join(folder, "a.conf"))
    const files = new WatchedFiles(folder)
    files.read("a.conf", bytesMax)
    utimesSync(join(folder, "new"), atime, mtime)
    renameSync(join(folder, "new"), join(folder, "a.conf"))
    expect(files.changed()).toBe(true)
  })
})

describe("sample tuples", () => {
  const read = (content: string | Uint8Array | undefined) =>
    readSampleTuples(new MemoryFiles(content === undefined ? [] : [["models/s.tuples.json", content]]), "s")

  test("a list of tuples, with conditions", () => {
    const tuple = { user: "user:ann", relation: "owner", object: "order:1" }
    expect(read(undefined)).toBeUndefined()
    expect(read(JSON.stringify([tuple, { ...tuple, condition: { name: "c" } }]))).toEqual([
      tuple,
      { ...tuple, condition: { name: "c", context: {} } },
    ])
  })

  test.each([
    ["no JSON", "[", /is not JSON/],
    ["no list", "{}", /expected array/],
    ["an unknown key", '[{"user":"a","relation":"b","object":"c","x":1}]', /\[0\].*"x"/],
    ["a key that is missing", '[{"user":"a","relation":"b"}]', /\[0\]\.object/],
    ["binary", new Uint8Array([0, 1]), /NUL/],
  ])("%s", (_, content, message) => {
    expect(read(content)).toMatch(message)
  })
})

test("secrets whose variable is not set get a value anybody can guess; others do not", () => {
  const plan = {
    secrets: {
      a: { env: "ACME_CI_KEY" },
      b: { env: "ACME_CI_KEY" },
      c: { env: "SET" },
      d: { env: "WITH_DEFAULT", default: "x" },
      e: { file: "key.txt" },
    },
  } as unknown as PlanBody
  expect(developmentValues(plan, { SET: "" })).toEqual([{ name: "ACME_CI_KEY", value: "dev-acme-ci-key" }])
})

test("keys of sessions are long enough, and clients of the development identity provider have its secret", () => {
  const client = (name: string, secret: string, key: string) => ({
    ...{ client: name, secret, sessionKeys: [{ secret: key }] },
  })
  const env = (name: string) => ({ env: name })
  const plan = {
    secrets: { a: env("WEB"), b: env("KEY"), c: env("PORTAL"), d: env("PORTAL_KEY"), e: env("OTHER") },
    oidcClients: { web: client("web", "a", "b"), other: client("elsewhere", "e", "b") },
    portal: { signIn: { client: client("web", "c", "d") } },
  } as unknown as PlanBody
  expect(developmentValues(plan, {})).toEqual([
    { name: "KEY", value: "dev-key-dev-key-dev-key-dev-key-dev-key" },
    { name: "OTHER", value: "dev-other" },
    { name: "PORTAL", value: "web-secret" },
    { name: "PORTAL_KEY", value: "dev-portal-key-dev-portal-key-dev-portal-key" },
    { name: "WEB", value: "web-secret" },
  ])
})

describe("addresses", () => {
  test("all that are in use are named at once, with who has them where the system tells", async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as { port: number }
    const at = { host: "127.0.0.1", port }
    const wanted = [
      { what: "one", at, move: "move one" },
      { what: "two", at, move: "move two" },
      { what: "three", at: { host: "192.0.2.1", port }, move: "move three" },
    ]
    const message = await demandFree(wanted).then(
      () => "",
      (error: Error) => error.message,
    )
    server.close()
    expect(message).toMatch(
      /^cannot listen on 3 addresses:\n.* for one is in use.*; move one\n.* for two .*\n.* for three is not available/,
    )
    if (process.platform === "linux") expect(message).toContain(`process ${process.pid} (`)
  })

  test("a free one is not a problem, and nobody listens there", async () => {
    await demandFree([{ what: "one", at: { host: "127.0.0.1", port: 0 }, move: "" }])
    expect(listenerOf(1)).toBeUndefined()
  })
})

describe("lines of the log for people", () => {
  test.each([
    [
      '{"level":"info","time":"2026-01-02T03:04:05Z","request_id":"r","method":"GET","path":"/x","status":403,"ms":1.25,"problem":"forbidden","decision":{"store":"s","user":"user:bob","relation":"viewer","object":"order:1","allowed":false,"revision":3}}',
      "GET /x 403 1.25 ms  forbidden, user:bob is not viewer of order:1\n",
    ],
    ['{"level":"info","method":"GET","path":"/x","status":200,"ms":1}', "GET /x 200 1 ms\n"],
    [
      '{"level":"info","method":"GET","path":"/a/1","status":404,"ms":1,"target":"http://127.0.0.1:3000","target_path":"/1"}',
      "GET /a/1 404 1 ms  from http://127.0.0.1:3000/1\n",
    ],
    [
      '{"level":"info","method":"GET","path":"/x","status":403,"ms":1,"problem":"forbidden","answered_by":{"step":"require","place":"gateway.conf:20"}}',
      "GET /x 403 1 ms  forbidden, gateway.conf:20\n",
    ],
    [
      '{"level":"warn","time":"t","issuer":"acme","ready":false,"msg":"the issuer is unavailable"}',
      "warn: the issuer is unavailable issuer=acme ready=false\n",
    ],
    ["no JSON\n", "no JSON\n"],
  ])("%s", (line, expected) => {
    expect(humanLine(line)).toBe(expected)
  })
})

test.each([
  [200, false],
  [302, false],
  [401, true],
  [502, true],
  [0, true],
])("a request with status %s is shown without --verbose: %s", (status, expected) => {
  expect(isRefusal(JSON.stringify({ method: "GET", path: "/x", status }))).toBe(expected)
})

describe("lines to try", () => {
  const places = {
    gateway: ["http://127.0.0.1:8000"],
    authz: ["http://127.0.0.1:8080"],
    portal: [],
    control: "http://127.0.0.1:8082",
    identity: "http://127.0.0.1:8081",
    backends: ["http://127.0.0.1:9001", "http://127.0.0.1:9002"],
    database: "",
  } as const
  const { plan } = compile(new DiskFiles(projectRoot), "gateway.conf")

  test("the developer portal is in the list if there is one", () => {
    expect(runningText(places, 1, 1)).not.toContain("portal")
    const portal = ["http://127.0.0.1:8090"]
    expect(runningText({ ...places, portal }, 1, 1)).toMatch(/developer portal +http:\/\/127\.0\.0\.1:8090 /)
  })

  test("a key of the user's own is not printed", () => {
    const lines = (env: Record<string, string>) =>
      trialsOf(plan?.plan as PlanBody, places, env, "gateway.conf")
        .map(({ line }) => line)
        .join("\n")
    expect(lines({ ACME_CI_KEY: "dev-acme-ci-key" })).toContain("dev-acme-ci-key")
    expect(lines({ ACME_CI_KEY: "4f0c" })).not.toContain("4f0c")
    expect(lines({ ACME_CI_KEY: "4f0c" })).toContain("$ACME_CI_KEY")
  })

  test("another project gets only those that work there", () => {
    const other = { ...(plan?.plan as PlanBody), routes: {}, authz: null }
    const trials = trialsOf(other, { ...places, authz: [] }, {}, "gateway.conf")
    expect(trials.map(({ text }) => text)).toEqual(["request a token, as from Keycloak"])
    const [issuer] = Object.values(other.issuers)
    const elsewhere = { ...issuer, source: { discovery: "https://id.example" } } as NonNullable<typeof issuer>
    const own = { ...other, issuers: { elsewhere } }
    expect(trialsOf(own, { ...places, authz: [] }, {}, "gateway.conf")).toEqual([])
    const small = tryText({ ...other, issuers: {} }, { ...places, authz: [] }, {}, "gateway.conf")
    expect(small).toMatch(/^\nChanges saved in gateway\.conf /)
  })
})
