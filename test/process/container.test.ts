import { execFile, spawn } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterEach, expect, test } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { createDatabase, describePostgres } from "../postgres.ts"
import { projectRoot } from "../structure/tree.ts"
import { restOf, stages, text } from "../support/containerfile.ts"
import { freePort } from "../support/free-port.ts"
import { until } from "../support/until.ts"

const [build = [], final = []] = stages
const wordsOf = (word: string) => JSON.parse(restOf(final, word).at(-1) ?? "[]") as string[]

test("the image is built by npm ci, and its last stage has a number for a user, the package's version and no package manager's work", () => {
  expect(stages).toHaveLength(2)
  expect(restOf(build, "RUN").join()).toMatch(
    /^--mount=type=secret,id=npmrc,target=\/root\/\.npmrc npm ci --ignore-scripts\b.* && node compiler\/cli\/build\.mjs$/,
  )
  for (const copied of restOf(build, "COPY"))
    for (const path of copied.split(" ").slice(0, -1))
      expect(filesOf(projectRoot + path), path).toHaveLength(1)
  expect(restOf(final, "USER")).toEqual(["1000:1000"])
  expect(restOf(final, "LABEL").join()).toContain(`org.opencontainers.image.version="${manifest.version}"`)
  expect(restOf(final, "RUN").join()).not.toContain("npm")
  // A platform may replace the user by a random one of group 0.
  expect(restOf(final, "RUN").join()).toMatch(/chown 1000:0 (\S+) && chmod 770 \1$/)
  expect(restOf(final, "COPY").every((rest) => rest.startsWith("--from=build /build/"))).toBe(true)
  expect(wordsOf("CMD")).toEqual(["serve"])
  for (const [image] of [build, final].map((stage) => restOf(stage, "FROM")))
    expect(image).toMatch(/^\$\{NODE_IMAGE\}( AS build)?$/)
  expect(text).toMatch(/^ARG NODE_IMAGE=docker\.io\/library\/node:22-[a-z-]+$/m)
})

test("every page that is built is in the image and in the package", () => {
  const built = readdirSync(`${projectRoot}dist`).filter((name) =>
    existsSync(`${projectRoot}dist/${name}/index.html`),
  )
  expect(built).toContain("console")
  for (const page of built) {
    expect(manifest.files).toContain(`dist/${page}`)
    expect(restOf(final, "COPY")).toContain(`--from=build /build/dist/${page} ./dist/${page}`)
  }
})

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** The files a COPY means; a star stands for the beginning of a name. */
function filesOf(path: string): string[] {
  const [, ending] = /\/\*([^/*]*)$/.exec(path) ?? []
  if (ending === undefined) return existsSync(path) ? [path] : []
  const folder = dirname(path)
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
}

function everythingIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path))
}

/** What the last stage copies, in a folder that nobody may write to. */
function unpacked(): string {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-image-"))
  stops.push(() => {
    for (const path of everythingIn(folder)) chmodSync(path, 0o755)
    rmSync(folder, { recursive: true, force: true })
  })
  for (const copied of restOf(final, "COPY")) {
    const [, ...paths] = copied.split(" ")
    const to = paths.pop() ?? ""
    const sources = paths.flatMap((from) => {
      const found = filesOf(projectRoot + from.replace("/build/", ""))
      expect(found.length, from).toBeGreaterThan(0)
      return found
    })
    for (const source of sources) {
      const target = join(folder, to.endsWith("/") ? join(to, basename(source)) : to)
      mkdirSync(dirname(target), { recursive: true })
      cpSync(source, target, { recursive: true })
    }
  }
  for (const path of [folder, ...everythingIn(folder)]) chmodSync(path, 0o555)
  return folder
}

describePostgres("what the image holds", () => {
  test("migrates and serves from folders nobody may write to, not as root, and says that it is healthy", async () => {
    const { url, drop } = await createDatabase()
    stops.push(drop)
    const folder = unpacked()
    const empty = mkdtempSync(join(tmpdir(), "sallyport-root-"))
    chmodSync(empty, 0o555)
    stops.push(() => rmSync(empty, { recursive: true, force: true }))
    const control = await freePort()
    const env = {
      PATH: process.env["PATH"],
      SALLYPORT_DATABASE_URL: url,
      SALLYPORT_CONTROL_TOKEN: "a-token-of-the-image-test",
      SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
    }
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const options = { cwd: empty, env, ...nobody }
    const [, script = ""] = wordsOf("ENTRYPOINT")
    const program = script.replace("/sallyport/", `${folder}/`)
    const ran = await promisify(execFile)(process.execPath, [program, "migrate"], options)
    expect(ran.stdout + ran.stderr).toContain("001_stores.sql")
    const [, , check = ""] = JSON.parse(restOf(final, "HEALTHCHECK")[0]?.replace(/^.*CMD /, "") ?? "[]")
    const healthy = () =>
      promisify(execFile)(process.execPath, ["-e", check], options).then(
        () => true,
        () => false,
      )
    expect(await healthy()).toBe(false)
    const served = spawn(process.execPath, [program, ...wordsOf("CMD")], { ...options, stdio: "pipe" })
    let said = ""
    served.stdout.on("data", (text) => (said += text))
    served.stderr.on("data", (text) => (said += text))
    stops.push(() => served.kill("SIGKILL"))
    await until(() => said.includes('"started"') || served.exitCode !== null)
    expect(said).toContain('"started"')
    expect(await healthy()).toBe(true)
    served.kill("SIGTERM")
    await until(() => served.exitCode !== null)
    expect(served.exitCode, said).toBe(0)
  })
})

test("without SALLYPORT_DATABASE_URL it says that this is not set, and how to set it", async () => {
  const folder = unpacked()
  const writable = mkdtempSync(join(tmpdir(), "sallyport-root-"))
  stops.push(() => rmSync(writable, { recursive: true, force: true }))
  const [, script = ""] = wordsOf("ENTRYPOINT")
  const program = script.replace("/sallyport/", `${folder}/`)
  for (const command of [["serve"], ["serve", "--only", "gateway"], ["migrate"]]) {
    const env = { PATH: process.env["PATH"], SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${await freePort()}` }
    const ran = promisify(execFile)(process.execPath, [program, ...command], { cwd: writable, env })
    const { code, stderr } = await ran.then(
      () => ({ code: 0, stderr: "" }),
      (error: { code: number; stderr: string }) => error,
    )
    expect([code, stderr]).toEqual([
      1,
      `error: SALLYPORT_DATABASE_URL is not set, and this installation has no embedded database to use instead (the image has none)
help: Set the variable to a PostgreSQL server: postgres://user:password@host:5432/database. For a container: --env SALLYPORT_DATABASE_URL=…
`,
    ])
  }
  // Nothing was begun that a folder would be for, other than the token of `serve`.
  expect(readdirSync(join(writable, ".sallyport"))).toEqual(["control.token"])
})
